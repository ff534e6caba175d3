package hub

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/journal"
)

// The types of the messages of a conversation. Sources: seed 000, "UI Messaging
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
	TypeStep         = "step"
	TypeGap          = "gap"
)

// The types of the messages of the list.
const (
	TypeStarted = "conversation.started"
	TypeUpdated = "conversation.updated"
	TypeEnded   = "conversation.ended"
)

// MessageTypes are the payloads by the type of their message.
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
		TypeStep:         reflect.TypeFor[journal.Line](),
		TypeGap:          reflect.TypeFor[Gap](),
		TypeStarted:      reflect.TypeFor[Info](),
		TypeUpdated:      reflect.TypeFor[Info](),
		TypeEnded:        reflect.TypeFor[Info](),
	}
}

// StatePayload is the state as seed 000 shows it.
type StatePayload struct {
	State          string        `json:"state"` // of the view agent-voice
	LocalizedLabel string        `json:"localizedLabel"`
	TurnID         *string       `json:"turnId"` // "turn-7": the turn that is open or has just ended; null: neither
	Since          time.Time     `json:"since"`
	Metadata       StateMetadata `json:"metadata"`
}

// StateMetadata is what seed 000 adds to a state.
type StateMetadata struct {
	CopilotRequestID  *string  `json:"copilotRequestId"` // "request-3"; null: none is out
	InterruptionCount int      `json:"interruptionCount"`
	Reason            string   `json:"reason,omitempty"`       // the cause of the transition
	TranscriptID      string   `json:"transcriptId,omitempty"` // hashed: of what the user said in the turn, or what it answers
	PendingActions    []string `json:"pendingActions,omitempty"`
	RetryCount        int      `json:"retryCount,omitempty"`
}

// TurnPayload is the beginning or the end of a turn as seed 000 shows it.
type TurnPayload struct {
	Event      conv.TurnEventType `json:"event"`
	TurnID     string             `json:"turnId"`
	Role       string             `json:"role"` // "user", "assistant"
	DurationMS float64            `json:"durationMs"`
	Confidence float64            `json:"confidence"`
}

// Notification is something that the person is told beside the conversation.
type Notification struct {
	Message string           `json:"message"`
	Code    string           `json:"code"`
	Level   conv.NotifyLevel `json:"level"`
}

// Enter says that a state of the view amplifier is entered.
type Enter struct {
	State   string       `json:"state"`
	Context EnterContext `json:"context"`
}

// EnterContext is the part of seed 001's StateContext that holds no words.
type EnterContext struct {
	Phase         conv.Phase `json:"phase"`
	PreviousState string     `json:"previousState"`
	Turn          int        `json:"turn,omitempty"`
	PendingTools  []string   `json:"pendingTools,omitempty"`
	LastError     string     `json:"lastError,omitempty"`
	RetryCount    int        `json:"retryCount,omitempty"`
}

// Exit says that a state of the view amplifier is left.
type Exit struct {
	State    string  `json:"state"`
	Duration float64 `json:"duration"` // milliseconds in it
}

// Transition is a change of phase. From and To are states of the view amplifier,
// as seed 001 has them, and may be the same; Phase has our own.
type Transition struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Event string `json:"event"`
	Phase struct {
		From conv.Phase `json:"from"`
		To   conv.Phase `json:"to"`
	} `json:"phase"`
	Cause      string     `json:"cause"`
	Label      string     `json:"label"` // of the state for people
	Turn       int        `json:"turn,omitempty"`
	DurationMS float64    `json:"durationMs"` // in the phase before
	Views      conv.Views `json:"views"`      // after it
}

// Timeout says that a limit of a state of the view amplifier passed.
type Timeout struct {
	State    string  `json:"state"`
	Duration float64 `json:"duration"` // milliseconds in it
	Limit    string  `json:"limit"`
}

// Problem says that something failed.
type Problem struct {
	State string       `json:"state"`
	Error ProblemError `json:"error"`
}

// ProblemError is a failure for people: no credential, no transcript.
type ProblemError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Recovery says how a recovery went.
type Recovery struct {
	From    string `json:"from"`
	Success bool   `json:"success"`
}

// Transcript is what the user said in a turn so far.
type Transcript struct {
	Role  string `json:"role"` // "user"
	Turn  int    `json:"turn"`
	Text  string `json:"text"`
	Final bool   `json:"final"`
}

// Caption is the agent's words in a turn: all that is to be said so far, the
// part heard, and the tail that was cut off.
type Caption struct {
	Turn    int    `json:"turn"`
	Text    string `json:"text"`
	Heard   string `json:"heard"`
	Unheard string `json:"unheard"`
	Final   bool   `json:"final"`
}

// role is a role in the words of seed 000.
func role(r conv.Role) string {
	if r == conv.RoleAgent {
		return "assistant"
	}
	return string(r)
}

// named is the id of a numbered thing, nil for none.
func named(what string, number int) *string {
	if number == 0 {
		return nil
	}
	id := what + strconv.Itoa(number)
	return &id
}

// encode writes a payload. All of them marshal.
func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("hub: a payload does not marshal: %v", err))
	}
	return b
}
