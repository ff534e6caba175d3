package conv

import (
	"time"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/turn"
)

// Effect is work for the driver: plain data that can be printed, recorded and
// compared. Only the types of this package implement it. The driver carries out the effects
// of a step in their order and does not wait for any of them; it reports their results as
// events.
//
//sumtype:decl
type Effect interface {
	effect() effectKind
}

// OpenSession asks for a session with the services; [SessionReady] answers.
type OpenSession struct{}

// PrimeAudio asks to open microphone and playout; [AudioReady] answers.
type PrimeAudio struct{}

// Listen opens the microphone for the next turn of the user. The driver drops audio that it
// has buffered before, because it belongs to no turn.
type Listen struct{}

// Expect says what the agent expects from the user from now on. The driver uses it to detect
// the end of the turn and to tell the recognizer which phrases are likely.
type Expect struct {
	Expect dialog.Expectation `json:"expect"`
}

// NoteAnswer reports how far the words of the user's open turn answer what the agent expects.
// The driver uses it to detect the end of the turn ([turn.PolicyAuto]). Utterance is the number
// of the utterance to which the last of these words belong.
type NoteAnswer struct {
	Utterance int               `json:"utterance"`
	Answer    turn.Completeness `json:"answer"`
}

// FinalizeTranscript asks the recognizer for the final transcript of a user turn, as
// input_audio_buffer.commit does. The recognizer answers with [STTFinal].
type FinalizeTranscript struct {
	Turn int `json:"turn"`
}

// RequestReply asks the model for a reply, or for advice to the flows. Turn is the agent's
// turn, UserTurn the user's turn that it answers (zero for none), Text the words of the user
// or, with [RequestWording], those to reword. Each request has its own number in Request,
// retries too; Attempt counts the tries for the same purpose from 1. [ReplyRequested],
// [ReplyDelta], [ToolCalled] and finally [ReplyDone] or [ReplyFailed] answer.
type RequestReply struct {
	Turn     int           `json:"turn"`
	UserTurn int           `json:"user_turn,omitempty"`
	Request  int           `json:"request"`
	Attempt  int           `json:"attempt"`
	Text     string        `json:"text,omitempty"`
	Why      RequestReason `json:"why"`

	// Context is the conversation so far. It is nil for a request for advice and in an effect
	// that was read from JSON.
	Context *ReplyContext `json:"-"`
}

// ReplyContext is the conversation so far, for the model that makes a reply. It is valid until
// the next Step.
type ReplyContext struct {
	Summary string // a summary of the part before History, by a model; may be empty
	History []Item // what was said, heard, called and returned since then, the oldest first
}

// RequestReason says what a request is for.
type RequestReason string

// The reasons for a request.
const (
	RequestUtterance  RequestReason = "utterance"   // to answer the user's turn
	RequestToolResult RequestReason = "tool_result" // to continue after results of tools, and what the user said meanwhile
	RequestTaskResult RequestReason = "task_result" // to tell the result of a call that no reply waited for
	RequestExplicit   RequestReason = "explicit"    // to speak because a client asked for it (response.create)
	RequestResumed    RequestReason = "resumed"     // to answer a turn whose answer was lost with the connection or to a fault
	// RequestUnderstanding asks what the user's turn means to the flows. The text of the
	// [ReplyDone] that answers is given to [dialog.Agent.Interpret].
	RequestUnderstanding RequestReason = "understanding"
	// RequestWording asks to reword what the flows say. The text of the [ReplyDone] that
	// answers is spoken if it keeps every value ([dialog.Agent.KeepsValues]).
	RequestWording RequestReason = "wording"
)

// Summarize asks the model to summarize the first Items entries of the history. The summary
// so far ([Conversation.Summary]) stands for the entries that it covers. [Summarized] answers.
type Summarize struct {
	Request int `json:"request"`
	Items   int `json:"items"`
}

// Speak hands text to the voice. Part is the part of the turn, from 1; tools divide a turn
// into parts. Seq numbers the texts of the turn, from 1. Code is the code of the message if
// the words are the engine's own, and else empty.
type Speak struct {
	Turn int    `json:"turn"`
	Part int    `json:"part"`
	Seq  int    `json:"seq"`
	Text string `json:"text"`
	Code string `json:"code,omitempty"`
}

// EndSpeech says that the part has no more text. When all audio of the part has played,
// [PlayoutFinished] answers.
type EndSpeech struct {
	Turn int `json:"turn"`
	Part int `json:"part"`
}

// CancelTurn cancels the model request and the synthesis of the agent's turn.
type CancelTurn struct {
	Turn int `json:"turn"`
}

// FlushPlayout drops all audio of a turn that has not played, also audio that a carrier has
// buffered. If Part is not zero, it drops only the audio of the parts up to it. Heard is how
// much was heard as far as the machine knows; [PlayoutFlushed] answers with the exact measure.
type FlushPlayout struct {
	Turn  int           `json:"turn"`
	Part  int           `json:"part,omitempty"`
	Heard time.Duration `json:"-"` // heard_ms on the wire
}

// DuckPlayout lowers the volume of the turn's audio while it is not decided whether
// the user interrupts.
type DuckPlayout struct {
	Turn int `json:"turn"`
}

// PausePlayout pauses the turn's audio.
type PausePlayout struct {
	Turn int `json:"turn"`
}

// ResumePlayout ends the effect of [DuckPlayout] and [PausePlayout].
type ResumePlayout struct {
	Turn int `json:"turn"`
}

// RunTool starts a quick tool; exactly one [ToolDone] or [ToolFailed] answers.
// Key is the idempotency key, which a retry by a flow repeats; it is empty if it is the ID.
// Arguments is normally a JSON object; it may be empty.
type RunTool struct {
	Turn      int    `json:"turn"`
	ID        string `json:"id"`
	Key       string `json:"key,omitempty"`
	Name      string `json:"name"`
	Arguments string `json:"arguments,omitempty"`
}

// StartTask starts a delegated agent; [TaskProgress] may report on it, and exactly one
// [TaskDone] or [TaskFailed] answers. Key and Arguments are those of [RunTool].
type StartTask struct {
	Turn      int    `json:"turn"`
	ID        string `json:"id"`
	Key       string `json:"key,omitempty"`
	Name      string `json:"name"`
	Arguments string `json:"arguments,omitempty"`
}

// FollowTask asks for the result of a task that an earlier conversation started
// ([TaskAdopted]); [TaskDone] or [TaskFailed] answers with this ID. Key is the key of the
// task itself.
type FollowTask struct {
	ID  string `json:"id"`
	Key string `json:"key"`
}

// SettleTask says that the result of a task has been told and need not be stored any longer.
// If the task was adopted, Key is the key of the task itself. Otherwise it is the idempotency
// key of its call, or empty if that is the ID.
type SettleTask struct {
	ID      string `json:"id"`
	Key     string `json:"key,omitempty"`
	Adopted bool   `json:"adopted,omitempty"`
}

// CancelTool cancels a tool or a task. A result that still comes is ignored.
type CancelTool struct {
	ID string `json:"id"`
}

// Cue gives feedback that is not a turn. The leg shows it, or plays it as a short sound or
// phrase if it can. Code is the code of the message, Text its words.
type Cue struct {
	Turn int    `json:"turn,omitempty"`
	Code string `json:"code"`
	Text string `json:"text"`
}

// PauseAudio stops capture and playout for a planned pause, until [ResumeAudio].
type PauseAudio struct{}

// ResumeAudio starts capture and playout again after [PauseAudio].
type ResumeAudio struct{}

// SaveContext asks to store the context (the last turns, pending results) where a new
// session can find it.
type SaveContext struct {
	Reason string `json:"reason"`
}

// RestoreContext asks to give the stored context to the new session.
type RestoreContext struct{}

// CloseConnection releases the resources of a lost connection.
type CloseConnection struct{}

// Reconnect asks to restore the connection and the session. Attempt counts from 1.
// [ConnectionRestored] or [ReconnectFailed] answers.
type Reconnect struct {
	Attempt int `json:"attempt"`
}

// Release asks to release all resources of the conversation; [SessionEnded] answers. Reason
// is the cause of the end.
type Release struct {
	Reason string `json:"reason"`
}

// Notify tells the person, and observers, something that is not part of the conversation.
// Code is the code of the message.
type Notify struct {
	Level NotifyLevel `json:"level"`
	Code  string      `json:"code"`
}

// NotifyLevel is the severity of a notification.
type NotifyLevel string

// The levels of a notification.
const (
	LevelInfo    NotifyLevel = "info"
	LevelWarning NotifyLevel = "warning"
	LevelError   NotifyLevel = "error"
)

// Reject refuses a command that the state does not allow, such as a second start. Code says
// why.
type Reject struct {
	Code string `json:"code"`
}

// effectKind numbers the types of effects, in the order of the table of effects.
type effectKind uint8

const (
	effectOpenSession effectKind = iota
	effectPrimeAudio
	effectListen
	effectExpect
	effectNoteAnswer
	effectFinalizeTranscript
	effectRequestReply
	effectSummarize
	effectSpeak
	effectEndSpeech
	effectCancelTurn
	effectFlushPlayout
	effectDuckPlayout
	effectPausePlayout
	effectResumePlayout
	effectRunTool
	effectStartTask
	effectFollowTask
	effectSettleTask
	effectCancelTool
	effectCue
	effectPauseAudio
	effectResumeAudio
	effectSaveContext
	effectRestoreContext
	effectCloseConnection
	effectReconnect
	effectRelease
	effectNotify
	effectReject

	numEffects = iota
)

func (OpenSession) effect() effectKind        { return effectOpenSession }
func (PrimeAudio) effect() effectKind         { return effectPrimeAudio }
func (Listen) effect() effectKind             { return effectListen }
func (Expect) effect() effectKind             { return effectExpect }
func (NoteAnswer) effect() effectKind         { return effectNoteAnswer }
func (FinalizeTranscript) effect() effectKind { return effectFinalizeTranscript }
func (RequestReply) effect() effectKind       { return effectRequestReply }
func (Summarize) effect() effectKind          { return effectSummarize }
func (Speak) effect() effectKind              { return effectSpeak }
func (EndSpeech) effect() effectKind          { return effectEndSpeech }
func (CancelTurn) effect() effectKind         { return effectCancelTurn }
func (FlushPlayout) effect() effectKind       { return effectFlushPlayout }
func (DuckPlayout) effect() effectKind        { return effectDuckPlayout }
func (PausePlayout) effect() effectKind       { return effectPausePlayout }
func (ResumePlayout) effect() effectKind      { return effectResumePlayout }
func (RunTool) effect() effectKind            { return effectRunTool }
func (StartTask) effect() effectKind          { return effectStartTask }
func (FollowTask) effect() effectKind         { return effectFollowTask }
func (SettleTask) effect() effectKind         { return effectSettleTask }
func (CancelTool) effect() effectKind         { return effectCancelTool }
func (Cue) effect() effectKind                { return effectCue }
func (PauseAudio) effect() effectKind         { return effectPauseAudio }
func (ResumeAudio) effect() effectKind        { return effectResumeAudio }
func (SaveContext) effect() effectKind        { return effectSaveContext }
func (RestoreContext) effect() effectKind     { return effectRestoreContext }
func (CloseConnection) effect() effectKind    { return effectCloseConnection }
func (Reconnect) effect() effectKind          { return effectReconnect }
func (Release) effect() effectKind            { return effectRelease }
func (Notify) effect() effectKind             { return effectNotify }
func (Reject) effect() effectKind             { return effectReject }
