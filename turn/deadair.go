package turn

import (
	"fmt"
	"slices"
	"time"
)

// DeadAirStep is one step of the escalation during a silence.
type DeadAirStep struct {
	After time.Duration `json:"after"` // time since the clock started for this step
	Code  string        `json:"code"`  // code of the message to say
	End   bool          `json:"end"`   // whether the call ends after the message
}

// DeadAirOptions configures [DeadAir]. The zero value asks twice, at intervals of ten
// seconds, and ends the call after another ten seconds.
type DeadAirOptions struct {
	Steps []DeadAirStep `json:"steps,omitempty"` // default: see DefaultDeadAir
	Off   bool          `json:"off,omitempty"`   // the agent never speaks into a silence
}

// defaultDeadAir is the escalation of the zero options.
var defaultDeadAir = [...]DeadAirStep{
	{After: 10 * time.Second, Code: "checkin.1"},
	{After: 10 * time.Second, Code: "checkin.2"},
	{After: 10 * time.Second, Code: "goodbye", End: true},
}

// DefaultDeadAir returns a copy of the escalation of the zero options.
func DefaultDeadAir() []DeadAirStep { return slices.Clone(defaultDeadAir[:]) }

// Validate returns an error for a step without a duration or code, and for a step after the
// end.
func (o DeadAirOptions) Validate() error {
	for i, s := range o.Steps {
		step := fmt.Sprintf("Steps[%d].", i)
		switch {
		case s.After <= 0:
			return &FieldError{Field: step + "After", Value: s.After, Want: "a duration above 0"}
		case s.Code == "":
			return &FieldError{Field: step + "Code", Value: s.Code, Want: "the code of a message"}
		case s.End && i < len(o.Steps)-1:
			return &FieldError{Field: step + "End", Value: s.End, Want: fmt.Sprintf("only in the last of the %d steps", len(o.Steps))}
		}
	}
	return nil
}

// step returns the i-th step and reports whether it exists.
func (o DeadAirOptions) step(i int) (DeadAirStep, bool) {
	steps := o.Steps
	if len(steps) == 0 {
		steps = defaultDeadAir[:]
	}
	if o.Off || i < 0 || i >= len(steps) {
		return DeadAirStep{}, false
	}
	return steps[i], true
}

// DeadAir watches silences in which it is the user's turn (seed 004, feature 7). It is a
// pure value for the state of a conversation: comparable, copied by assignment, encoded as
// JSON. The zero value is ready for use. It is not safe for concurrent use.
//
// The clock runs while the call is silent. The caller starts it when the agent's audio, the
// user's speech and all work have ended, and stops it when the agent is audible, the user
// speaks, or a tool or model works. Start and Stop may be called repeatedly, so a caller
// can compute from its state after each event whether the call is silent, and call one of
// them. The clock does not run before the agent has spoken for the first time.
//
// A step that is due starts the clock for the next one at once. If its message is never
// played, the escalation continues; if it is, playing it stops the clock and its end
// restarts it.
type DeadAir struct {
	Armed bool      `json:"armed"`          // whether the agent has spoken in this call
	Next  int       `json:"next"`           // index of the next step
	Since time.Time `json:"since,omitzero"` // when the clock was started; zero while it is stopped
}

// AgentSpoke records that audio of the agent has reached the call. Silence before that is
// not dead air.
func (d *DeadAir) AgentSpoke() { d.Armed = true }

// Start starts the clock, unless it is running or the agent has not spoken yet.
func (d *DeadAir) Start(now time.Time) {
	if d.Armed && d.Since.IsZero() {
		d.Since = now
	}
}

// Stop stops the clock. The escalation keeps its step.
func (d *DeadAir) Stop() { d.Since = time.Time{} }

// UserActive records that the user is speaking or that words of theirs have arrived. The
// escalation begins again, and so does the clock if it is running.
func (d *DeadAir) UserActive(now time.Time) {
	d.Next = 0
	if !d.Since.IsZero() {
		d.Since = now
	}
}

// Deadline returns the time at which Passed must be called, or the zero time if there is
// none.
func (d *DeadAir) Deadline(o DeadAirOptions) time.Time {
	s, ok := o.step(d.Next)
	if !ok || d.Since.IsZero() {
		return time.Time{}
	}
	return d.Since.Add(s.After)
}

// Passed handles the passing of time. It returns the step that is due, if any. A call that
// is too early or repeated does nothing. A late call returns only one step.
func (d *DeadAir) Passed(o DeadAirOptions, now time.Time) (DeadAirStep, bool) {
	due := d.Deadline(o)
	if due.IsZero() || now.Before(due) {
		return DeadAirStep{}, false
	}
	s, _ := o.step(d.Next)
	d.Next++
	d.Since = now
	return s, true
}
