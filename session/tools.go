package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// tools runs the calls of tools and delegated agents beside the loop. start and
// cancel are called by the loop.
type tools struct {
	s *Session
	// turnstile lets one call at a time run in virtual time, in the order in which
	// they were started: the order of their results must not depend on how fast
	// they are.
	turnstile chan struct{}
	// taking are the starts and adoptions of tasks that are on their way.
	taking sync.WaitGroup

	mu      sync.Mutex // guards running
	running map[string]runningCall
}

// runningCall is one that the machine may cancel. A task is one until the machine has its
// result, and has said that it was told.
type runningCall struct {
	task   string // its key; "" for one that runs here
	cancel func()
}

func newTools(s *Session) *tools {
	t := &tools{s: s, running: make(map[string]runningCall)}
	if s.work != nil {
		t.turnstile = make(chan struct{})
		close(t.turnstile)
	}
	return t
}

// start runs a call and posts what came of it. id is the call's in the
// conversation, the call's own ID its idempotency key.
func (t *tools) start(id string, call port.ToolCall, long bool) {
	if long && t.outlives(id) {
		t.delegate(id, call)
		return
	}
	limit := time.Duration(0) // the machine's: it cancels the call
	if limits := t.s.conv.Options().Limits; t.s.work != nil && long {
		limit = limits.Task
	} else if t.s.work != nil {
		limit = limits.Tool // its clock stands while the call runs
	}
	before, after := t.turnstile, make(chan struct{})
	if before != nil {
		t.turnstile = after
	}
	tool := t.s.toolbox.pick(t.s.conv, id)
	call.ID = t.s.keys() + call.ID
	state := t.s.keeper.position()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running[id] = runningCall{cancel: t.s.spawn(func(ctx context.Context) {
		defer close(after)
		if before != nil {
			<-before
		}
		var progress func(string)
		if long {
			progress = func(text string) { t.s.postFact(conv.TaskProgress{ID: id, Text: text}) }
		}
		if !t.s.keeper.settle(ctx, state) { // that it runs is known before it does
			return
		}
		if t.s.o.Retried != nil {
			ctx = port.WithRetries(ctx, t.s.o.Retried)
		}
		ctx = context.WithValue(ctx, toolContextKey{}, &ToolContext{s: t.s})
		output, err := runTool(ctx, tool, call, limit, progress)
		t.mu.Lock()
		delete(t.running, id)
		t.mu.Unlock()
		t.s.postFact(callEnded(id, long, output, err))
	})}
}

// cancel ends a call whose result nobody waits for.
func (t *tools) cancel(id string) {
	t.mu.Lock()
	call, ok := t.running[id]
	delete(t.running, id)
	t.mu.Unlock()
	if ok {
		call.cancel()
	}
}

// callEnded is the fact of a call that has ended.
func callEnded(id string, long bool, output string, err error) conv.Event {
	if err == nil {
		if long {
			return conv.TaskDone{ID: id, Output: output}
		}
		return conv.ToolDone{ID: id, Output: output}
	}
	f, ok := errors.AsType[*port.Failure](err)
	if !ok {
		f = &port.Failure{Code: errclass.ToolError, Message: err.Error()}
	}
	if long {
		return conv.TaskFailed{ID: id, Code: f.Code, Message: f.Message, Output: f.Partial}
	}
	return conv.ToolFailed{ID: id, Code: f.Code, Message: f.Message, Output: f.Partial}
}

// toolCall is the call that an effect asks for.
func toolCall(e conv.RunTool) port.ToolCall {
	key := e.Key
	if key == "" {
		key = e.ID
	}
	return port.ToolCall{ID: key, Name: e.Name, Arguments: e.Arguments}
}

// runTool runs a call to its end, within its limit unless that is 0, if there is
// a tool of its name. A call that panics has failed: the other conversations of the
// program go on.
func runTool(ctx context.Context, tool port.Tool, call port.ToolCall, limit time.Duration, progress func(string)) (output string, err error) {
	defer func() {
		if p := recover(); p != nil {
			output, err = "", &port.Failure{Code: errclass.ToolError, Message: fmt.Sprintf("%s panicked: %v", call.Name, p)}
		}
	}()
	call, err = checked(tool, call)
	if err != nil {
		return "", err
	}
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	return tool.Call(ctx, call, progress)
}

// checked is a call that the tool can take.
func checked(tool port.Tool, call port.ToolCall) (port.ToolCall, error) {
	if _, ok := specOf(tool, call.Name); !ok {
		return call, &port.Failure{Code: errclass.ToolError, Message: fmt.Sprintf("there is no tool %q", call.Name)}
	}
	if call.Arguments == "" {
		call.Arguments = "{}"
	}
	if !json.Valid([]byte(call.Arguments)) {
		return call, &port.Failure{Code: errclass.ToolError, Message: fmt.Sprintf("the arguments of %q are no JSON", call.Name)}
	}
	return call, nil
}
