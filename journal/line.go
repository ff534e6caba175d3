package journal

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/conv/view"
)

// Line is one step in a trace and in the output of "hocket step".
type Line struct {
	At    float64 `json:"at"`    // milliseconds since the start
	Event string  `json:"event"` // the event's type
	// In is the whole event. "hocket step" omits it, since its caller has it.
	In          json.RawMessage   `json:"in,omitempty"`
	State       string            `json:"state"`
	Views       *view.Views       `json:"views,omitempty"`
	Transitions []Transition      `json:"transitions"`
	Effects     []json.RawMessage `json:"effects"`
	Turns       []Turn            `json:"turns,omitempty"`
	Late        bool              `json:"late,omitempty"`
	Deferred    bool              `json:"deferred,omitempty"`
	// After is the state after a step that depends on a secret: a snapshot without
	// the secrets. A replay continues from it instead of repeating the step.
	After json.RawMessage `json:"after,omitempty"`
}

// Transition is a change of phase.
type Transition struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Cause string `json:"cause"`
}

// Turn is the beginning or the end of a turn.
type Turn struct {
	Type       conv.TurnEventType `json:"type"`
	Turn       int                `json:"turn"`
	Role       conv.Role          `json:"role"`
	Kind       conv.ReplyKind     `json:"kind,omitempty"`
	Confidence float64            `json:"confidence,omitempty"`
	DurationMS float64            `json:"duration_ms,omitempty"`
}

// Millis converts a duration to the milliseconds of a [Line].
func Millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Offset is the inverse of [Millis]. It is exact to the nanosecond.
func Offset(ms float64) (time.Duration, error) {
	if math.IsNaN(ms) || ms < 0 || ms > Millis(10*365*24*time.Hour) {
		return 0, fmt.Errorf("field at is %v: expected milliseconds since the start, 0 or more", ms)
	}
	return time.Duration(math.Round(ms * float64(time.Millisecond))), nil
}

// Describe returns the line for the last step of c, which handled ev. at is the
// time since the start.
func Describe(c *conv.Conversation, at time.Duration, ev conv.Event) (Line, error) {
	out := c.Last()
	l := Line{
		At: Millis(at), Event: conv.EventType(ev), State: c.Phase().String(),
		Transitions: make([]Transition, 0, len(out.Transitions)),
		Effects:     make([]json.RawMessage, 0, len(out.Effects)),
		Late:        out.Late, Deferred: out.Deferred,
	}
	for _, t := range out.Transitions {
		l.Transitions = append(l.Transitions, Transition{t.From.String(), t.To.String(), string(t.Cause)})
	}
	for _, e := range out.Effects {
		b, err := conv.MarshalEffect(e)
		if err != nil {
			return Line{}, err
		}
		l.Effects = append(l.Effects, b)
	}
	for _, t := range out.Turns {
		l.Turns = append(l.Turns, Turn{t.Type, t.Turn, t.Role, t.Kind, t.Confidence, Millis(t.Duration)})
	}
	return l, nil
}

// output returns the part of the step's output that a line contains.
func (l *Line) output() (conv.Output, error) {
	out := conv.Output{Late: l.Late, Deferred: l.Deferred}
	for _, b := range l.Effects {
		e, err := conv.UnmarshalEffect(b)
		if err != nil {
			return conv.Output{}, err
		}
		out.Effects = append(out.Effects, e)
	}
	for _, t := range l.Turns {
		d, err := Offset(t.DurationMS)
		if err != nil {
			return conv.Output{}, err
		}
		out.Turns = append(out.Turns, conv.TurnEvent{Type: t.Type, Turn: t.Turn, Role: t.Role, Kind: t.Kind, Confidence: t.Confidence, Duration: d})
	}
	return out, nil
}
