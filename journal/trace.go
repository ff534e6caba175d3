package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hocketvoice/hocket/conv"
)

// maxLine bounds a line of a trace: an agent's files are the largest thing on
// one.
const maxLine = 16 << 20

// ErrPrivate refuses to record a conversation whose words must not be written.
var ErrPrivate = errors.New("privacy is \"none\": this conversation is not recorded")

// Writer writes a trace. It is used by one goroutine.
type Writer struct {
	w       io.Writer
	started time.Time
	buf     bytes.Buffer
}

// NewWriter begins a trace with its header. It refuses with [ErrPrivate] where
// privacy forbids it.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	if h.Options.Privacy == conv.PrivacyNone {
		return nil, ErrPrivate
	}
	t := &Writer{w: w, started: h.Started}
	if err := t.write(h); err != nil {
		return nil, err
	}
	t.buf = bytes.Buffer{} // the header carries the agent's files, and no line is as long
	return t, nil
}

// Step writes the last step of c, which took ev at now. Of a conversation that may have
// secrets only what may be shown is written: see [Writer.Put].
func (t *Writer) Step(now time.Time, c *conv.Conversation, ev conv.Event) error {
	return t.Put(now, conv.Shown{Event: ev, Conversation: c})
}

// Put writes a step as it may be shown (conv.Veil).
func (t *Writer) Put(now time.Time, s conv.Shown) error {
	line, err := Describe(s.Conversation, now.Sub(t.started), s.Event)
	if err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	in, err := conv.MarshalEvent(s.Event)
	if err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	line.In, line.After = in, s.After
	return t.write(line)
}

// write puts one whole line, in one call, so that a trace that is cut off ends
// with a line.
func (t *Writer) write(v any) error {
	t.buf.Reset()
	e := json.NewEncoder(&t.buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	if _, err := t.w.Write(t.buf.Bytes()); err != nil {
		return fmt.Errorf("write trace: %w", err)
	}
	return nil
}

// Reader reads a trace, or several that stand one behind the other. It is used by one
// goroutine.
type Reader struct {
	lines  *bufio.Scanner
	number int
	header Header
	ahead  []byte // the header of the next trace, when the end of this one was read
}

// NewReader reads the header.
func NewReader(r io.Reader) (*Reader, error) {
	t := &Reader{lines: bufio.NewScanner(r)}
	t.lines.Buffer(make([]byte, 0, 64<<10), maxLine)
	b, err := t.next()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the trace is empty")
	}
	if err != nil {
		return nil, err
	}
	if err := t.begin(b); err != nil {
		return nil, err
	}
	return t, nil
}

// begin reads the header of a trace.
func (t *Reader) begin(b []byte) error {
	t.header = Header{}
	if err := json.Unmarshal(b, &t.header); err != nil {
		return fmt.Errorf("trace line %d: %w", t.number, err)
	}
	if err := t.header.check(); err != nil {
		return fmt.Errorf("trace line %d: %w", t.number, err)
	}
	return nil
}

// Header is the trace's first line.
func (t *Reader) Header() Header { return t.header }

// More goes on to the trace behind the one that Next has read to its end; ok is false
// where there is none.
func (t *Reader) More() (ok bool, err error) {
	if t.ahead == nil {
		return false, nil
	}
	b := t.ahead
	t.ahead = nil
	return true, t.begin(b)
}

// Number is the number of the line that was read last, from 1.
func (t *Reader) Number() int { return t.number }

// Next reads the next step; io.EOF ends the trace. An error names the line.
func (t *Reader) Next() (Line, conv.Event, error) {
	if t.ahead != nil {
		return Line{}, nil, io.EOF
	}
	b, err := t.next()
	for err == nil && isFrame(b) {
		b, err = t.next()
	}
	if err != nil {
		return Line{}, nil, err
	}
	if isHeader(b) {
		t.ahead = bytes.Clone(b)
		return Line{}, nil, io.EOF
	}
	var line Line
	if err := json.Unmarshal(b, &line); err != nil {
		return Line{}, nil, fmt.Errorf("trace line %d is no step: %w", t.number, err)
	}
	if line.In == nil {
		return Line{}, nil, fmt.Errorf("trace line %d has no field in: expected the event", t.number)
	}
	ev, err := conv.UnmarshalEvent(line.In)
	if err != nil {
		return Line{}, nil, fmt.Errorf("trace line %d: %w", t.number, err)
	}
	return line, ev, nil
}

// isFrame reports whether a line is what the turn controller saw on a frame,
// between the steps (--trace-features).
func isFrame(b []byte) bool {
	return bytes.HasPrefix(b, []byte(`{"timestamp_ms":`))
}

// isHeader reports whether a line begins another trace.
func isHeader(b []byte) bool { return bytes.HasPrefix(b, []byte(`{"format":`)) }

// next is the next line that is not empty.
func (t *Reader) next() ([]byte, error) {
	for t.lines.Scan() {
		t.number++
		if b := bytes.TrimSpace(t.lines.Bytes()); len(b) > 0 {
			return b, nil
		}
	}
	switch err := t.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("trace line %d is longer than %d bytes", t.number+1, maxLine)
	case err != nil:
		return nil, fmt.Errorf("read trace after line %d: %w", t.number, err)
	default:
		return nil, io.EOF
	}
}
