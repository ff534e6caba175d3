package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hocketvoice/hocket/conv"
)

// Difference is the first step at which a replay and its trace part.
type Difference struct {
	Line     int
	Recorded []byte // the trace's line
	Replayed []byte // what the machine does now
}

// Error says where they part.
func (d *Difference) Error() string {
	return fmt.Sprintf("trace line %d: the machine does something else now\nrecorded: %s\nreplayed: %s", d.Line, d.Recorded, d.Replayed)
}

// Replay steps a recorded conversation again and compares everything that each
// step did. It returns the number of steps, and a [*Difference] at the first
// one that is not the same bit for bit. each, if not nil, sees every line. Where
// several traces stand one behind the other, each is stepped by a conversation of its
// own.
func Replay(r io.Reader, each func(Line, conv.Event, *conv.Conversation)) (steps int, err error) {
	t, err := NewReader(r)
	if err != nil {
		return 0, err
	}
	for more := true; more; {
		n, err := replay(t, each)
		steps += n
		if err != nil {
			return steps, err
		}
		if more, err = t.More(); err != nil {
			return steps, err
		}
	}
	return steps, nil
}

// replay steps one trace to its end.
func replay(t *Reader, each func(Line, conv.Event, *conv.Conversation)) (steps int, err error) {
	c, err := t.Header().Conversation()
	if err != nil {
		return 0, err
	}
	for {
		line, ev, err := t.Next()
		if errors.Is(err, io.EOF) {
			return steps, nil
		}
		if err != nil {
			return steps, err
		}
		offset, err := Offset(line.At)
		if err != nil {
			return steps, fmt.Errorf("trace line %d: %w", t.Number(), err)
		}
		if err := compare(t.Number(), line, step(c, t.Header().Started, offset, ev), ev); err != nil {
			return steps, err
		}
		steps++
		if each != nil {
			each(line, ev, c)
		}
	}
}

func step(c *conv.Conversation, started time.Time, offset time.Duration, ev conv.Event) func() (Line, error) {
	c.Step(started.Add(offset), ev)
	return func() (Line, error) { return Describe(c, offset, ev) }
}

// compare holds the recorded line against the replayed one, as bytes.
func compare(number int, recorded Line, describe func() (Line, error), ev conv.Event) error {
	replayed, err := describe()
	if err != nil {
		return fmt.Errorf("trace line %d: %w", number, err)
	}
	if replayed.In, err = conv.MarshalEvent(ev); err != nil {
		return fmt.Errorf("trace line %d: %w", number, err)
	}
	recorded.In = replayed.In // the event was read from it
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
