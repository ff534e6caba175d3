package hub

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"time"
)

// traceLog keeps a trace in memory, line by line, up to a bound: a trace replays
// from its beginning, so that the rest is what is left out. Write never blocks.
// Its methods may be called from any goroutine.
type traceLog struct {
	each func(line []byte) // sees each line behind the first; it keeps the bytes

	mu    sync.Mutex // guards all below
	lines [][]byte
	size  int
	bound int
	full  bool
	part  []byte // a line whose end has not come
	began bool   // the header has come
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

// Trace is what there is of a trace.
type Trace struct {
	Lines [][]byte // each with its end of line; not to be changed
	// Cut: the trace went on beyond its bound.
	Cut bool
}

func (t *traceLog) trace() Trace {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Trace{Lines: slices.Clone(t.lines), Cut: t.full}
}

// held is how many bytes there are.
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

// tell publishes a message when the state that it follows from is kept, in the order of
// the calls.
func (c *Conversation) tell(m Message) {
	if s := c.session.Load(); s != nil {
		s.WhenKept(func() { c.feed.publish(m) })
		return
	}
	c.feed.publish(m)
}
