package eval

import (
	"context"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/turn"
)

// Outcome is what became of an answer.
type Outcome struct {
	Taken string        // the value that the slot has; empty if none was taken
	Asked bool          // the agent asked again, or whether it had understood right
	Words string        // of the recognizer
	Sure  float64       // its confidence in them
	After time.Duration // from the end of the answer to the end of the turn
}

// Right reports whether the wanted value was taken.
func (o Outcome) Right(want string) bool { return o.Taken == want }

// Wrong reports whether another value was taken.
func (o Outcome) Wrong(want string) bool { return o.Taken != "" && o.Taken != want }

// Fill holds a call in which the answer is given to the question for its slot.
func Fill(ctx context.Context, s Services, t turn.Options, a Answer) (Outcome, error) {
	c, err := hold(ctx, s, a.Slot, t, a.PCM)
	if err != nil {
		return Outcome{}, err
	}
	var o Outcome
	for _, text := range c.said {
		if v, ok := strings.CutPrefix(text, "It is "); ok {
			o.Taken = strings.TrimSuffix(v, ".")
		}
	}
	o.Asked = o.Taken == "" && len(c.said) > 1
	for _, e := range c.events {
		switch ev := e.ev.(type) { //nolint:gochecksumtype // the other events do not count
		case conv.STTFinal:
			o.Words, o.Sure = ev.Text, ev.Confidence
		case conv.TurnEnded:
			if len(c.began) > 0 {
				o.After = e.at - c.began[0] - a.End
			}
		}
	}
	return o, nil
}
