package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

// errInterrupted reports Ctrl-C at the prompt, or a signal to end.
var errInterrupted = errors.New("interrupted")

// input reads the lines of a chat, from a terminal with line editing and history, or
// from another standard input.
type input struct {
	ask    chan struct{}
	answer chan entered
	raw    func() (restore func(), err error) // nil if the input is not a terminal
}

// entered is a line or an error.
type entered struct {
	line string
	err  error
}

// input starts reading. The reading goroutine ends with the input or the program, since
// a read from a terminal cannot be interrupted.
func (c *chatCmd) input(s *streams) *input {
	in := &input{ask: make(chan struct{}), answer: make(chan entered, 1)}
	read := scan(s.in)
	if f := s.terminal(); f != nil && !c.JSON {
		read, in.raw = edit(f, s)
	}
	go func() {
		for range in.ask {
			line, err := read()
			in.answer <- entered{line, err}
		}
	}()
	return in
}

// terminal reports whether the input is a terminal.
func (in *input) terminal() bool { return in.raw != nil }

func (in *input) close() { close(in.ask) }

// read returns the next line. It returns io.EOF at the end, and errInterrupted after
// Ctrl-C or a signal to end.
func (in *input) read(ctx context.Context) (string, error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	if in.raw != nil {
		restore, err := in.raw()
		if err != nil {
			return "", err
		}
		defer restore()
	}
	in.ask <- struct{}{}
	select {
	case t := <-in.answer:
		return t.line, t.err
	case <-ctx.Done():
		return "", errInterrupted
	}
}

// scan returns a function that reads lines from a file or a pipe.
func scan(r io.Reader) func() (string, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestLine)
	return func() (string, error) {
		if lines.Scan() {
			return lines.Text(), nil
		}
		switch err := lines.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			return "", badInputf("the line is too long: at most %d bytes are allowed", longestLine)
		case err != nil:
			return "", badInputf("read the input: %w", err)
		}
		return "", io.EOF
	}
}

// keys is a terminal that detects Ctrl-C, which package term reports as the end of the
// input.
type keys struct {
	io.Reader
	io.Writer
	interrupted bool
}

func (k *keys) Read(p []byte) (int, error) {
	n, err := k.Reader.Read(p)
	for _, b := range p[:n] {
		k.interrupted = k.interrupted || b == 3
	}
	return n, err
}

// edit returns functions for reading lines from a terminal. raw puts the terminal into
// raw mode for one line and returns a function that restores it.
func edit(f *os.File, s *streams) (read func() (string, error), raw func() (func(), error)) {
	k := &keys{Reader: f, Writer: s.out}
	prompt := "you    "
	if s.coloured() {
		prompt = "\x1b[1myou\x1b[0m    "
	}
	t := term.NewTerminal(k, prompt)
	read = func() (string, error) {
		line, err := t.ReadLine()
		switch {
		case k.interrupted:
			return "", errInterrupted
		case len(line) > longestLine:
			return "", badInputf("the line is too long: at most %d bytes are allowed", longestLine)
		case errors.Is(err, term.ErrPasteIndicator):
			err = nil
		}
		return line, err
	}
	raw = func() (func(), error) {
		if width, height, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			_ = t.SetSize(width, height) // only needed for long lines
		}
		state, err := term.MakeRaw(int(f.Fd()))
		if err != nil {
			return nil, badInputf("the terminal: %w", err)
		}
		return func() { _ = term.Restore(int(f.Fd()), state) }, nil
	}
	return read, raw
}

// terminal returns the terminal if the input and the output are one, or nil.
func (s *streams) terminal() *os.File {
	in, ok1 := s.in.(*os.File)
	out, ok2 := s.out.(*os.File)
	if !ok1 || !ok2 || !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return in
}

// coloured reports whether the output is coloured: it is a terminal, and NO_COLOR is
// not set (no-color.org).
func (s *streams) coloured() bool { return s.terminal() != nil && os.Getenv("NO_COLOR") == "" }

// speaker returns the agent's name to be printed before its words on a terminal, or "".
func (s *streams) speaker() string {
	switch {
	case s.coloured():
		return "\x1b[1;36magent\x1b[0m  "
	case s.terminal() != nil:
		return "agent  "
	default:
		return ""
	}
}
