package command

import (
	"time"

	"github.com/hocketvoice/hocket/dialog/value"
)

// An Understander finds out what a message means. It must be pure: the same message at the
// same moment always has the same meaning. The engine checks the result before it acts on
// it.
type Understander interface {
	// Understand returns the meaning of a message at a moment. It must not modify m.
	Understand(m *Moment, text string) Meaning
}

// Moment is the situation in which a message is said: what the user was asked, and what is
// known. It must not be modified.
type Moment struct {
	Now            time.Time
	CurrentFlow    string         // the active flow; if there is none, not the name of a flow
	WaitingForSlot string         // the slot that was asked for, or ""
	Slots          map[string]any // the values that are known
	Recent         []string       // slots in the order in which they were set
	Week           string         // the Monday of the week that the user named before, or ""

	Confirming bool           // a yes or no was asked for
	Changing   bool           // the user was asked what to change
	Missed     bool           // the question was asked, and the last message did not answer it
	Failed     bool           // the dialogue is in its error state, and the user may retry
	Suggested  *Suggestion    // a doubtful value that the user was asked about
	Either     map[string]any // the user was asked which of these slots a value is for

	Proposed      string         // a flow that was offered to the user, or ""
	ProposedSlots map[string]any // the values given for Proposed
	Finished      *Finished      // the flow that ended last
}

// Sealed reports whether the flow that ended last has done something that a correction
// cannot undo.
func (m *Moment) Sealed() bool { return m.Finished != nil && m.Finished.Sealed }

// Meaning is the meaning of a message.
type Meaning struct {
	Commands []Command
	// Dropped has the commands that the agent does not accept.
	Dropped []Dropped
	// Failed reports whether a model did not answer or violated the schema. There is no
	// meaning then.
	Failed bool

	// Heard is the message without the parts that it takes back.
	Heard value.Reader
	// Either has the slots that a correction may mean if the words do not say which. Values
	// has the value in the form of each.
	Either []string
	Values map[string]any
	// Offered has the flows that the user may mean but does not clearly ask for. Given has
	// the values that were given for them.
	Offered []string
	Given   map[string]any
	// Respelt is a flow that was found by correcting spelling, or "".
	Respelt string
	// Unused has parts of the message that the commands do not use and that may matter.
	Unused []string
}

// Finished is a flow that has ended and may be re-opened.
type Finished struct {
	Flow string   `json:"flow"`
	Path []string `json:"path,omitempty"`
	// Found has the slots that its actions have filled, which the user may accept.
	Found []string `json:"found,omitempty"`
	// Sealed reports whether the flow has done something that a correction cannot undo.
	Sealed bool `json:"sealed,omitempty"`
}

// Suggestion is a doubtful value.
type Suggestion struct {
	Slot  string `json:"slot"`
	Value any    `json:"value"`
	// Offered reports whether the agent found the value. Else it was read in the user's words.
	Offered bool `json:"offered,omitempty"`
}

// Dropped is a command that the agent does not accept, with the reason.
type Dropped struct {
	Command Command
	Reason  string
}

// Type is the type of a command.
type Type string

// The commands that an understanding may return.
const (
	StartFlow   Type = "start_flow"   // Flow
	SetSlot     Type = "set_slot"     // Slot, Value
	CorrectSlot Type = "correct_slot" // Slot, Value; without Value the agent asks for a new one
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

// Command is one request or statement of the user. The engine checks it against the agent.
// It drops a command with an unknown flow or slot, or with a value that the slot does not
// accept, and traces the reason.
type Command struct {
	Type  Type   `json:"type"`
	Flow  string `json:"flow,omitempty"`
	Slot  string `json:"slot,omitempty"`
	Value any    `json:"value,omitempty"`
	Text  string `json:"text,omitempty"`
}

// Gives reports whether the command gives a value for a slot, or asks to change it.
func (c Command) Gives() bool { return c.Type == SetSlot || c.Type == CorrectSlot }

// Types returns all types of commands, for prompts.
func Types() []Type {
	return []Type{
		StartFlow, SetSlot, CorrectSlot, Cancel, Confirm, Deny, Clarify, ListOptions, RepeatLast, Restart,
		Handoff, Help, Retry, Skip, Chitchat, Goodbye, AskSlot,
	}
}

// Again is the text of a [StartFlow] command that starts a flow once more, with other
// values.
const Again = "again"
