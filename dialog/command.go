package dialog

// CommandType says what the user wants.
type CommandType string

// The commands that an understanding may return.
const (
	StartFlow   CommandType = "start_flow"   // Flow
	SetSlot     CommandType = "set_slot"     // Slot, Value
	CorrectSlot CommandType = "correct_slot" // Slot, Value; no Value: ask for a new one
	Cancel      CommandType = "cancel"
	Confirm     CommandType = "confirm" // yes
	Deny        CommandType = "deny"    // no
	Clarify     CommandType = "clarify" // what do you mean?
	ListOptions CommandType = "options" // what can I choose?
	RepeatLast  CommandType = "repeat"
	Restart     CommandType = "restart"
	Handoff     CommandType = "handoff" // a person, please
	Help        CommandType = "help"
	Retry       CommandType = "retry"    // after an error
	Skip        CommandType = "skip"     // no value for the slot
	Chitchat    CommandType = "chitchat" // Text: "hello", "thanks", "wait" or anything
	Goodbye     CommandType = "goodbye"
	AskSlot     CommandType = "ask_slot" // Slot: what the user wants to know, a slot or what an action found
)

// Command is one thing that was understood. The engine checks it against the
// agent: a flow or slot that is not there, or a value that the slot does not
// take, is dropped with a note in the trace.
type Command struct {
	Type  CommandType `json:"type"`
	Flow  string      `json:"flow,omitempty"`
	Slot  string      `json:"slot,omitempty"`
	Value any         `json:"value,omitempty"`
	Text  string      `json:"text,omitempty"`
}

// CommandTypes lists the commands, for those who tell a model which there are.
func CommandTypes() []CommandType {
	return []CommandType{
		StartFlow, SetSlot, CorrectSlot, Cancel, Confirm, Deny, Clarify, ListOptions, RepeatLast, Restart,
		Handoff, Help, Retry, Skip, Chitchat, Goodbye, AskSlot,
	}
}
