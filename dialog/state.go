package dialog

import (
	"maps"
	"slices"
	"time"
)

// SchemaVersion is the version of [State]'s JSON (seed 003, Checkpoint
// Strategy).
const SchemaVersion = "1.0"

// ConversationState says what the dialogue is doing (seed 003, Conversation
// States).
type ConversationState string

// The states.
const (
	Idle            ConversationState = "idle"
	Understanding   ConversationState = "understanding"
	WaitingForSlot  ConversationState = "waiting_for_slot"
	ValidatingSlot  ConversationState = "validating_slot"
	ExecutingAction ConversationState = "executing_action"
	Confirming      ConversationState = "confirming"
	Completed       ConversationState = "completed"
	Error           ConversationState = "error"
)

// ConversationStates lists the states in the seed's order.
func ConversationStates() []ConversationState {
	return []ConversationState{Idle, Understanding, WaitingForSlot, ValidatingSlot, ExecutingAction, Confirming, Completed, Error}
}

// State is everything that a dialogue knows: seed 003's DialogueState, then
// what the engine needs beside it. It is plain data: the JSON form carries all
// of it, and reads back equal. Its zero value is a dialogue that has not begun.
// Only the methods of [Agent] change it; one goroutine at a time may use it.
type State struct {
	Messages          []ChatMessage
	Slots             map[string]any
	CurrentFlow       string // "none" without one; "" before the start
	ConversationState ConversationState
	CurrentStep       string // "" is null
	WaitingForSlot    string // "" is null
	TurnCount         int
	LastResponse      string
	LastNLUCall       float64 // seconds since 1970; 0 is null
	Trace             []TraceEvent
	Metadata          map[string]any

	// NLUCalls counts the calls of the understanding.
	NLUCalls int
	Cache    *NLUCache
	// Stack holds the flows that wait for the current one to end, the last
	// interrupted one last.
	Stack []Frame
	// Path is where the current run of the flow has been, for corrections.
	Path []string
	// Finished is the last flow that ended, which a correction re-opens.
	Finished *FinishedFlow
	// Variants are the indices of the variants that were said last, by a key of the
	// message.
	Variants map[string]int
	// Proposed is a flow that the user was asked about.
	Proposed string
	// ProposedSlots are values that the user has given for it already.
	ProposedSlots map[string]any
	// Later are the requests of the user that wait for the current one to be done.
	Later []Request
	// Asking is a slot that is asked for out of turn.
	Asking *Asking
	// Suggested is a doubtful value that the user was asked about.
	Suggested *Suggestion
	// Confirmation is what the user was asked to confirm.
	Confirmation *Confirmation
	// Granted is a yes to a confirm step that no action has used yet; GrantedFor
	// are the inputs of the flow's actions when it was said. Of other inputs the yes
	// says nothing.
	Granted    bool
	GrantedFor map[string]any
	// Action is the action that runs, or failed and may be retried.
	Action *PendingAction
	// Checked are the values that a service has accepted, by slot.
	Checked map[string]any
	// Pending is the text that a model is asked about.
	Pending string
	// Recent are the slots in the order in which they were set, the latest last.
	Recent []string
	// Acted: the current run has done something that it needed a yes for.
	Acted bool
	// Week is the Monday of the week that the user has named without a day, until the
	// flow ends: "next week", and then "Wednesday".
	Week string
	// Either are the slots to which a value may belong, and what it would be in each:
	// the user was asked for which one it is.
	Either map[string]any
	// Changing: the user was asked what to change.
	Changing bool
	// Given are the slots that were there before the start.
	Given []string
	// Kept are the slots whose values outlive the flow that has set them.
	Kept []string
	// Misses counts the turns in a row in which nothing was understood.
	Misses int
	// Runs counts the flows started, Calls the actions.
	Runs  int
	Calls int
	// ReadBack: the last response repeated a value of the user.
	ReadBack bool
	// HandedOff: the user was given to a person.
	HandedOff bool
	// About is what the built-in flow is about that waits for the user.
	About map[string]any
}

// ChatMessage is one message of the history.
type ChatMessage struct {
	Role      string  `json:"role"` // "user" or "assistant"
	Content   string  `json:"content"`
	Timestamp float64 `json:"timestamp"` // seconds since 1970
}

// TraceEvent is one event of the audit trail.
type TraceEvent struct {
	Event     string    `json:"event"`
	Timestamp float64   `json:"timestamp"`
	Data      TraceData `json:"data"`
}

// TraceData says what an event was about; what does not apply is left out.
type TraceData struct {
	From    ConversationState `json:"from,omitempty"`
	To      ConversationState `json:"to,omitempty"`
	On      string            `json:"on,omitempty"`
	Flow    string            `json:"flow,omitempty"`
	Step    string            `json:"step,omitempty"`
	Slot    string            `json:"slot,omitempty"` // state_changed: the slot that is awaited
	Value   any               `json:"value,omitempty"`
	Action  string            `json:"action,omitempty"`
	Command string            `json:"command,omitempty"`
	Detail  string            `json:"detail,omitempty"`
}

// Frame is a flow that waits for another to end.
type Frame struct {
	Flow    string         `json:"flow"`
	Step    string         `json:"step,omitempty"`
	Called  bool           `json:"called,omitempty"` // by a call step; else the user digressed
	Path    []string       `json:"path,omitempty"`
	Saved   map[string]any `json:"saved,omitempty"` // slots that both flows use
	Asking  *Asking        `json:"asking,omitempty"`
	Granted bool           `json:"granted,omitempty"`
	For     map[string]any `json:"granted_for,omitempty"`
	Recent  []string       `json:"recent,omitempty"`
	Acted   bool           `json:"acted,omitempty"`
}

// Asking is a slot that is asked for outside its collect step.
type Asking struct {
	Slot string `json:"slot"`
	// Reopen says that the flow had ended.
	Reopen bool `json:"reopen,omitempty"`
	// Correction says that a new value replaces an old one.
	Correction bool `json:"correction,omitempty"`
	// More are the slots to ask for after this one.
	More []string `json:"more,omitempty"`
	// Asked says that the question has been put; Resume is the step at which
	// the flow goes on after it.
	Asked  bool   `json:"asked,omitempty"`
	Resume string `json:"resume,omitempty"`
}

// rest is the question for the slots after the first, nil without any.
func (a *Asking) rest() *Asking {
	if len(a.More) == 0 {
		return nil
	}
	r := &Asking{Slot: a.More[0], Reopen: a.Reopen, Correction: a.Correction, Asked: a.Asked, Resume: a.Resume}
	if len(a.More) > 1 {
		r.More = a.More[1:]
	}
	return r
}

// Confirmation is an open question of yes or no.
type Confirmation struct {
	Step string `json:"step"`
	// Action: the step is an action that requires confirmation.
	Action bool `json:"action,omitempty"`
	// Asked: the last response is the question; Tail is its end behind the last value.
	Asked bool   `json:"asked,omitempty"`
	Tail  string `json:"tail,omitempty"`
	// Early and Unheard are those of the last [Message].
	Early   bool   `json:"early,omitempty"`
	Unheard string `json:"unheard,omitempty"`
}

// PendingAction is an action on its way.
type PendingAction struct {
	ID      string         `json:"id"`
	Key     string         `json:"key"`
	Name    string         `json:"name"`
	Step    string         `json:"step"`
	Inputs  map[string]any `json:"inputs,omitempty"`
	Attempt int            `json:"attempt"`
	// Check is the slot whose value the action asks about; empty for a flow's own.
	Check  string `json:"check,omitempty"`
	Failed bool   `json:"failed,omitempty"`
}

// NLUCache holds the result of the last understanding (seed 003, last_nlu_call:
// within a second the same text is not understood twice).
type NLUCache struct {
	Text     string    `json:"text"`
	Context  string    `json:"context"`
	Commands []Command `json:"commands,omitempty"`
}

// Clone returns a copy that shares nothing that changes.
func (s State) Clone() State {
	s.Messages = slices.Clone(s.Messages)
	s.Slots = cloneValues(s.Slots)
	s.Either, s.About = cloneValues(s.Either), cloneValues(s.About)
	s.Checked = cloneValues(s.Checked)
	s.Trace = slices.Clone(s.Trace)
	s.Metadata = cloneValues(s.Metadata)
	s.Path = slices.Clone(s.Path)
	s.GrantedFor, s.Variants = cloneValues(s.GrantedFor), maps.Clone(s.Variants)
	s.Recent = slices.Clone(s.Recent)
	s.ProposedSlots, s.Later = cloneValues(s.ProposedSlots), slices.Clone(s.Later)
	for i := range s.Later {
		s.Later[i].Slots = cloneValues(s.Later[i].Slots)
	}
	s.Given, s.Kept = slices.Clone(s.Given), slices.Clone(s.Kept)
	s.Stack = slices.Clone(s.Stack)
	for i := range s.Stack {
		f := &s.Stack[i]
		f.Path, f.Recent, f.Saved, f.Asking = slices.Clone(f.Path), slices.Clone(f.Recent), cloneValues(f.Saved), clonePointer(f.Asking)
		f.For = cloneValues(f.For)
	}
	if s.Finished != nil {
		s.Finished = &FinishedFlow{Flow: s.Finished.Flow, Path: slices.Clone(s.Finished.Path), Found: slices.Clone(s.Finished.Found), Sealed: s.Finished.Sealed}
	}
	s.Asking, s.Suggested, s.Confirmation = clonePointer(s.Asking), clonePointer(s.Suggested), clonePointer(s.Confirmation)
	s.Action = clonePointer(s.Action)
	if s.Action != nil {
		s.Action.Inputs = cloneValues(s.Action.Inputs)
	}
	s.Cache = clonePointer(s.Cache)
	if s.Cache != nil {
		s.Cache.Commands = slices.Clone(s.Cache.Commands)
	}
	return s
}

func clonePointer[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// cloneValues copies a map. Values inside are never changed in place by the
// engine, metadata's maps apart, which are copied one level down.
func cloneValues(m map[string]any) map[string]any {
	out := maps.Clone(m)
	for k, v := range out {
		if inner, ok := v.(map[string]any); ok {
			out[k] = maps.Clone(inner)
		}
	}
	return out
}

// seconds is an instant as the seed writes it: seconds since 1970.
func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }
