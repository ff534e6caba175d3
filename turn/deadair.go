package turn

import (
	"fmt"
	"slices"
	"time"
)

// DeadAirStep is one step of the escalation in a silence.
type DeadAirStep struct {
	After time.Duration `json:"after"` // since the clock started for this step
	Code  string        `json:"code"`  // what to say, a code of the message catalogue
	End   bool          `json:"end"`   // the call ends after it
}

// DeadAirOptions configure [DeadAir]. The zero value asks twice, ten seconds
// apart, and ends the call after ten more.
type DeadAirOptions struct {
	Steps []DeadAirStep `json:"steps,omitempty"` // default: see DefaultDeadAir
	Off   bool          `json:"off,omitempty"`   // silence is never broken
}

// defaultDeadAir is the escalation of the zero options. It never changes.
var defaultDeadAir = [...]DeadAirStep{
	{After: 10 * time.Second, Code: "checkin.1"},
	{After: 10 * time.Second, Code: "checkin.2"},
	{After: 10 * time.Second, Code: "goodbye", End: true},
}

// DefaultDeadAir is the escalation of the zero options: a copy.
func DefaultDeadAir() []DeadAirStep { return slices.Clone(defaultDeadAir[:]) }

// Validate reports a step without time or code, and a step behind the end.
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

// step is the i-th step, if there is one.
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

// DeadAir watches over silences in which it is the user's turn (seed 004,
// feature 7). It is a pure value for the state of a conversation: comparable,
// copied by assignment, written as JSON; the zero value is ready, and one
// goroutine steps it.
//
// The clock runs while the call is silent: the caller starts it when the
// agent's audio has finished, the user's speech has ended, or work is done,
// whichever is last, and stops it when the agent sounds, the user speaks, or a
// tool or agent works. Start and Stop may be called as often as one likes, so
// that a caller can derive "silent" from its state after each event and report
// it. Before the agent has spoken for the first time the clock does not run.
//
// A step that has passed starts the clock for the next one at once: if its
// message is never heard, the escalation still goes on; if it is, playing it
// stops and its end restarts the clock.
type DeadAir struct {
	Armed bool      `json:"armed"`          // the agent has spoken in this call
	Next  int       `json:"next"`           // the step that comes next
	Since time.Time `json:"since,omitzero"` // when the clock was started; zero while it stands
}

// AgentSpoke tells that audio of the agent has reached the call. Only then
// silence is dead air.
func (d *DeadAir) AgentSpoke() { d.Armed = true }

// Start starts the clock, unless it runs or the agent has not spoken yet.
func (d *DeadAir) Start(now time.Time) {
	if d.Armed && d.Since.IsZero() {
		d.Since = now
	}
}

// Stop stops the clock. The escalation stays where it is.
func (d *DeadAir) Stop() { d.Since = time.Time{} }

// UserActive tells that the user speaks, or that words of theirs have come: the
// escalation begins anew, and so does the clock if it runs.
func (d *DeadAir) UserActive(now time.Time) {
	d.Next = 0
	if !d.Since.IsZero() {
		d.Since = now
	}
}

// Deadline is when Passed wants to be called; zero if never.
func (d *DeadAir) Deadline(o DeadAirOptions) time.Time {
	s, ok := o.step(d.Next)
	if !ok || d.Since.IsZero() {
		return time.Time{}
	}
	return d.Since.Add(s.After)
}

// Passed reports that time has gone on, and gives the step that is due, if any.
// Too early or once too often is harmless. A late call gives one step, not all
// that would have been due.
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
