package dialog

import (
	"maps"
	"slices"
	"time"
)

// SchemaVersion is the version of [State]'s JSON (seed 003, Checkpoint
// Strategy).
const SchemaVersion = "1.0"

// ConversationState is the state of the dialogue (seed 003, Conversation States).
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

// ConversationStates returns the states in the seed's order.
func ConversationStates() []ConversationState {
	return []ConversationState{Idle, Understanding, WaitingForSlot, ValidatingSlot, ExecutingAction, Confirming, Completed, Error}
}

// State is the complete state of a dialogue: the fields of seed 003's DialogueState, then
// those that the engine adds. It is plain data; its JSON form contains all of it and
// decodes to an equal State. The zero value is a dialogue that has not begun. Only the
// methods of [Agent] change a State, and it is not safe for concurrent use.
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
	// Stack holds the flows that wait for the current one to end, the most recently
	// interrupted flow last.
	Stack []Frame
	// Path has the steps that the current run of the flow has passed, for corrections.
	Path []string
	// Finished is the flow that ended last. A correction re-opens it.
	Finished *FinishedFlow
	// Variants has the index of the variant of a message that was said last, by the key
	// of the message.
	Variants map[string]int
	// Proposed is the flow that was offered to the user.
	Proposed string
	// ProposedSlots are the values that the user has already given for Proposed.
	ProposedSlots map[string]any
	// Later has the requests that wait until the current one is done.
	Later []Request
	// Asking is a question for a slot outside its collect step.
	Asking *Asking
	// Suggested is a doubtful value that the user was asked about.
	Suggested *Suggestion
	// Confirmation is the open yes-or-no question.
	Confirmation *Confirmation
	// Granted reports whether the user has said yes to a confirm step and no action has
	// used the yes yet. GrantedFor has the inputs of the flow's actions at that moment;
	// the yes does not apply to other inputs.
	Granted    bool
	GrantedFor map[string]any
	// Action is the action that is running, or that has failed and may be retried.
	Action *PendingAction
	// Checked has the values that a service has accepted, by slot.
	Checked map[string]any
	// Pending is the text that a model was asked to understand.
	Pending string
	// Recent has the slots in the order in which they were set.
	Recent []string
	// Acted reports whether the current run has done something that required a yes.
	Acted bool
	// Week is the Monday of a week that the user has named without a day, as in "next
	// week". It applies to a later "Wednesday", until the flow ends.
	Week string
	// Either has the slots to which a value may belong, and the value in the form of
	// each. The user was asked which slot it is for.
	Either map[string]any
	// Changing reports whether the user was asked what to change.
	Changing bool
	// Given has the slots that had values before the start.
	Given []string
	// Kept has the slots whose values outlive the flow that set them.
	Kept []string
	// Misses counts the turns in a row in which nothing was understood.
	Misses int
	// Runs counts the flows that were started, Calls the actions.
	Runs  int
	Calls int
	// ReadBack reports whether the last response repeated a value of the user.
	ReadBack bool
	// HandedOff reports whether the user was handed over to a person.
	HandedOff bool
	// About is the context of the built-in flow that waits for the user.
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

// TraceData has the details of an event. Fields that do not apply are empty.
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

// Frame is a flow on the stack.
type Frame struct {
	Flow    string         `json:"flow"`
	Step    string         `json:"step,omitempty"`
	Called  bool           `json:"called,omitempty"` // by a call step; otherwise the user digressed
	Path    []string       `json:"path,omitempty"`
	Saved   map[string]any `json:"saved,omitempty"` // slots that both flows use
	Asking  *Asking        `json:"asking,omitempty"`
	Granted bool           `json:"granted,omitempty"`
	For     map[string]any `json:"granted_for,omitempty"`
	Recent  []string       `json:"recent,omitempty"`
	Acted   bool           `json:"acted,omitempty"`
}

// Asking is a question for a slot outside its collect step.
type Asking struct {
	Slot string `json:"slot"`
	// Reopen reports whether the flow had ended.
	Reopen bool `json:"reopen,omitempty"`
	// Correction reports whether a new value replaces an old one.
	Correction bool `json:"correction,omitempty"`
	// More are the slots to ask for after this one.
	More []string `json:"more,omitempty"`
	// Asked reports whether the question has been asked; Resume is the step at which
	// the flow continues after it.
	Asked  bool   `json:"asked,omitempty"`
	Resume string `json:"resume,omitempty"`
}

// rest returns the question for the remaining slots, or nil if there are none.
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

// Confirmation is an open yes-or-no question.
type Confirmation struct {
	Step string `json:"step"`
	// Action reports whether the step is an action that requires confirmation.
	Action bool `json:"action,omitempty"`
	// Asked reports whether the last response is the question; Tail is the part of it
	// after the last value.
	Asked bool   `json:"asked,omitempty"`
	Tail  string `json:"tail,omitempty"`
	// Early and Unheard are those of the last [Message].
	Early   bool   `json:"early,omitempty"`
	Unheard string `json:"unheard,omitempty"`
}

// PendingAction is an action that is running, or that has failed and may be retried.
type PendingAction struct {
	ID      string         `json:"id"`
	Key     string         `json:"key"`
	Name    string         `json:"name"`
	Step    string         `json:"step"`
	Inputs  map[string]any `json:"inputs,omitempty"`
	Attempt int            `json:"attempt"`
	// Check is the slot whose value the action checks, or "" if the action is a step of
	// the flow.
	Check  string `json:"check,omitempty"`
	Failed bool   `json:"failed,omitempty"`
}

// NLUCache holds the result of the last understanding. The same text is not understood
// twice within a second (seed 003, last_nlu_call).
type NLUCache struct {
	Text     string    `json:"text"`
	Context  string    `json:"context"`
	Commands []Command `json:"commands,omitempty"`
}

// Clone returns a copy that shares no mutable data with s.
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

// cloneValues copies a map, and maps in it one level down. The engine modifies no other
// values in place.
func cloneValues(m map[string]any) map[string]any {
	out := maps.Clone(m)
	for k, v := range out {
		if inner, ok := v.(map[string]any); ok {
			out[k] = maps.Clone(inner)
		}
	}
	return out
}

// seconds returns the time in seconds since 1970, as the seed writes it.
func seconds(t time.Time) float64 { return float64(t.UnixMicro()) / 1e6 }
