package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/internal/process"
	"github.com/hocketvoice/hocket/internal/toolset"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// Tool runs programs. It is safe for concurrent use.
type Tool struct{ o Options }

var _ port.Tool = (*Tool)(nil)

// New makes the tool. It fails where a program, its folder or a variable that it
// needs is not there.
func New(o Options) (*Tool, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("command: %w", err)
	}
	o = o.withDefaults()
	for i := range o.Programs {
		p := &o.Programs[i]
		if err := p.ready(o.Getenv); err != nil {
			return nil, fmt.Errorf("command: %s: %w", p.Name, err)
		}
	}
	return &Tool{o}, nil
}

// Specs are the programs.
func (t *Tool) Specs() []port.ToolSpec {
	list := make([]port.ToolSpec, len(t.o.Programs))
	for i := range t.o.Programs {
		p := &t.o.Programs[i]
		list[i] = port.ToolSpec{
			Name: p.Name, Description: p.Description, Schema: slices.Clone(p.Schema),
			Long: !p.Quick, Irreversible: !p.Repeatable, Confirm: p.Confirm,
		}
	}
	return list
}

// Call runs a program once, to its end: when it returns, nothing of the program is
// left. Whether the arguments fit the schema is checked before: see
// [toolset.Check]. A failure is a [*port.Failure], with the last part of a result
// that the program gave; nothing of the variables handed over by name is in it.
func (t *Tool) Call(ctx context.Context, call port.ToolCall, progress func(string)) (string, error) {
	i := slices.IndexFunc(t.o.Programs, func(p Program) bool { return p.Name == call.Name })
	if i < 0 {
		return "", &port.Failure{Code: errclass.ToolError, Message: fmt.Sprintf("there is no command %q", call.Name)}
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	p := &t.o.Programs[i]
	args, stdin, err := p.fill(call.Arguments)
	if err != nil {
		return "", &port.Failure{Code: errclass.InvalidArgs, Message: fmt.Sprintf("%s: %v", p.Name, err)}
	}
	limited, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	program, err := process.Start(process.Options{
		Command: p.Command, Args: args, Dir: p.Dir, Env: p.Env, Getenv: t.o.Getenv, Grace: t.o.Grace,
		Set: []string{"HOCKET_IDEMPOTENCY_KEY=" + strings.ReplaceAll(call.ID, "\x00", "")},
	})
	if err != nil {
		return "", &port.Failure{Code: errclass.ToolError, Message: fmt.Sprintf("%s: %v", p.Name, err)}
	}
	r := t.follow(limited, p, program, stdin, progress)
	switch {
	case r.done: // whatever else: a result is not lost
		return r.output, nil
	case ctx.Err() != nil:
		return "", toolset.Interrupted(ctx, p.Name, r.partial)
	case r.failure != nil:
		r.failure.Message = p.Name + ": " + r.failure.Message
		r.failure.Partial = r.partial
		return "", r.failure
	case limited.Err() != nil:
		return "", toolset.Interrupted(limited, p.Name, r.partial)
	default:
		how := "it has ended without a result"
		if err := program.Err(); err != nil {
			how = "it has ended with " + err.Error()
		}
		if said := program.Said(); said != "" {
			how += " (it says: " + said + ")"
		}
		return "", &port.Failure{
			Code: errclass.ToolError, Message: p.Name + ": " + how, Partial: r.partial,
		}
	}
}

// follow serves a program until it has ended, and is not to be waited for any more
// when it returns.
func (t *Tool) follow(ctx context.Context, p *Program, program *process.Process, stdin string, progress func(string)) *report {
	news := make(chan string, maxNews)
	r := &report{tell: func(text string) { post(news, text) }, secrets: t.secrets(p)}
	read := make(chan struct{}) // closed when all is read
	var workers sync.WaitGroup
	workers.Go(func() {
		_, _ = program.Stdin.WriteString(stdin) // a program need not read
		_ = program.Stdin.Close()               // it may be closed already
	})
	workers.Go(func() {
		defer close(read)
		scan(program.Stdout, newFormat(p.Output, r), r)
	})
	if progress == nil {
		progress = func(string) {}
	}
	pace := time.NewTimer(0)
	defer pace.Stop()
	ready := (<-chan string)(nil) // news, when it is time for some
	for open := true; open; {
		select {
		case <-ctx.Done():
			open = false
		case <-read:
			open = false
		case <-pace.C:
			ready = news
		case text := <-ready:
			progress(text)
			ready = nil
			pace.Reset(t.o.Pace)
		}
	}
	select {
	case <-read:
		if r.failure == nil {
			program.End()
			break
		}
		program.Terminate()
	default:
		program.Terminate()
	}
	workers.Wait()
	_ = program.Stdout.Close() // all of it was read that counts
	if p.Output == "text" && (program.Err() != nil || ctx.Err() != nil) {
		r.partial, r.done = r.output, false // what it wrote is no result
	}
	for ctx.Err() == nil && len(news) > 0 {
		progress(<-news)
	}
	return r
}

// post leaves a piece of progress for who tells it. It never waits: of what nobody
// has taken the oldest goes, and a sign of life stands for nothing but itself.
func post(news chan string, text string) {
	if text == "" && len(news) > 0 {
		return
	}
	for {
		select {
		case news <- text:
			return
		default:
		}
		select {
		case <-news:
		default:
		}
	}
}

// scan reads a program's lines until it has said all that counts.
func scan(from io.Reader, f format, r *report) {
	limited := &io.LimitedReader{R: from, N: maxTotal + 1}
	s := bufio.NewScanner(limited)
	s.Buffer(make([]byte, 0, 4<<10), maxLine)
	for s.Scan() {
		b := s.Bytes()
		if _, words := f.(*text); len(b) > 0 || words { // between paragraphs
			f.line(b)
		}
		if r.over() {
			return
		}
	}
	err := s.Err()
	switch {
	case limited.N == 0:
		r.fail("", fmt.Sprintf("it has written more than %d bytes", maxTotal))
	case errors.Is(err, bufio.ErrTooLong):
		r.fail("", fmt.Sprintf("it has written a line of more than %d bytes", maxLine))
	case err == nil || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, os.ErrClosed):
		f.end()
	default:
		r.fail("", "what it writes cannot be read")
	}
}

// secrets are the values that are handed over by name.
func (t *Tool) secrets(p *Program) []string {
	list := make([]string, len(p.Env))
	for i, name := range p.Env {
		list[i], _ = t.o.Getenv(name)
	}
	return list
}
