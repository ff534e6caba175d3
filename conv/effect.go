package conv

import (
	"time"

	"github.com/hocketvoice/hocket/dialog"
)

// Effect is work for the driver: data that can be printed, recorded and
// compared. The set is closed. Effects are carried out in the order given;
// none of them is waited for, what comes of them returns as events.
//
//sumtype:decl
type Effect interface {
	effect() effectKind
}

// OpenSession asks for a session with the services; [SessionReady] answers.
type OpenSession struct{}

// PrimeAudio asks to open microphone and playout; [AudioReady] answers.
type PrimeAudio struct{}

// Listen opens the microphone for the next user turn: what is left in the
// buffers belongs to no turn.
type Listen struct{}

// Expect says what the agent awaits from now on; it sets the end of turn and
// what the recognizer prefers.
type Expect struct {
	Expect dialog.Expectation `json:"expect"`
}

// FinalizeTranscript asks the recognizer for the final words of the user's turn
// (input_audio_buffer.commit); [STTFinal] answers.
type FinalizeTranscript struct {
	Turn int `json:"turn"`
}

// RequestReply asks the agent's mind to answer. Turn is the agent's turn,
// UserTurn the one it answers (zero for none). Request numbers the requests of
// the conversation; Attempt counts from 1 and rises with each retry of the same
// request.
type RequestReply struct {
	Turn     int           `json:"turn"`
	UserTurn int           `json:"user_turn,omitempty"`
	Request  int           `json:"request"`
	Attempt  int           `json:"attempt"`
	Text     string        `json:"text,omitempty"`
	Why      RequestReason `json:"why"`

	// Context is what the reply is made of; nil for a request for advice, and in records.
	Context *ReplyContext `json:"-"`
}

// ReplyContext is what a reply is made of. It is valid until the next Step.
type ReplyContext struct {
	Summary string // of what was said before, in a model's words
	History []Item // what was said and heard since, the oldest first
}

// RequestReason says what a request answers.
type RequestReason string

// The reasons for a request.
const (
	RequestUtterance  RequestReason = "utterance"   // the user's turn
	RequestToolResult RequestReason = "tool_result" // results of tools, and what was said meanwhile
	RequestTaskResult RequestReason = "task_result" // a delegated agent finished when nobody waited
	RequestExplicit   RequestReason = "explicit"    // response.create
	RequestResumed    RequestReason = "resumed"     // the answer that a lost connection cut off
	// RequestUnderstanding asks what the user's turn means to the flows: the text of
	// the [ReplyDone] that answers goes to [dialog.Agent.Interpret].
	RequestUnderstanding RequestReason = "understanding"
	// RequestWording asks for other words for what the flows say: the text of the
	// [ReplyDone] is said if it keeps every value ([dialog.Agent.KeepsValues]).
	RequestWording RequestReason = "wording"
)

// Summarize asks for a summary of the history's first entries, in which the summary
// so far takes the place of those that are in it ([Conversation.Summary]);
// [Summarized] answers.
type Summarize struct {
	Request int `json:"request"`
	Items   int `json:"items"`
}

// Speak hands text to the voice. Part numbers the stretches of one turn that
// are divided by tools; Seq numbers the texts of the turn. Code names a phrase
// of the catalogue when the words are the engine's own.
type Speak struct {
	Turn int    `json:"turn"`
	Part int    `json:"part"`
	Seq  int    `json:"seq"`
	Text string `json:"text"`
	Code string `json:"code,omitempty"`
}

// EndSpeech says that the part has no more text: once its audio has played, the
// playout is finished.
type EndSpeech struct {
	Turn int `json:"turn"`
	Part int `json:"part"`
}

// CancelTurn ends the turn's context: its model request and its synthesis.
type CancelTurn struct {
	Turn int `json:"turn"`
}

// FlushPlayout drops all audio of a turn that has not played, at the carrier
// too; with a Part, that of the parts up to it. [PlayoutFlushed] answers with the
// exact measure; Heard is what is known now.
type FlushPlayout struct {
	Turn  int           `json:"turn"`
	Part  int           `json:"part,omitempty"`
	Heard time.Duration `json:"-"` // heard_ms on the wire
}

// DuckPlayout lowers the volume of the turn's audio while it is unclear whether
// the user breaks in.
type DuckPlayout struct {
	Turn int `json:"turn"`
}

// PausePlayout holds the turn's audio where it is.
type PausePlayout struct {
	Turn int `json:"turn"`
}

// ResumePlayout takes back [DuckPlayout] and [PausePlayout].
type ResumePlayout struct {
	Turn int `json:"turn"`
}

// RunTool starts a quick tool; exactly one [ToolDone] or [ToolFailed] answers.
// Key is the idempotency key, where it is not the id: the same for a retry.
type RunTool struct {
	Turn      int    `json:"turn"`
	ID        string `json:"id"`
	Key       string `json:"key,omitempty"`
	Name      string `json:"name"`
	Arguments string `json:"arguments,omitempty"`
}

// StartTask starts a delegated agent; [TaskDone] or [TaskFailed] answers. Key is the
// idempotency key, where it is not the id.
type StartTask struct {
	Turn      int    `json:"turn"`
	ID        string `json:"id"`
	Key       string `json:"key,omitempty"`
	Name      string `json:"name"`
	Arguments string `json:"arguments,omitempty"`
}

// FollowTask asks for the result of a task that runs already ([TaskAdopted]);
// [TaskDone] or [TaskFailed] answers.
type FollowTask struct {
	ID  string `json:"id"`
	Key string `json:"key"`
}

// SettleTask says that a task's result has been told: nobody needs to keep it. Key is
// the task's own where it was adopted, and else the idempotency key of its call, if
// that is not the id.
type SettleTask struct {
	ID      string `json:"id"`
	Key     string `json:"key,omitempty"`
	Adopted bool   `json:"adopted,omitempty"`
}

// CancelTool ends a tool or a task whose result nobody waits for any more.
type CancelTool struct {
	ID string `json:"id"`
}

// Cue gives feedback that is not a turn: shown, and played as a short sound or
// phrase where the leg can. Code names it in the catalogue.
type Cue struct {
	Turn int    `json:"turn,omitempty"`
	Code string `json:"code"`
	Text string `json:"text"`
}

// PauseAudio stops capture and playout for a planned pause; ResumeAudio goes on.
type PauseAudio struct{}

// ResumeAudio ends [PauseAudio].
type ResumeAudio struct{}

// SaveContext asks to keep the context (the last turns, pending results) where a new
// session can find it.
type SaveContext struct {
	Reason string `json:"reason"`
}

// RestoreContext asks to give the kept context to the new session.
type RestoreContext struct{}

// CloseConnection closes what is left of a lost connection.
type CloseConnection struct{}

// Reconnect makes attempt number Attempt to restore connection and session.
type Reconnect struct {
	Attempt int `json:"attempt"`
}

// Release asks to release everything; [SessionEnded] answers. Reason is the
// cause of the end.
type Release struct {
	Reason string `json:"reason"`
}

// Notify tells the person, and those who watch, something that is no part of
// the conversation. Code names the message in the catalogue.
type Notify struct {
	Level NotifyLevel `json:"level"`
	Code  string      `json:"code"`
}

// NotifyLevel grades a notification.
type NotifyLevel string

// The grades of a notification.
const (
	LevelInfo    NotifyLevel = "info"
	LevelWarning NotifyLevel = "warning"
	LevelError   NotifyLevel = "error"
)

// Reject refuses a command that the state does not allow (a second start).
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
