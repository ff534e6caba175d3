package conv

import (
	"time"

	"github.com/hocketvoice/hocket/turn"
)

// Event is a fact that has happened. The set is closed; its JSON names are
// those of [EventType].
//
// Fields that several events share: Turn is the turn the fact belongs to, zero
// for "the current one"; Utterance is the uplink's number of the stretch of
// speech, zero when the source does not count; Request is the number of the
// model request that a reply belongs to, zero for "the one that is out".
//
//sumtype:decl
type Event interface {
	kind() kind
}

// Source says who noticed a voice, interrupted, or began something.
type Source string

// The sources that the machine knows. Any other interrupts as a command does.
const (
	SourceVAD        Source = "vad"
	SourceEnergy     Source = "energy"
	SourceWords      Source = "words"
	SourceSpeech     Source = "speech"
	SourceEasyTurn   Source = "easyturn"
	SourceSTT        Source = "stt"
	SourceSemantic   Source = "semantic"
	SourcePushToTalk Source = "push_to_talk"
	SourceRenewal    Source = "renewal" // of a session that is about to end
)

// voice reports whether the source is one that notices a voice.
func (s Source) voice() bool {
	switch s {
	case SourceVAD, SourceEnergy, SourceWords, SourceSpeech, SourceEasyTurn, SourceSTT, SourceSemantic:
		return true
	default:
		return false
	}
}

// EndCause says why the user's turn ended.
type EndCause string

// The causes of [TurnEnded].
const (
	EndSilence     EndCause = "silence"
	EndEasyTurn    EndCause = "easyturn"
	EndSemantic    EndCause = "semantic"
	EndManual      EndCause = "manual"
	EndMaxDuration EndCause = "max_duration"
)

// UserStart reports that a person wants a conversation (seed 000, startConversation). In
// [Faulted] it asks to try again. Silent means that the person has something to say
// first: the agent does not greet.
type UserStart struct{ Silent bool }

// UserStop reports that a person ends the conversation (endConversation, user_end_session).
type UserStop struct{ Reason string }

// SessionEnded reports that everything that [Release] asked for is released (reset).
type SessionEnded struct{}

// SessionReady reports that there is a session with the services (session.created).
type SessionReady struct{ ID string }

// AudioReady reports that microphone and playout are primed.
type AudioReady struct{}

// SpeechStarted reports that a voice is heard. Source says who noticed: "vad" (or empty),
// "energy" for the interruption thresholds, "push_to_talk" for a button. Lag is how
// long before this event the voice began, if the source knows: a detector needs a
// moment.
type SpeechStarted struct {
	Turn, Utterance int
	Source          Source
	Lag             time.Duration
}

// SpeechStopped reports that the voice is silent. It does not end a turn. Source is
// "vad" for a detector, and empty or "push_to_talk" for a button that was released. A
// detector does not release a button.
type SpeechStopped struct {
	Turn, Utterance int
	Source          Source
}

// STTPartial has the words since the last final transcript. They may still change.
type STTPartial struct {
	Turn, Utterance       int
	Text                  string
	Confidence, Stability float64
}

// STTFinal has words that do not change any more. Endpoint reports that, as the
// recognizer judges, the speaker has finished.
type STTFinal struct {
	Turn, Utterance       int
	Text                  string
	Confidence, Stability float64
	Endpoint              bool
}

// TurnEnded reports that the user's turn has ended, and why.
type TurnEnded struct {
	Turn, Utterance int
	Cause           EndCause
}

// UserText has a line that the person typed.
type UserText struct{ Text string }

// UserInterrupt reports that somebody interrupts the agent (handleUserInterrupt, SPEAK ->
// HOLD). Source tells a voice ("vad", "energy", "words", "speech", "easyturn",
// "stt", "semantic") from a command (anything else). Heard, if known, is what had reached
// the ear.
type UserInterrupt struct {
	Source Source
	Heard  time.Duration
}

// UserCancel reports that the person calls the work off ("never mind"), gives up
// reconnecting, or dismisses an error. With an ID it calls off one delegated call, which
// no reply needs to wait for.
type UserCancel struct{ ID string }

// UserRecover reports that the person asks to go on after an error (seed 001, recover;
// seed 003, recover_from_error). It leaves [Faulted] at once, the circuit breaker
// included, and takes the dialogue out of its error state: the action that failed runs
// again, the question that was open is asked again.
type UserRecover struct{}

// ReplyRequested reports that the request for the reply is out (copilot.request).
type ReplyRequested struct {
	Turn, Request int
	Source        Source
}

// ReplyDelta has a piece of the reply's text.
type ReplyDelta struct {
	Turn, Request int
	Text          string
}

// ReplyDone reports that the reply's text is complete. Text may carry the whole reply when
// no delta came before. Silent says that this reply has no voice (a text-only
// response).
type ReplyDone struct {
	Turn, Request int
	Text          string
	Silent        bool
}

// ReplyFailed reports that the request failed. Code is an [errclass.Class] name, if it has one.
type ReplyFailed struct {
	Turn, Request int
	Code, Message string
	Retryable     bool
}

// ToolCalled reports that the reply calls a tool. Long marks a delegated agent, Confirm a tool
// that runs only after the user has said yes to this very call.
type ToolCalled struct {
	Turn, Request       int
	ID, Name, Arguments string
	Long, Confirm       bool
}

// ToolDone has the result of a quick tool.
type ToolDone struct{ ID, Output string }

// ToolFailed reports that a quick tool failed. Output is what there is of a result, Message
// what went wrong; Fatal says that the executor itself is broken.
type ToolFailed struct {
	ID, Code, Message, Output string
	Fatal                     bool
}

// TaskProgress reports that a delegated agent is alive. Text may say what it does.
type TaskProgress struct{ ID, Text string }

// TaskDone has the result of a delegated agent.
type TaskDone struct{ ID, Output string }

// TaskFailed reports that a delegated agent failed; Output is its partial result.
type TaskFailed struct{ ID, Code, Message, Output string }

// TaskAdopted hands over a task that an earlier conversation with the caller left
// running, or whose result the caller has not been told. Key is the task's own.
type TaskAdopted struct{ Key, Name, Arguments string }

// Summarized answers [Summarize]. Without a text it has failed.
type Summarized struct {
	Request int
	Text    string
}

// PlayoutStarted reports that the first sample of a part of the agent's turn has played.
type PlayoutStarted struct{ Turn, Part int }

// PlayoutProgress reports how much of the turn has been heard. Text, if known, is
// the part of the turn's text that was heard.
type PlayoutProgress struct {
	Turn  int
	Heard time.Duration
	Text  string
}

// PlayoutFinished reports that all audio of the part has played.
type PlayoutFinished struct {
	Turn, Part int
	Heard      time.Duration
	Text       string
}

// PlayoutFailed reports that the audio could not be made or played.
type PlayoutFailed struct {
	Turn          int
	Code, Message string
}

// PlayoutFlushed answers [FlushPlayout]: the exact measure of what was heard of
// a turn, or of its parts up to one, that was cut off.
type PlayoutFlushed struct {
	Turn, Part int
	Heard      time.Duration
	Text       string
}

// SessionRenewal reports that a planned pause begins (renewal, diagnostics). An empty
// Source is [SourceRenewal].
type SessionRenewal struct{ Source Source }

// SessionRenewed reports that the planned pause is over.
type SessionRenewed struct{ ID string }

// SessionConfigured has rules of taking turns that are changed while the
// conversation runs (session.update of a Realtime client). It replaces all that
// an earlier one has set; the zero value goes back to the options.
type SessionConfigured struct {
	// BargeIn is the policy for everything that the agent says; empty: that of
	// the options, phase by phase.
	BargeIn turn.BargeInPolicy
	// ListenOnly: what the user says is taken down and not answered; the agent
	// speaks when it is asked to ([ReplyRequested], [UserText]).
	ListenOnly bool
}

// SessionExpiring reports that, as its service warns, the session will end.
type SessionExpiring struct{}

// SessionExpired reports that the session has ended by itself (session.closed).
type SessionExpired struct{}

// ConnectionLost reports that the leg is gone. Retryable means that it may come back by
// itself (ICE "disconnected"): the machine waits before it reconnects.
type ConnectionLost struct{ Retryable bool }

// ConnectionRestored reports that the leg is back and its audio path verified.
type ConnectionRestored struct{}

// ReconnectFailed reports that an attempt failed (Retryable), or that all have.
type ReconnectFailed struct{ Retryable bool }

// Fault reports that a service or the machine's surroundings failed (session.error).
type Fault struct {
	Code, Message string
	Fatal         bool
}

// DeadlinePassed reports that the time of [Conversation.NextDeadline] has come. An early or
// repeated one does nothing.
type DeadlinePassed struct{}

// kind numbers the types of events, in the order of the table of events.
type kind uint8

const (
	kindUserStart kind = iota
	kindUserStop
	kindSessionEnded
	kindSessionReady
	kindAudioReady
	kindSpeechStarted
	kindSpeechStopped
	kindSTTPartial
	kindSTTFinal
	kindTurnEnded
	kindUserText
	kindUserInterrupt
	kindUserCancel
	kindUserRecover
	kindReplyRequested
	kindReplyDelta
	kindReplyDone
	kindReplyFailed
	kindToolCalled
	kindToolDone
	kindToolFailed
	kindTaskProgress
	kindTaskDone
	kindTaskFailed
	kindTaskAdopted
	kindSummarized
	kindPlayoutStarted
	kindPlayoutProgress
	kindPlayoutFinished
	kindPlayoutFailed
	kindPlayoutFlushed
	kindSessionRenewal
	kindSessionRenewed
	kindSessionConfigured
	kindSessionExpiring
	kindSessionExpired
	kindConnectionLost
	kindConnectionRestored
	kindReconnectFailed
	kindFault
	kindDeadlinePassed

	numKinds = iota
)

func (UserStart) kind() kind          { return kindUserStart }
func (UserStop) kind() kind           { return kindUserStop }
func (SessionEnded) kind() kind       { return kindSessionEnded }
func (SessionReady) kind() kind       { return kindSessionReady }
func (AudioReady) kind() kind         { return kindAudioReady }
func (SpeechStarted) kind() kind      { return kindSpeechStarted }
func (SpeechStopped) kind() kind      { return kindSpeechStopped }
func (STTPartial) kind() kind         { return kindSTTPartial }
func (STTFinal) kind() kind           { return kindSTTFinal }
func (TurnEnded) kind() kind          { return kindTurnEnded }
func (UserText) kind() kind           { return kindUserText }
func (UserInterrupt) kind() kind      { return kindUserInterrupt }
func (UserCancel) kind() kind         { return kindUserCancel }
func (UserRecover) kind() kind        { return kindUserRecover }
func (ReplyRequested) kind() kind     { return kindReplyRequested }
func (ReplyDelta) kind() kind         { return kindReplyDelta }
func (ReplyDone) kind() kind          { return kindReplyDone }
func (ReplyFailed) kind() kind        { return kindReplyFailed }
func (ToolCalled) kind() kind         { return kindToolCalled }
func (ToolDone) kind() kind           { return kindToolDone }
func (ToolFailed) kind() kind         { return kindToolFailed }
func (TaskProgress) kind() kind       { return kindTaskProgress }
func (TaskDone) kind() kind           { return kindTaskDone }
func (TaskFailed) kind() kind         { return kindTaskFailed }
func (TaskAdopted) kind() kind        { return kindTaskAdopted }
func (Summarized) kind() kind         { return kindSummarized }
func (PlayoutStarted) kind() kind     { return kindPlayoutStarted }
func (PlayoutProgress) kind() kind    { return kindPlayoutProgress }
func (PlayoutFinished) kind() kind    { return kindPlayoutFinished }
func (PlayoutFailed) kind() kind      { return kindPlayoutFailed }
func (PlayoutFlushed) kind() kind     { return kindPlayoutFlushed }
func (SessionRenewal) kind() kind     { return kindSessionRenewal }
func (SessionRenewed) kind() kind     { return kindSessionRenewed }
func (SessionConfigured) kind() kind  { return kindSessionConfigured }
func (SessionExpiring) kind() kind    { return kindSessionExpiring }
func (SessionExpired) kind() kind     { return kindSessionExpired }
func (ConnectionLost) kind() kind     { return kindConnectionLost }
func (ConnectionRestored) kind() kind { return kindConnectionRestored }
func (ReconnectFailed) kind() kind    { return kindReconnectFailed }
func (Fault) kind() kind              { return kindFault }
func (DeadlinePassed) kind() kind     { return kindDeadlinePassed }
