package dialog

import (
	"slices"
	"time"
)

// Input is an event that [Agent.Handle] takes: a [Message], an [ActionEnded] or an
// [Understood].
//
//sumtype:decl
type Input interface{ isInput() }

// Message is an utterance of the user, spoken or typed.
type Message struct {
	Text string
	// Confidence is the recognizer's confidence, from 0 to 1. Typed text has 1. If it
	// is 0, it is unknown, and the text is accepted. See [agent.Settings.MinConfidence].
	Confidence float64
	// Early reports whether the user began to speak before they had heard the values
	// that they are asked to confirm ([Output.Confirm]): a yes does not count then.
	// Unheard is the part of the question to say again, or "" if the user has heard
	// all values since.
	Early   bool
	Unheard string
}

// ActionEnded is the result of the action that the last [Output] asked for.
type ActionEnded struct {
	ID      string         // the ID of the [ActionCall]
	Outputs map[string]any // by the names that the action declares
	// Missing names slots that the action needs and did not get.
	Missing []string
	Failed  bool
	// Cancelled reports whether the user cancelled the action while it ran. That
	// cancels the flow too.
	Cancelled bool
	Code      string // the class of the failure, or ""
	Message   string // the text of the failure
}

// Understood is the meaning of a message. [Agent.Understand] finds it by the words
// alone, [Agent.Interpret] reads it from a model's answer to an [UnderstandRequest].
type Understood struct {
	Commands []Command
	// Dropped has the commands that the agent does not accept, with reasons.
	Dropped []Dropped
	// Failed reports whether the model did not answer or violated the schema. The
	// engine then understands the message by its words.
	Failed bool
}

func (Message) isInput()     {}
func (ActionEnded) isInput() {}
func (Understood) isInput()  {}

// Output is the engine's response to an input. At most one of Act, Understand and
// Ask is set. If Act or Understand is set, the turn is not over, and the caller passes
// the result as the next [Input]; after Ask, it passes the model's words to
// [Agent.Answered].
type Output struct {
	// Say is what the agent says now, in order.
	Say []Line
	// Confirm is not nil if Say asks the user to confirm values.
	Confirm *Question
	// Expect is what the agent expects to hear after it has spoken.
	Expect Expectation
	// Act is an action to run.
	Act *ActionCall
	// Understand asks a model what the user meant.
	Understand *UnderstandRequest
	// Ask reports whether a model must answer, since the flows do not cover the
	// message.
	Ask bool
	// Handoff reports whether a person takes over the conversation.
	Handoff bool
	// End reports whether the agent ends the conversation after it has spoken.
	End bool
}

// Question is a question to confirm values. A yes counts only if the user has heard
// the values; see [Message.Early].
type Question struct {
	Text string `json:"text"`           // the question, at the end of what is said
	Tail string `json:"tail,omitempty"` // the end of Text, after the last value
}

// Line is a text to say.
type Line struct {
	Text string
	// Fixed forbids rewording by a model.
	Fixed bool
}

// Expectation is what the agent expects to hear next. Turn-taking, the barge-in
// profile and the recognizer's grammar depend on it. The zero value expects anything.
type Expectation struct {
	Slot string `json:"slot,omitempty"` // the slot that is asked for
	Kind string `json:"kind,omitempty"` // its type: "city", "date", "digits", "yes_no", ...
	// Phrases are likely answers, as right-hand sides of JSGF rules. They are not part
	// of the JSON form, since they follow from the state; see [Agent.Expect]. The
	// slice is shared and must not be modified.
	Phrases []string `json:"-"`
	// Digits is how many digits the answer has at most; 0 if it is not made of digits, or
	// their number is not known. Like Phrases it follows from the state.
	Digits int `json:"-"`
	// Secret reports whether the answer must not be recorded or shown.
	Secret bool `json:"secret,omitempty"`
	// ReadBack reports whether the agent repeats a value that the user has given. A
	// backchannel does not interrupt it.
	ReadBack bool `json:"read_back,omitempty"`
}

// Equal reports whether two expectations are the same.
func (e Expectation) Equal(other Expectation) bool {
	return e.Slot == other.Slot && e.Kind == other.Kind && e.Digits == other.Digits && e.Secret == other.Secret && e.ReadBack == other.ReadBack &&
		slices.Equal(e.Phrases, other.Phrases)
}

// ActionCall asks the caller to run an action once.
type ActionCall struct {
	// ID identifies the call. The caller returns the result as an [ActionEnded] with
	// the same ID. A retry that the user asks for after a failure has a new ID.
	ID string
	// Key is the idempotency key. It is the same for all calls of one run of the
	// action, including retries, and unique among the runs of the conversation.
	Key     string
	Name    string
	Inputs  map[string]any // a copy; never nil
	Secrets []string       // names of the inputs that must not be logged or shown
	Attempt int            // from 1
	Long    bool           // see [agent.Action]
}

// UnderstandRequest asks a model for the commands in a message. [UnderstandingRequest]
// builds the prompt, and [Agent.Interpret] reads the answer.
type UnderstandRequest struct {
	Text       string
	Flow       string         // the active flow, or ""
	Slot       string         // the awaited slot, or ""
	Confirming bool           // whether a yes or no is awaited
	Slots      map[string]any // the values collected so far, secrets masked; a copy
}

// Clock is the time of a step. The package does not read the system clock.
type Clock = time.Time
