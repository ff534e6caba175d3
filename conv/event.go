package conv

import (
	"time"

	"github.com/hocketvoice/hocket/turn"
)

// Event is a fact that has happened. Only the types of this package implement it;
// [EventType] returns their names.
//
// Several events have these fields. Turn is the number of the turn that the event belongs
// to, or zero for the current turn. Utterance is the number that the audio input gives to
// the stretch of speech, or zero if the source does not number them. Request is the number
// of the [RequestReply] that the event answers, or zero for the current request. Confidence
// and Stability are between 0 and 1. Text may be empty.
//
//sumtype:decl
type Event interface {
	kind() kind
}

// Source says what caused an event: a detector that noticed a voice, a button or a command.
type Source string

// The sources that the machine knows. Those from SourceVAD to SourceSemantic are detectors of a
// voice, which the machine treats alike. It treats any other source as a command.
const (
	SourceVAD        Source = "vad"
	SourceEnergy     Source = "energy"
	SourceWords      Source = "words"
	SourceSpeech     Source = "speech"
	SourceEasyTurn   Source = "easyturn"
	SourceSTT        Source = "stt"
	SourceSemantic   Source = "semantic"
	SourcePushToTalk Source = "push_to_talk" // a button that the user presses while speaking
	SourceRenewal    Source = "renewal"      // a session that is about to end is renewed
)

// voice reports whether the source is a detector of voices.
func (s Source) voice() bool {
	switch s {
	case SourceVAD, SourceEnergy, SourceWords, SourceSpeech, SourceEasyTurn, SourceSTT, SourceSemantic:
		return true
	default:
		return false
	}
}

// EndCause says what ended the user's turn. The first five causes are the end-of-turn policies
// ([turn.Policy]) that decided.
type EndCause string

// The causes of [TurnEnded].
const (
	EndAuto        EndCause = "auto"
	EndSilence     EndCause = "silence"
	EndEasyTurn    EndCause = "easyturn"
	EndSemantic    EndCause = "semantic"
	EndManual      EndCause = "manual"
	EndMaxDuration EndCause = "max_duration" // the turn was cut because it was too long
)

// UserStart reports that a person wants to start a conversation (seed 000,
// startConversation). In [Faulted] it asks to try again. Silent says that the agent must not
// greet, because the person speaks first.
type UserStart struct{ Silent bool }

// UserStop reports that a person ends the conversation (endConversation, user_end_session).
type UserStop struct{ Reason string }

// SessionEnded reports that everything that [Release] asked for has been released (reset).
// In any other phase than [Terminating] it reports that the far end has hung up.
type SessionEnded struct{}

// SessionReady reports that the session with the services is ready (session.created).
type SessionReady struct{ ID string }

// AudioReady reports that microphone and playout are ready. It answers [PrimeAudio].
type AudioReady struct{}

// SpeechStarted reports that a voice is heard. Source says what noticed it: "vad" (or empty)
// for a detector, "energy" for the energy threshold of interruptions, "push_to_talk" for a
// button. Lag is how long before this event the voice began, or zero if the source does not
// know. Echo says that the agent's own voice may still be coming back at that time, so that the
// words may be the agent's.
type SpeechStarted struct {
	Turn, Utterance int
	Source          Source
	Lag             time.Duration
	Echo            bool
}

// SpeechStopped reports that the voice is silent. It does not end the turn by itself. Source
// is "vad" for a detector, and empty or "push_to_talk" for a button that was released. While
// the button is pressed, the machine ignores the event of a detector. Lag is the time since the
// last frame of speech; 0 if it is unknown.
type SpeechStopped struct {
	Turn, Utterance int
	Source          Source
	Lag             time.Duration
}

// STTPartial reports the words that the recognizer has heard since the last final transcript.
// They may still change.
type STTPartial struct {
	Turn, Utterance       int
	Text                  string
	Confidence, Stability float64
}

// STTFinal reports a final transcript, whose words do not change any more. Endpoint says that
// the recognizer judges that the speaker has finished. Lag is the time since the end of the last
// word; 0 if it is unknown.
type STTFinal struct {
	Turn, Utterance       int
	Text                  string
	Confidence, Stability float64
	Endpoint              bool
	Lag                   time.Duration
}

// TurnEnded reports that the user's turn has ended, and why.
type TurnEnded struct {
	Turn, Utterance int
	Cause           EndCause
}

// UserText reports a line that the person typed.
type UserText struct{ Text string }

// UserKey reports that the person has pressed a key on a telephone. It stops the agent, who is
// answered by keys. What the keys say follows as a [UserText].
type UserKey struct{}

// UserInterrupt reports that the user interrupts the agent (handleUserInterrupt, SPEAK ->
// HOLD). Source is "vad", "energy", "words", "speech", "easyturn", "stt" or "semantic" for a
// voice; any other value is a command. Heard is how much of the turn's audio the user had
// heard, or zero if that is not known.
type UserInterrupt struct {
	Source Source
	Heard  time.Duration
}

// UserCancel reports that the person cancels the work in progress ("never mind"), gives up
// reconnecting, or dismisses an error. If ID is not empty, it cancels only the delegated call
// with this ID, whether or not a reply waits for it.
type UserCancel struct{ ID string }

// UserRecover reports that the person asks to continue after an error (seed 001, recover;
// seed 003, recover_from_error). The machine leaves [Faulted] at once, even if the circuit
// breaker is open, and takes the dialogue out of its error state: it runs the action that
// failed again, or asks the open question again.
type UserRecover struct{}

// ReplyRequested reports that the driver has sent the request (copilot.request). In
// [ListeningReady] it asks the agent to speak (response.create).
type ReplyRequested struct {
	Turn, Request int
	Source        Source
}

// ReplyDelta reports that Text has been appended to the text of the reply.
type ReplyDelta struct {
	Turn, Request int
	Text          string
}

// ReplyDone reports that the text of the reply is complete. If no delta came before, Text may
// be the whole reply. Silent says that the reply is text only and must not be spoken.
type ReplyDone struct {
	Turn, Request int
	Text          string
	Silent        bool
}

// ReplyFailed reports that the request failed. Code is the name of an [errclass.Class], or
// another code. Retryable says whether another try makes sense; it matters only for a code
// whose class is not known.
type ReplyFailed struct {
	Turn, Request int
	Code, Message string
	Retryable     bool
}

// ToolCalled reports that the model calls a tool in its reply. Long says that the call is for
// a delegated agent, Confirm that it may run only after the user has said yes to this very
// call. If ID is empty, the machine makes one.
type ToolCalled struct {
	Turn, Request       int
	ID, Name, Arguments string
	Long, Confirm       bool
}

// ToolDone reports the result of a quick tool. An empty ID means the oldest one that runs.
type ToolDone struct{ ID, Output string }

// ToolFailed reports that a quick tool failed. Message says what went wrong; Output is the
// partial result, or empty. Fatal says that the executor of the tools itself has failed, which
// is a fault of the conversation.
type ToolFailed struct {
	ID, Code, Message, Output string
	Fatal                     bool
}

// TaskProgress reports that a delegated agent is alive. Text says what it does, or is empty.
type TaskProgress struct{ ID, Text string }

// TaskDone reports the result of a delegated agent. An empty ID means the oldest one that
// runs.
type TaskDone struct{ ID, Output string }

// TaskFailed reports that a delegated agent failed. Message says what went wrong; Output is
// the partial result, or empty.
type TaskFailed struct{ ID, Code, Message, Output string }

// TaskAdopted reports a task that an earlier conversation with the same person started and
// whose result the person has not been told. It may still run. Key is the key of the task
// itself. The machine answers with [FollowTask].
type TaskAdopted struct{ Key, Name, Arguments string }

// Summarized answers [Summarize] with the summary. An empty Text means that the request
// failed.
type Summarized struct {
	Request int
	Text    string
}

// PlayoutStarted reports that a part of the agent's turn has begun to play. A zero Part means
// the current part.
type PlayoutStarted struct{ Turn, Part int }

// PlayoutProgress reports how much of the agent's turn the user has heard: Heard is the
// duration of the audio, Text the text, or empty if it is not known.
type PlayoutProgress struct {
	Turn  int
	Heard time.Duration
	Text  string
}

// PlayoutFinished reports that all audio of a part has played. Heard and Text are those of
// [PlayoutProgress].
type PlayoutFinished struct {
	Turn, Part int
	Heard      time.Duration
	Text       string
}

// PlayoutFailed reports that the agent's audio could not be synthesized or played.
type PlayoutFailed struct {
	Turn          int
	Code, Message string
}

// PlayoutFlushed answers [FlushPlayout]. It reports exactly how much was heard of a turn that
// was cut off or, if Part is not zero, of its parts up to Part. Heard and Text are those of
// [PlayoutProgress].
type PlayoutFlushed struct {
	Turn, Part int
	Heard      time.Duration
	Text       string
}

// SessionRenewal reports that a planned pause begins (renewal, diagnostics). An empty
// Source is [SourceRenewal].
type SessionRenewal struct{ Source Source }

// SessionRenewed reports that the planned pause is over or, without a pause, that the session
// was renewed. An empty ID keeps that of the session.
type SessionRenewed struct{ ID string }

// SessionConfigured changes the rules of turn-taking while the conversation runs
// (session.update of a Realtime client). It replaces what an earlier SessionConfigured has
// set; the zero value returns to the options.
type SessionConfigured struct {
	// BargeIn is the barge-in policy for everything that the agent says. If it is empty, the
	// policies of [Options.BargeIn] apply.
	BargeIn turn.BargeInPolicy
	// ListenOnly says that the agent does not answer what the user says; the history still
	// contains it. The agent speaks only when it is asked to ([ReplyRequested], [UserText]).
	ListenOnly bool
}

// ContextSet changes the context of the conversation. Data is the changes, in the form of
// [Context.With]; the machine answers invalid ones with [Reject]. ID may be empty; it lets an
// observer recognize the event.
type ContextSet struct{ ID, Data string }

// SessionExpiring reports that the service has warned that the session will end soon.
type SessionExpiring struct{}

// SessionExpired reports that the session has ended by itself (session.closed).
type SessionExpired struct{}

// ConnectionLost reports that the connection to the user is lost. Retryable says that it may
// come back by itself (ICE "disconnected"); the machine then waits before it reconnects.
type ConnectionLost struct{ Retryable bool }

// ConnectionRestored reports that the connection to the user works again, with a session and a
// verified audio path.
type ConnectionRestored struct{}

// ReconnectFailed reports that an attempt to reconnect failed. Retryable says that another
// attempt may succeed; otherwise the machine gives up.
type ReconnectFailed struct{ Retryable bool }

// Fault reports that a service or something else around the machine failed (session.error).
// Code is the name of an [errclass.Class], or another code. Fatal says that the conversation
// must end.
type Fault struct {
	Code, Message string
	Fatal         bool
}

// DeadlinePassed reports that the time of [Conversation.NextDeadline] has come. It does nothing
// if no deadline is due.
type DeadlinePassed struct{}

// kind numbers the types of events, in the order of [EventTypes].
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
	kindUserKey
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
	kindContextSet
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
func (UserKey) kind() kind            { return kindUserKey }
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
func (ContextSet) kind() kind         { return kindContextSet }
func (SessionExpiring) kind() kind    { return kindSessionExpiring }
func (SessionExpired) kind() kind     { return kindSessionExpired }
func (ConnectionLost) kind() kind     { return kindConnectionLost }
func (ConnectionRestored) kind() kind { return kindConnectionRestored }
func (ReconnectFailed) kind() kind    { return kindReconnectFailed }
func (Fault) kind() kind              { return kindFault }
func (DeadlinePassed) kind() kind     { return kindDeadlinePassed }
