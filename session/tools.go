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

// tools runs the calls of tools and delegated agents in goroutines of their own. The loop calls
// start and cancel.
type tools struct {
	s *Session
	// turnstile lets the calls run one after the other in virtual time, in the order in which
	// they were started, so that the order of their results does not depend on their speed.
	turnstile chan struct{}
	// taking counts the starts and adoptions of tasks in progress.
	taking sync.WaitGroup

	mu      sync.Mutex // guards running
	running map[string]runningCall
}

// runningCall is a call that the machine may cancel. For a task, that is so until the machine has
// told its result.
type runningCall struct {
	task   string // the key of the task; "" for a call that runs in the session
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

// perform carries out an effect that concerns calls, and ignores others.
func (t *tools) perform(e conv.Effect) {
	switch e := e.(type) {
	case conv.RunTool:
		t.start(e.ID, toolCall(e), false)
	case conv.StartTask:
		t.start(e.ID, toolCall(conv.RunTool(e)), true)
	case conv.FollowTask:
		t.follow(e.ID, e.Key)
	case conv.SettleTask:
		t.settled(e)
	case conv.CancelTool:
		t.cancel(e.ID)
	default:
		// Other effects do not concern calls.
	}
}

// start runs a call and posts its result. id is the call's id in the conversation; call.ID is its
// idempotency key.
func (t *tools) start(id string, call port.ToolCall, long bool) {
	if long && t.outlives(id) {
		t.delegate(id, call)
		return
	}
	limit := time.Duration(0) // in real time the machine cancels the call
	if limits := t.s.conv.Options().Limits; t.s.work != nil && long {
		limit = limits.Task
	} else if t.s.work != nil {
		limit = limits.Tool // virtual time stands while the call runs
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
		if !t.s.keeper.settle(ctx, state) { // the call is stored before it runs
			return
		}
		if t.s.o.Retried != nil {
			ctx = port.WithRetries(ctx, t.s.o.Retried)
		}
		within := &ToolContext{s: t.s, began: time.Now()}
		ctx = context.WithValue(ctx, toolContextKey{}, within)
		output, err := runTool(ctx, tool, call, limit, progress)
		t.mu.Lock()
		delete(t.running, id)
		t.mu.Unlock()
		t.s.postFact(callEnded(id, long, output, err))
		if within.gone() {
			t.s.postFact(conv.UserStop{Reason: transferred})
		}
	})}
}

// cancel cancels a call.
func (t *tools) cancel(id string) {
	t.mu.Lock()
	call, ok := t.running[id]
	delete(t.running, id)
	t.mu.Unlock()
	if ok {
		call.cancel()
	}
}

// callEnded returns the event for a call that has ended.
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

// toolCall returns the call that an effect asks for. Its ID is the idempotency key.
func toolCall(e conv.RunTool) port.ToolCall {
	key := e.Key
	if key == "" {
		key = e.ID
	}
	return port.ToolCall{ID: key, Name: e.Name, Arguments: e.Arguments}
}

// runTool runs a call to its end, within limit unless that is 0. It returns an error if there is no
// tool with the call's name. A panic of the tool is an error too, so that it does not end the other
// conversations of the program.
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

// checked returns a call with its arguments filled in, or an error if there is no tool with its
// name or its arguments are not valid JSON.
func checked(tool port.Tool, call port.ToolCall) (port.ToolCall, error) {
	if _, ok := specOf(tool, call.Name); !ok {
		return call, &port.Failure{Code: errclass.ToolError, Message: fmt.Sprintf("there is no tool %q", call.Name)}
	}
	if call.Arguments == "" {
		call.Arguments = "{}"
	}
	if !json.Valid([]byte(call.Arguments)) {
		return call, &port.Failure{Code: errclass.ToolError, Message: fmt.Sprintf("the arguments of %q are not valid JSON", call.Name)}
	}
	return call, nil
}
