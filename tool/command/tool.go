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

// New returns the tool. It returns an error if a program, its folder or a variable
// that it needs does not exist.
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

// Specs returns the descriptions of the programs.
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

// Call runs a program once. When it returns, the program and its process group have
// ended. The caller must have validated the arguments, see [toolset.Check]. Errors
// are of type [*port.Failure] with the last partial result, and do not contain the
// values of the variables in Env.
func (t *Tool) Call(ctx context.Context, call port.ToolCall, progress func(string)) (string, error) {
	i := slices.IndexFunc(t.o.Programs, func(p Program) bool { return p.Name == call.Name })
	if i < 0 {
		return "", &port.Failure{Code: errclass.ToolError, Message: fmt.Sprintf("unknown command %q", call.Name)}
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
	case r.done: // a result counts, whatever happened afterwards
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
		how := "it ended without a result"
		if err := program.Err(); err != nil {
			how = "it ended with " + err.Error()
		}
		if said := program.Said(); said != "" {
			how += " (it says: " + said + ")"
		}
		return "", &port.Failure{
			Code: errclass.ToolError, Message: p.Name + ": " + how, Partial: r.partial,
		}
	}
}

// follow communicates with a program until it has ended or must be stopped.
func (t *Tool) follow(ctx context.Context, p *Program, program *process.Process, stdin string, progress func(string)) *report {
	news := make(chan string, maxNews)
	r := &report{tell: func(text string) { post(news, text) }, secrets: t.secrets(p)}
	read := make(chan struct{}) // closed when the output has been read
	var workers sync.WaitGroup
	workers.Go(func() {
		_, _ = program.Stdin.WriteString(stdin) // a program need not read its input
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
	ready := (<-chan string)(nil) // receives progress when a report is due
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
	_ = program.Stdout.Close() // the rest is not needed
	if p.Output == "text" && (program.Err() != nil || ctx.Err() != nil) {
		r.partial, r.done = r.output, false // the program's own result is not valid
	}
	for ctx.Err() == nil && len(news) > 0 {
		progress(<-news)
	}
	return r
}

// post queues a progress text without blocking. It drops the oldest text if the
// queue is full, and a sign of life only if anything else waits.
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

// scan reads a program's lines until the result is complete.
func scan(from io.Reader, f format, r *report) {
	limited := &io.LimitedReader{R: from, N: maxTotal + 1}
	s := bufio.NewScanner(limited)
	s.Buffer(make([]byte, 0, 4<<10), maxLine)
	for s.Scan() {
		b := s.Bytes()
		if _, words := f.(*text); len(b) > 0 || words { // an empty line separates paragraphs
			f.line(b)
		}
		if r.over() {
			return
		}
	}
	err := s.Err()
	switch {
	case limited.N == 0:
		r.fail("", fmt.Sprintf("it wrote more than %d bytes", maxTotal))
	case errors.Is(err, bufio.ErrTooLong):
		r.fail("", fmt.Sprintf("it wrote a line of more than %d bytes", maxLine))
	case err == nil || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, os.ErrClosed):
		f.end()
	default:
		r.fail("", "its output cannot be read")
	}
}

// secrets returns the values of the variables in Env.
func (t *Tool) secrets(p *Program) []string {
	list := make([]string, len(p.Env))
	for i, name := range p.Env {
		list[i], _ = t.o.Getenv(name)
	}
	return list
}
