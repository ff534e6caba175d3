package journal

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/conv"
)

// Alternative is a step at which the machine decides otherwise with other options.
type Alternative struct {
	At    time.Time `json:"at"`
	Event string    `json:"event"` // type of the event
	// Recorded and Other are the decisions that only one of the two has made: the types of
	// effects, and "-> " with a phase that was entered.
	Recorded []string `json:"recorded"`
	Other    []string `json:"other"`
}

// mostAlternatives bounds the steps that [Alternatives] returns.
const mostAlternatives = 500

// Alternatives replays the traces in r, and returns the first 500 steps at which the machine
// decides otherwise if change has changed its options. Each step begins in the state that was
// recorded, so that one decision that differs does not change all that follow. Steps that
// depend on a secret are left out. It returns an error for a trace that does not replay, and
// for options that are invalid.
func Alternatives(r io.Reader, change func(*conv.Options)) ([]Alternative, error) {
	list := []Alternative{}
	t, err := NewReader(r)
	if err != nil {
		return nil, err
	}
	for more := true; more; {
		if list, err = alternatives(t, change, list); err != nil {
			return nil, err
		}
		if more, err = t.More(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// alternatives appends those of one trace.
func alternatives(t *Reader, change func(*conv.Options), list []Alternative) ([]Alternative, error) {
	h := t.Header()
	c, err := h.Conversation()
	if err != nil {
		return nil, err
	}
	o := c.Options()
	change(&o)
	var p Player
	for {
		line, ev, err := t.Next()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		offset, err := Offset(line.At)
		if err != nil {
			return nil, fmt.Errorf("trace line %d: %w", t.Number(), err)
		}
		at := h.Started.Add(offset)
		if line.After != nil {
			if err := p.take(c, line, at); err != nil {
				return nil, fmt.Errorf("trace line %d: %w", t.Number(), err)
			}
			continue
		}
		before, err := c.Snapshot()
		if err != nil {
			return nil, fmt.Errorf("trace line %d: %w", t.Number(), err)
		}
		c.Step(at, ev)
		if len(list) == mostAlternatives {
			continue
		}
		other, err := conv.Restore(o, before)
		if err != nil {
			return nil, fmt.Errorf("trace line %d: %w", t.Number(), err)
		}
		other.Step(at, ev)
		did, does := decisions(c), decisions(other)
		a := Alternative{At: at, Event: conv.EventType(ev), Recorded: without(did, does), Other: without(does, did)}
		if len(a.Recorded)+len(a.Other) > 0 {
			list = append(list, a)
		}
	}
}

// decisions returns what the last step has decided.
func decisions(c *conv.Conversation) []string {
	out := c.Last()
	var list []string
	for i := range out.Transitions {
		list = append(list, "-> "+out.Transitions[i].To.String())
	}
	for _, e := range out.Effects {
		list = append(list, conv.EffectType(e))
	}
	return list
}

// without returns the elements of a that are not in b, each once.
func without(a, b []string) []string {
	list := []string{}
	for _, s := range a {
		if !slices.Contains(b, s) && !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}
