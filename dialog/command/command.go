package command

import (
	"time"

	"github.com/hocketvoice/hocket/dialog/value"
)

// An Understander says what a message means. It changes nothing, and the same message at
// the same moment always means the same. What it returns is checked before it is acted on.
type Understander interface {
	// Understand returns what a message means at a moment.
	Understand(m *Moment, text string) Meaning
}

// Moment is what a message meets: what was asked, and what is known. It is read only.
type Moment struct {
	Now            time.Time
	CurrentFlow    string         // the active flow; no flow's name without one
	WaitingForSlot string         // the slot that was asked for, or ""
	Slots          map[string]any // the values that are known
	Recent         []string       // slots in the order in which they were set
	Week           string         // the Monday of the week that was said before, or ""

	Confirming bool           // a yes or no was asked for
	Changing   bool           // it was asked what to change
	Failed     bool           // something went wrong, and the user may retry
	Suggested  *Suggestion    // a doubtful value that was asked about
	Either     map[string]any // it was asked which of these slots a value is for

	Proposed      string         // a flow that was asked about, or ""
	ProposedSlots map[string]any // the values given for it
	Finished      *Finished      // the flow that ended last
}

// Sealed reports whether the flow that ended last has done what a correction cannot undo.
func (m *Moment) Sealed() bool { return m.Finished != nil && m.Finished.Sealed }

// Meaning is what a message means.
type Meaning struct {
	Commands []Command
	// Dropped is what was understood and the agent does not take.
	Dropped []Dropped
	// Failed: there is no meaning, because a model did not answer or broke its schema.
	Failed bool

	// Heard is the message without what was taken back in it.
	Heard value.Reader
	// Either are the slots of which one is to be corrected, where the words do not say
	// which; Values is what it would be in each.
	Either []string
	Values map[string]any
	// Offered are flows that may be meant and that the words do not ask for plainly, with
	// the values that were given for them.
	Offered []string
	Given   map[string]any
	// Respelt is a flow that was found by correcting typing errors.
	Respelt string
	// Unused are parts of the message that the commands do not use, and that may matter.
	Unused []string
}

// Finished is a flow that has ended and may be re-opened.
type Finished struct {
	Flow string   `json:"flow"`
	Path []string `json:"path,omitempty"`
	// Found are the slots that its actions filled: what the user may like, and
	// take.
	Found []string `json:"found,omitempty"`
	// Sealed: it has done something that a correction cannot undo.
	Sealed bool `json:"sealed,omitempty"`
}

// Suggestion is a doubtful value.
type Suggestion struct {
	Slot  string `json:"slot"`
	Value any    `json:"value"`
}

// Dropped is a command that the agent does not take.
type Dropped struct {
	Command Command
	Reason  string
}

// Type says what the user wants.
type Type string

// The commands that an understanding may return.
const (
	StartFlow   Type = "start_flow"   // Flow
	SetSlot     Type = "set_slot"     // Slot, Value
	CorrectSlot Type = "correct_slot" // Slot, Value; no Value: ask for a new one
	Cancel      Type = "cancel"
	Confirm     Type = "confirm" // yes
	Deny        Type = "deny"    // no
	Clarify     Type = "clarify" // what do you mean?
	ListOptions Type = "options" // what can I choose?
	RepeatLast  Type = "repeat"
	Restart     Type = "restart"
	Handoff     Type = "handoff" // a person, please
	Help        Type = "help"
	Retry       Type = "retry"    // after an error
	Skip        Type = "skip"     // no value for the slot
	Chitchat    Type = "chitchat" // Text: "hello", "thanks", "wait" or anything
	Goodbye     Type = "goodbye"
	AskSlot     Type = "ask_slot" // Slot: what the user wants to know, a slot or what an action found
)

// Command is one thing that was understood. The engine checks it against the
// agent: a flow or slot that is not there, or a value that the slot does not
// take, is dropped with a note in the trace.
type Command struct {
	Type  Type   `json:"type"`
	Flow  string `json:"flow,omitempty"`
	Slot  string `json:"slot,omitempty"`
	Value any    `json:"value,omitempty"`
	Text  string `json:"text,omitempty"`
}

// Gives reports whether the command gives a slot a value, or asks for another.
func (c Command) Gives() bool { return c.Type == SetSlot || c.Type == CorrectSlot }

// Types lists the commands, for those who tell a model which there are.
func Types() []Type {
	return []Type{
		StartFlow, SetSlot, CorrectSlot, Cancel, Confirm, Deny, Clarify, ListOptions, RepeatLast, Restart,
		Handoff, Help, Retry, Skip, Chitchat, Goodbye, AskSlot,
	}
}

// Again is the text of a command to start a flow once more, with other values.
const Again = "again"
