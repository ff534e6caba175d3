package dialog

import (
	"slices"
	"time"
)

// Input is what the engine takes: something was said, an action ended, a model
// understood.
//
//sumtype:decl
type Input interface{ isInput() }

// Message is what the user said or typed.
type Message struct {
	Text string
	// Confidence is the recognizer's, 0 to 1. Typed text has 1; 0 is unknown and
	// doubts nothing. See [agent.Settings.MinConfidence].
	Confidence float64
	// Early: it was begun before the user had heard the values that they are asked to
	// confirm ([Output.Confirm]): a yes in it does not count. Unheard is the part of
	// the question that is to be said again; empty if all that matters was heard since.
	Early   bool
	Unheard string
}

// ActionEnded is the result of the action that the last [Output] asked for.
type ActionEnded struct {
	ID      string         // of the [ActionCall]
	Outputs map[string]any // by the names that the action declares
	// Missing names slots that the action needs and did not get.
	Missing []string
	Failed  bool
	// Cancelled: the user called it off while it ran, and with it the flow.
	Cancelled bool
	Code      string // of the failure
	Message   string
}

// Understood is what a message means, by the words alone ([Agent.Understand]) or
// by a model's answer to an [UnderstandRequest] ([Agent.Interpret]).
type Understood struct {
	Commands []Command
	// Dropped is what was understood and the agent does not take.
	Dropped []Dropped
	// Failed: the model did not answer or broke its schema; the engine falls back
	// to its own understanding.
	Failed bool
}

func (Message) isInput()     {}
func (ActionEnded) isInput() {}
func (Understood) isInput()  {}

// Output is what follows from an input. At most one of Act, Understand and Ask
// is set; while one is, the turn is not over: its answer comes as the next
// Input.
type Output struct {
	// Say is what the agent says now, in order.
	Say []Line
	// Confirm: Say asks for a yes or no to what it says.
	Confirm *Question
	// Expect is what the agent awaits after it has spoken.
	Expect Expectation
	// Act asks to run an action.
	Act *ActionCall
	// Understand asks a model what the user meant.
	Understand *UnderstandRequest
	// Ask gives the turn to the model: the flows do not cover it.
	Ask bool
	// Handoff: the user is to be given to a person.
	Handoff bool
	// End: the agent ends the conversation after it has spoken.
	End bool
}

// Question is one whose yes counts only from somebody who has heard what it is
// about: see [Message.Early].
type Question struct {
	Text string `json:"text"`           // the end of what is said
	Tail string `json:"tail,omitempty"` // the end of Text, behind the last value
}

// Line is one thing to say.
type Line struct {
	Text string
	// Fixed forbids rewording by a model.
	Fixed bool
}

// Expectation is what the agent awaits next. It sets the turn-taking, the
// barge-in profile and the recognizer's grammar. The zero value expects
// anything.
type Expectation struct {
	Slot string `json:"slot,omitempty"` // the slot that is asked for
	Kind string `json:"kind,omitempty"` // its type: "city", "date", "digits", "yes_no", ...
	// Phrases are likely answers as right-hand sides of JSGF rules. They follow
	// from the dialogue's state and are not written with it: see [Agent.Expect].
	// They are shared: nobody changes them.
	Phrases []string `json:"-"`
	// Secret: what is said next is not to be written down or shown.
	Secret bool `json:"secret,omitempty"`
	// ReadBack: what is being said repeats a value that was given; a backchannel
	// does not break it off.
	ReadBack bool `json:"read_back,omitempty"`
}

// Equal reports whether two expectations are the same.
func (e Expectation) Equal(other Expectation) bool {
	return e.Slot == other.Slot && e.Kind == other.Kind && e.Secret == other.Secret && e.ReadBack == other.ReadBack &&
		slices.Equal(e.Phrases, other.Phrases)
}

// ActionCall is an action to run, once.
type ActionCall struct {
	// ID names this call: its result comes back as [ActionEnded] with the same
	// ID. A retry that the user asks for after a failure is a new call.
	ID string
	// Key is the idempotency key: the same for all calls of one run of the
	// action, retries included, and different for every other run in the
	// conversation. It is unique within the conversation only.
	Key     string
	Name    string
	Inputs  map[string]any // the caller's own; never nil
	Secrets []string       // names of inputs that are not to be logged or shown
	Attempt int            // from 1
	Long    bool           // see [agent.Action]
}

// UnderstandRequest asks a model for commands: [UnderstandingRequest] makes the
// prompt of it, and [Agent.Interpret] reads the answer.
type UnderstandRequest struct {
	Text       string
	Flow       string         // the active flow, "" without one
	Slot       string         // the slot that is awaited
	Confirming bool           // a yes or no is awaited
	Slots      map[string]any // collected so far; the caller's own
}

// Clock is the instant of a step; package dialog reads no clock of its own.
type Clock = time.Time
