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
	"github.com/hocketvoice/hocket/internal/timezone"
)

// maxLine bounds the length of a line in a trace. The longest lines contain an
// agent's files.
const maxLine = 16 << 20

// ErrPrivate reports a conversation that must not be recorded.
var ErrPrivate = errors.New("a conversation with privacy \"none\" must not be recorded")

// Writer writes a trace. It must be used by one goroutine at a time.
type Writer struct {
	w       io.Writer
	started time.Time
	buf     bytes.Buffer
}

// NewWriter writes the header of a trace. It returns [ErrPrivate] if the
// conversation's privacy forbids a trace.
func NewWriter(w io.Writer, h Header) (*Writer, error) {
	if h.Options.Privacy == conv.PrivacyNone {
		return nil, ErrPrivate
	}
	t := &Writer{w: w, started: h.Started}
	if err := t.write(h); err != nil {
		return nil, err
	}
	t.buf = bytes.Buffer{} // the header contains the agent's files and is much longer than other lines
	return t, nil
}

// Step writes the last step of c, which handled ev at now. If the conversation may
// contain secrets, use [Writer.Put], which omits them.
func (t *Writer) Step(now time.Time, c *conv.Conversation, ev conv.Event) error {
	return t.Put(now, conv.Shown{Event: ev, Conversation: c})
}

// Put writes a step without secrets (conv.Veil).
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

// write writes one line in a single call, so that an interrupted trace ends with a
// whole line.
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

// Reader reads one trace or several consecutive ones. It must be used by one
// goroutine at a time.
type Reader struct {
	lines  *bufio.Scanner
	number int
	header Header
	ahead  []byte // header of the next trace, read at the end of this one
}

// NewReader reads the header of the first trace.
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
	// Whatever the zone of this process is, a day is the one that it was.
	loc := timezone.Of(t.header.Started)
	if t.header.Timezone != "" {
		var err error
		if loc, err = timezone.Load(t.header.Timezone); err != nil {
			return fmt.Errorf("trace line %d: field timezone is %q: %w", t.number, t.header.Timezone, err)
		}
	}
	t.header.Started = t.header.Started.In(loc)
	return nil
}

// Header returns the first line of the current trace.
func (t *Reader) Header() Header { return t.header }

// More continues with the next trace, after Next has returned io.EOF. ok is false
// if there is none.
func (t *Reader) More() (ok bool, err error) {
	if t.ahead == nil {
		return false, nil
	}
	b := t.ahead
	t.ahead = nil
	return true, t.begin(b)
}

// Number returns the number of the line that was read last, counted from 1.
func (t *Reader) Number() int { return t.number }

// Next returns the next step, or io.EOF at the end of the trace. Errors name the
// line.
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
		return Line{}, nil, fmt.Errorf("trace line %d: not a step: %w", t.number, err)
	}
	if line.In == nil {
		return Line{}, nil, fmt.Errorf("trace line %d: field in is missing: expected the event", t.number)
	}
	ev, err := conv.UnmarshalEvent(line.In)
	if err != nil {
		return Line{}, nil, fmt.Errorf("trace line %d: %w", t.number, err)
	}
	return line, ev, nil
}

// isFrame reports whether a line contains the turn controller's input for a frame,
// which traces with --trace-features have between the steps.
func isFrame(b []byte) bool {
	return bytes.HasPrefix(b, []byte(`{"timestamp_ms":`))
}

// isHeader reports whether a line is the header of another trace.
func isHeader(b []byte) bool { return bytes.HasPrefix(b, []byte(`{"format":`)) }

// next returns the next line that is not empty.
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
