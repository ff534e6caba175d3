package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog/agent"
)

// Difference reports the first step at which a replay differs from its trace.
type Difference struct {
	Line     int
	Recorded []byte // line in the trace
	Replayed []byte // what the machine does now
}

// Error returns the line number and both versions of the line.
func (d *Difference) Error() string {
	return fmt.Sprintf("trace line %d: the replay differs\nrecorded: %s\nreplayed: %s", d.Line, d.Recorded, d.Replayed)
}

// Player replays recorded conversations and compares the output of every step. It
// must be used by one goroutine at a time.
type Player struct {
	// Agent contains the agent's files for a trace without them, such as a client's
	// copy.
	Agent []agent.File
	// Each, if not nil, is called for every line.
	Each func(Line, conv.Event, *conv.Conversation)
	// Steps is the number of steps. Taken is the number of those that depend on a
	// secret: they are not repeated; their recorded output is used instead.
	Steps, Taken int
}

// Replay plays a trace that contains its agent, see [Player]. It returns the number
// of steps.
func Replay(r io.Reader, each func(Line, conv.Event, *conv.Conversation)) (steps int, err error) {
	p := Player{Each: each}
	err = p.Play(r)
	return p.Steps, err
}

// Play steps all traces in r to their end, each with a conversation of its own. It
// returns a [*Difference] at the first step that is not identical.
func (p *Player) Play(r io.Reader) error {
	t, err := NewReader(r)
	if err != nil {
		return err
	}
	for more := true; more; {
		if err := p.play(t); err != nil {
			return err
		}
		if more, err = t.More(); err != nil {
			return err
		}
	}
	return nil
}

// play steps one trace to its end.
func (p *Player) play(t *Reader) error {
	h, err := t.Header().With(p.Agent)
	if err != nil {
		return err
	}
	c, err := h.Conversation()
	if err != nil {
		return err
	}
	for {
		line, ev, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		offset, err := Offset(line.At)
		if err != nil {
			return fmt.Errorf("trace line %d: %w", t.Number(), err)
		}
		if line.After != nil {
			err = p.take(c, line, h.Started.Add(offset))
			if err != nil {
				return fmt.Errorf("trace line %d: %w", t.Number(), err)
			}
		} else if err := compare(t.Number(), line, step(c, h.Started, offset, ev), ev); err != nil {
			return err
		}
		p.Steps++
		if p.Each != nil {
			p.Each(line, ev, c)
		}
	}
}

// take applies a step as it was recorded.
func (p *Player) take(c *conv.Conversation, line Line, at time.Time) error {
	out, err := line.output()
	if err != nil {
		return err
	}
	for i := range out.Turns {
		out.Turns[i].At = at
	}
	p.Taken++
	return c.Recall(line.After, out)
}

func step(c *conv.Conversation, started time.Time, offset time.Duration, ev conv.Event) func() (Line, error) {
	c.Step(started.Add(offset), ev)
	return func() (Line, error) { return Describe(c, offset, ev) }
}

// compare compares the recorded line with the replayed one, byte by byte.
func compare(number int, recorded Line, describe func() (Line, error), ev conv.Event) error {
	replayed, err := describe()
	if err != nil {
		return fmt.Errorf("trace line %d: %w", number, err)
	}
	if replayed.In, err = conv.MarshalEvent(ev); err != nil {
		return fmt.Errorf("trace line %d: %w", number, err)
	}
	recorded.In = replayed.In // the event was read from the recorded line
	a, err := json.Marshal(recorded)
	if err != nil {
		return fmt.Errorf("trace line %d: %w", number, err)
	}
	b, err := json.Marshal(replayed)
	if err != nil {
		return fmt.Errorf("trace line %d: %w", number, err)
	}
	if !bytes.Equal(a, b) {
		return &Difference{Line: number, Recorded: a, Replayed: b}
	}
	return nil
}
