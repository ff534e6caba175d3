package hub

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/conv/view"
	"github.com/hocketvoice/hocket/journal"
)

// The types of a conversation's messages. Sources: seed 000, "UI Messaging
// Contract"; seed 001, "Event Bus Integration".
const (
	TypeState        = "agentvoice.state"
	TypeTurn         = "agentvoice.turn"
	TypeNotification = "agentvoice.notification"
	TypeEnter        = "state:enter"
	TypeExit         = "state:exit"
	TypeTransition   = "transition"
	TypeTimeout      = "timeout"
	TypeError        = "error"
	TypeRecovery     = "recovery"
	TypeTranscript   = "transcript"
	TypeCaption      = "caption"
	TypeTask         = "task"
	TypeMicrophone   = "microphone"
	TypeStep         = "step"
	TypeGap          = "gap"
)

// The types of the list's messages.
const (
	TypeStarted = "conversation.started"
	TypeUpdated = "conversation.updated"
	TypeEnded   = "conversation.ended"
)

// MessageTypes returns the payload type for each type of message.
func MessageTypes() map[string]reflect.Type {
	return map[string]reflect.Type{
		TypeState:        reflect.TypeFor[StatePayload](),
		TypeTurn:         reflect.TypeFor[TurnPayload](),
		TypeNotification: reflect.TypeFor[Notification](),
		TypeEnter:        reflect.TypeFor[Enter](),
		TypeExit:         reflect.TypeFor[Exit](),
		TypeTransition:   reflect.TypeFor[Transition](),
		TypeTimeout:      reflect.TypeFor[Timeout](),
		TypeError:        reflect.TypeFor[Problem](),
		TypeRecovery:     reflect.TypeFor[Recovery](),
		TypeTranscript:   reflect.TypeFor[Transcript](),
		TypeCaption:      reflect.TypeFor[Caption](),
		TypeTask:         reflect.TypeFor[Task](),
		TypeMicrophone:   reflect.TypeFor[Microphone](),
		TypeStep:         reflect.TypeFor[journal.Line](),
		TypeGap:          reflect.TypeFor[Gap](),
		TypeStarted:      reflect.TypeFor[Info](),
		TypeUpdated:      reflect.TypeFor[Info](),
		TypeEnded:        reflect.TypeFor[Info](),
	}
}

// StatePayload is the state as defined by seed 000.
type StatePayload struct {
	State          string        `json:"state"` // of the view agent-voice
	LocalizedLabel string        `json:"localizedLabel"`
	TurnID         *string       `json:"turnId"` // "turn-7": the turn that is open or has just ended; null if there is none
	Since          time.Time     `json:"since"`
	Metadata       StateMetadata `json:"metadata"`
}

// StateMetadata is the metadata that seed 000 adds to a state.
type StateMetadata struct {
	CopilotRequestID  *string  `json:"copilotRequestId"` // "request-3"; null if none is pending
	InterruptionCount int      `json:"interruptionCount"`
	Reason            string   `json:"reason,omitempty"`       // cause of the transition
	TranscriptID      string   `json:"transcriptId,omitempty"` // hash of the user's words in the turn, or of those that the turn answers
	PendingActions    []string `json:"pendingActions,omitempty"`
	RetryCount        int      `json:"retryCount,omitempty"`
}

// TurnPayload is the beginning or the end of a turn as defined by seed 000.
type TurnPayload struct {
	Event      conv.TurnEventType `json:"event"`
	TurnID     string             `json:"turnId"`
	Role       string             `json:"role"` // "user", "assistant"
	DurationMS float64            `json:"durationMs"`
	Confidence float64            `json:"confidence"`
}

// Notification is a message for the person beside the conversation.
type Notification struct {
	Message string           `json:"message"`
	Code    string           `json:"code"`
	Level   conv.NotifyLevel `json:"level"`
}

// Microphone asks the page with the microphone to open or close it.
type Microphone struct {
	Open bool `json:"open"`
}

// Enter reports that the view amplifier has entered a state.
type Enter struct {
	State   string       `json:"state"`
	Context EnterContext `json:"context"`
}

// EnterContext is the part of seed 001's StateContext that contains no words.
type EnterContext struct {
	Phase         conv.Phase `json:"phase"`
	PreviousState string     `json:"previousState"`
	Turn          int        `json:"turn,omitempty"`
	PendingTools  []string   `json:"pendingTools,omitempty"`
	LastError     string     `json:"lastError,omitempty"`
	RetryCount    int        `json:"retryCount,omitempty"`
}

// Exit reports that the view amplifier has left a state.
type Exit struct {
	State    string  `json:"state"`
	Duration float64 `json:"duration"` // time in the state in milliseconds
}

// Transition is a change of phase. From and To are states of the view amplifier as
// defined by seed 001, and may be equal; Phase is the machine's phase.
type Transition struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Event string `json:"event"`
	Phase struct {
		From conv.Phase `json:"from"`
		To   conv.Phase `json:"to"`
	} `json:"phase"`
	Cause      string     `json:"cause"`
	Label      string     `json:"label"` // name of the state for people
	Turn       int        `json:"turn,omitempty"`
	DurationMS float64    `json:"durationMs"` // in the previous phase
	Views      view.Views `json:"views"`      // after the transition
}

// Timeout reports that the time limit of a state of the view amplifier has passed.
type Timeout struct {
	State    string  `json:"state"`
	Duration float64 `json:"duration"` // time in the state in milliseconds
	Limit    string  `json:"limit"`
}

// Problem reports a failure.
type Problem struct {
	State string       `json:"state"`
	Error ProblemError `json:"error"`
}

// ProblemError describes a failure for people. It contains neither credentials nor
// transcripts.
type ProblemError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Recovery reports the progress of a recovery.
type Recovery struct {
	From    string `json:"from"`
	Success bool   `json:"success"`
}

// Transcript is what the user has said in a turn so far.
type Transcript struct {
	Role  string `json:"role"` // "user"
	Turn  int    `json:"turn"`
	Text  string `json:"text"`
	Final bool   `json:"final"`
}

// Caption is the agent's text in a turn: the whole text so far, the part heard, and
// the end that was cut off.
type Caption struct {
	Turn    int    `json:"turn"`
	Text    string `json:"text"`
	Heard   string `json:"heard"`
	Unheard string `json:"unheard"`
	Final   bool   `json:"final"`
}

// role returns the name of a role in seed 000.
func role(r conv.Role) string {
	if r == conv.RoleAgent {
		return "assistant"
	}
	return string(r)
}

// named returns the id of a numbered thing, or nil for 0.
func named(what string, number int) *string {
	if number == 0 {
		return nil
	}
	id := what + strconv.Itoa(number)
	return &id
}

// encode returns the JSON of a payload.
func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("hub: marshal payload: %v", err))
	}
	return b
}
