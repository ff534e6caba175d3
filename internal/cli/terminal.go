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

// errInterrupted is Ctrl-C where a line is awaited, or a signal to end.
var errInterrupted = errors.New("interrupted")

// input reads the lines of a chat: of a terminal, where they can be edited and earlier ones
// come back, or of whatever else is the standard input.
type input struct {
	ask    chan struct{}
	answer chan entered
	raw    func() (restore func(), err error) // nil: this is not a terminal
}

// entered is a line, or why there is none.
type entered struct {
	line string
	err  error
}

// input begins to read. What reads ends with the input or with the program: nothing ends a
// read of a terminal.
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

// terminal reports whether somebody types.
func (in *input) terminal() bool { return in.raw != nil }

func (in *input) close() { close(in.ask) }

// read returns the next line: io.EOF at the end, and errInterrupted at Ctrl-C or when the
// program is told to end.
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

// scan reads lines of a file or a pipe.
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

// keys is a terminal that notices Ctrl-C, which package term takes for the end of the input.
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

// edit reads lines of a terminal. raw hands the terminal over to it for one line.
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
			_ = t.SetSize(width, height) // it is for lines that are longer
		}
		state, err := term.MakeRaw(int(f.Fd()))
		if err != nil {
			return nil, badInputf("the terminal: %w", err)
		}
		return func() { _ = term.Restore(int(f.Fd()), state) }, nil
	}
	return read, raw
}

// terminal is the terminal that somebody types at and reads from; nil if there is none.
func (s *streams) terminal() *os.File {
	in, ok1 := s.in.(*os.File)
	out, ok2 := s.out.(*os.File)
	if !ok1 || !ok2 || !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return in
}

// coloured reports whether the output has colours: it is a terminal, and NO_COLOR is not set
// (no-color.org).
func (s *streams) coloured() bool { return s.terminal() != nil && os.Getenv("NO_COLOR") == "" }

// speaker names the agent before its words, where somebody reads.
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
