package conv

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/hocketvoice/hocket/dialog"
)

// Effect is work for the driver: data that can be printed, recorded and
// compared. The set is closed. Effects are carried out in the order given;
// none of them is waited for, what comes of them returns as events.
//
//sumtype:decl
type Effect interface {
	isEffect()
	// EffectType is the effect's name in traces and on the command line.
	EffectType() string
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

// SaveContext asks to keep the context (the last turns, preferences, pending
// results) where a new session can find it.
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

func (OpenSession) isEffect()        {}
func (PrimeAudio) isEffect()         {}
func (Listen) isEffect()             {}
func (Expect) isEffect()             {}
func (FinalizeTranscript) isEffect() {}
func (RequestReply) isEffect()       {}
func (Summarize) isEffect()          {}
func (Speak) isEffect()              {}
func (EndSpeech) isEffect()          {}
func (CancelTurn) isEffect()         {}
func (FlushPlayout) isEffect()       {}
func (DuckPlayout) isEffect()        {}
func (PausePlayout) isEffect()       {}
func (ResumePlayout) isEffect()      {}
func (RunTool) isEffect()            {}
func (StartTask) isEffect()          {}
func (FollowTask) isEffect()         {}
func (SettleTask) isEffect()         {}
func (CancelTool) isEffect()         {}
func (Cue) isEffect()                {}
func (PauseAudio) isEffect()         {}
func (ResumeAudio) isEffect()        {}
func (SaveContext) isEffect()        {}
func (RestoreContext) isEffect()     {}
func (CloseConnection) isEffect()    {}
func (Reconnect) isEffect()          {}
func (Release) isEffect()            {}
func (Notify) isEffect()             {}
func (Reject) isEffect()             {}

// EffectType implements [Effect].
func (OpenSession) EffectType() string        { return "open_session" }
func (PrimeAudio) EffectType() string         { return "prime_audio" }
func (Listen) EffectType() string             { return "listen" }
func (Expect) EffectType() string             { return "expect" }
func (FinalizeTranscript) EffectType() string { return "finalize_transcript" }
func (RequestReply) EffectType() string       { return "request_reply" }
func (Summarize) EffectType() string          { return "summarize" }
func (Speak) EffectType() string              { return "speak" }
func (EndSpeech) EffectType() string          { return "end_speech" }
func (CancelTurn) EffectType() string         { return "cancel_turn" }
func (FlushPlayout) EffectType() string       { return "flush_playout" }
func (DuckPlayout) EffectType() string        { return "duck_playout" }
func (PausePlayout) EffectType() string       { return "pause_playout" }
func (ResumePlayout) EffectType() string      { return "resume_playout" }
func (RunTool) EffectType() string            { return "run_tool" }
func (StartTask) EffectType() string          { return "start_task" }
func (FollowTask) EffectType() string         { return "follow_task" }
func (SettleTask) EffectType() string         { return "settle_task" }
func (CancelTool) EffectType() string         { return "cancel_tool" }
func (Cue) EffectType() string                { return "cue" }
func (PauseAudio) EffectType() string         { return "pause_audio" }
func (ResumeAudio) EffectType() string        { return "resume_audio" }
func (SaveContext) EffectType() string        { return "save_context" }
func (RestoreContext) EffectType() string     { return "restore_context" }
func (CloseConnection) EffectType() string    { return "close_connection" }
func (Reconnect) EffectType() string          { return "reconnect" }
func (Release) EffectType() string            { return "release" }
func (Notify) EffectType() string             { return "notify" }
func (Reject) EffectType() string             { return "reject" }

// MarshalEffect writes an effect as a JSON object whose first field is its type.
func MarshalEffect(e Effect) ([]byte, error) {
	var body []byte
	var err error
	if f, ok := e.(FlushPlayout); ok {
		body, err = json.Marshal(struct {
			FlushPlayout
			HeardMS float64 `json:"heard_ms"`
		}{f, milliseconds(f.Heard)})
	} else {
		body, err = json.Marshal(e)
	}
	if err != nil {
		return nil, fmt.Errorf("effect %s: %w", e.EffectType(), err)
	}
	b := append([]byte(`{"type":"`), e.EffectType()...)
	b = append(b, '"')
	if len(body) > len("{}") {
		b = append(b, ',')
	}
	return append(b, body[1:]...), nil
}

// milliseconds is a duration as the wire has it.
func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
