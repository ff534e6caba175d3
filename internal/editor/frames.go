package editor

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sourcegraph/jsonrpc2"
)

// The limits of a message in bytes.
const (
	maxHead    = 4 << 10
	maxMessage = 4 << 20
)

// frames reads and writes messages, each after a head with its length (Language Server Protocol
// 3.17, "Base Protocol"). One goroutine may read while others write.
type frames struct {
	r *bufio.Reader
	c io.Closer

	bad atomic.Pointer[error] // what was wrong with the bytes; nil if nothing was

	mu sync.Mutex // guards w
	w  io.Writer
}

var _ jsonrpc2.ObjectStream = (*frames)(nil)

func newFrames(r io.Reader, w io.Writer, c io.Closer) *frames {
	return &frames{r: bufio.NewReader(r), w: w, c: c}
}

// ReadObject reads the next message. It returns io.EOF at the end of the connection between two
// messages.
func (f *frames) ReadObject(v any) error {
	b, err := readFrame(f.r)
	if err == nil {
		if err = json.Unmarshal(b, v); err != nil {
			err = fmt.Errorf("a message must be JSON-RPC 2.0: %w", err)
		}
	}
	over := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, fs.ErrClosed)
	if err != nil && !over {
		f.bad.Store(&err)
	}
	return err
}

// failed returns an error if the bytes were not those of messages.
func (f *frames) failed() error {
	if err := f.bad.Load(); err != nil {
		return fmt.Errorf("editor: %w", *err)
	}
	return nil
}

// readFrame reads the bytes of the next message.
func readFrame(r *bufio.Reader) ([]byte, error) {
	length, err := readHead(r)
	if err != nil {
		return nil, err
	}
	b := make([]byte, length)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, io.ErrUnexpectedEOF
	}
	return b, nil
}

// readHead reads the head of a message and returns the length of the message.
func readHead(r *bufio.Reader) (length int, err error) {
	length = -1
	for left := maxHead; ; {
		line, err := readLine(r, left)
		if errors.Is(err, io.EOF) && line == "" && left == maxHead {
			return 0, io.EOF
		}
		if err != nil {
			return 0, fmt.Errorf("the head of a message: %w", err)
		}
		left -= len(line)
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			break
		}
		name, value, ok := strings.Cut(line, ":")
		switch {
		case !ok:
			return 0, errors.New("the head of a message has a line without a colon")
		case !strings.EqualFold(strings.TrimSpace(name), "Content-Length"):
			continue
		case length >= 0:
			return 0, errors.New("the head of a message has two lengths")
		}
		n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 31)
		if err != nil || n > maxMessage {
			return 0, fmt.Errorf("the length of a message must be at most %d bytes", maxMessage)
		}
		length = int(n)
	}
	if length < 0 {
		return 0, errors.New("the head of a message must have a Content-Length")
	}
	return length, nil
}

// readLine reads a line with its end. Its bytes must not exceed most.
func readLine(r *bufio.Reader, most int) (string, error) {
	var line strings.Builder
	for line.Len() < most {
		b, err := r.ReadByte()
		if err != nil {
			return line.String(), err
		}
		line.WriteByte(b)
		if b == '\n' {
			return line.String(), nil
		}
	}
	return "", fmt.Errorf("it has more than %d bytes", maxHead)
}

// WriteObject writes a message. It returns an error if the message is too long for the other
// side.
func (f *frames) WriteObject(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(b) > maxMessage {
		return fmt.Errorf("a message of %d bytes: expected at most %d", len(b), maxMessage)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	_, err = f.w.Write(append([]byte("Content-Length: "+strconv.Itoa(len(b))+"\r\n\r\n"), b...))
	return err
}

// Close closes the connection.
func (f *frames) Close() error { return f.c.Close() }
