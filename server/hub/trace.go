package hub

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"time"
)

// traceLog stores a trace in memory, line by line, up to a bound. It keeps the
// beginning, since a trace is replayed from there. Write never blocks. It is safe
// for concurrent use.
type traceLog struct {
	each func(line []byte) // called for each line after the header; may keep the bytes

	mu    sync.Mutex // guards the fields below
	lines [][]byte
	size  int
	bound int
	full  bool
	part  []byte // an incomplete line
	began bool   // the header is complete
}

var _ io.Writer = (*traceLog)(nil)

// Write takes pieces of the trace.
func (t *traceLog) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			t.part = append(t.part, b...)
			break
		}
		line := append(slices.Clip(t.part), b[:i+1]...)
		t.part, b = nil, b[i+1:]
		t.take(line)
	}
	return n, nil
}

func (t *traceLog) take(line []byte) {
	t.mu.Lock()
	first := !t.began
	t.began = true
	if t.size+len(line) > t.bound {
		t.full = true
	}
	if !t.full {
		t.lines = append(t.lines, line)
		t.size += len(line)
	}
	t.mu.Unlock()
	if !first && t.each != nil {
		t.each(line)
	}
}

// Trace is the stored part of a trace.
type Trace struct {
	Lines [][]byte // each with its newline; must not be modified
	// Cut reports that the rest exceeded the bound.
	Cut bool
}

func (t *traceLog) trace() Trace {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Trace{Lines: slices.Clone(t.lines), Cut: t.full}
}

// held returns the number of bytes stored.
func (t *traceLog) held() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.size
}

// stepLine publishes a line of the trace. It runs on the loop's goroutine, or on
// the uplink's for a frame's features.
func (c *Conversation) stepLine(line []byte) {
	c.tell(Message{Type: TypeStep, At: c.at(time.Now()), Payload: line[:len(line)-1]})
}

// tell publishes a message when the state from which it follows is saved. Messages are
// published in the order of the calls.
func (c *Conversation) tell(m Message) {
	if s := c.session.Load(); s != nil {
		s.WhenKept(func() { c.feed.publish(m) })
		return
	}
	c.feed.publish(m)
}
