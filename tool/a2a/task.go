package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"

	sdk "github.com/a2aproject/a2a-go/a2a"

	"github.com/hocketvoice/hocket/internal/redact"
	"github.com/hocketvoice/hocket/internal/toolset"
	"github.com/hocketvoice/hocket/internal/wait"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// task is the state of a running task. Only the goroutine of its call uses it.
type task struct {
	v        *agent
	progress func(string)

	id        sdk.TaskID // empty until the agent has sent it
	state     sdk.TaskState
	words     string // text of the last status that had one
	answer    string // answer of an agent that did not create a task
	answered  bool
	order     []sdk.ArtifactID
	artifacts map[sdk.ArtifactID][]byte
	size      int  // of all artifacts
	missed    bool // the connection was lost, and artifacts may be missing
}

// errTooMuch ends a task whose artifacts are too large.
var errTooMuch = errors.New("too much")

// run sends a message to the agent and waits for the result.
func (v *agent) run(ctx context.Context, key, message string, progress func(string)) (string, error) {
	limited, cancel := context.WithTimeout(ctx, v.a.Timeout)
	defer cancel()
	t := &task{v: v, progress: progress, artifacts: make(map[sdk.ArtifactID][]byte)}
	m := sdk.NewMessage(sdk.MessageRoleUser, sdk.TextPart{Text: message})
	if key != "" {
		m.ID = key // lets an agent detect a repeated message
	}
	err := t.begin(limited, m)
	if err == nil {
		err = t.follow(limited)
	}
	switch {
	case err == nil: // the task has ended, whatever happened afterwards
		return t.end(ctx)
	case ctx.Err() != nil:
		t.callOff(ctx)
		return "", toolset.Interrupted(ctx, v.a.Name, t.result())
	case limited.Err() != nil:
		t.callOff(limited)
		return "", toolset.Interrupted(limited, v.a.Name, t.result())
	case errors.Is(err, errTooMuch):
		t.callOff(ctx)
		return "", failure(errclass.ToolError, "%s: the result has more than %d bytes", v.a.Name, maxResult)
	default:
		f := failure(errclass.ServerError, "%s: %s", v.a.Name, v.hide(err.Error()))
		f.Partial = t.result()
		return "", f
	}
}

// begin sends the message once. It returns nil if the agent has received it.
func (t *task) begin(ctx context.Context, m *sdk.Message) error {
	params := &sdk.MessageSendParams{Message: m}
	if !t.v.streams {
		blocking := false
		params.Config = &sdk.MessageSendConfig{Blocking: &blocking}
		ev, err := t.v.client.SendMessage(ctx, params)
		if err == nil {
			err = t.take(ev)
		}
		if err == nil && t.id == "" && !t.answered {
			err = errors.New("the agent answered with a task without an id")
		}
		return err
	}
	err := t.hear(t.v.client.SendStreamingMessage(ctx, params))
	switch {
	case errors.Is(err, errTooMuch), t.id == "" && err != nil:
		return err
	case t.id == "" && !t.answered:
		return errors.New("the agent ended the stream without a message")
	default:
		return nil // the task continues without the stream
	}
}

// follow waits until the task is over, by polling or by its stream.
func (t *task) follow(ctx context.Context) error {
	for pause := t.v.o.Retry; !t.over(); {
		t.missed = true
		if err := wait.For(ctx, pause); err != nil {
			return err
		}
		pause = min(2*pause, longestRetry)
		state, size := t.state, t.size
		err := t.ask(ctx)
		if err == nil && t.v.streams && !t.over() {
			err = t.hear(t.v.client.ResubscribeToTask(ctx, &sdk.TaskIDParams{ID: t.id}))
		}
		if errors.Is(err, sdk.ErrTaskNotFound) {
			err = t.ask(ctx) // a task that has just ended has no stream
		}
		if errors.Is(err, errTooMuch) || errors.Is(err, sdk.ErrTaskNotFound) {
			return err
		}
		if state != t.state || size != t.size {
			pause = t.v.o.Retry
		}
	}
	if t.missed && t.state == sdk.TaskStateCompleted {
		return t.ask(ctx) // read the complete task
	}
	return nil
}

// ask reads the complete task.
func (t *task) ask(ctx context.Context) error {
	whole, err := t.v.client.GetTask(ctx, &sdk.TaskQueryParams{ID: t.id})
	if err != nil {
		return err
	}
	return t.take(whole)
}

// hear processes events until the task or the stream ends.
func (t *task) hear(events iter.Seq2[sdk.Event, error]) error {
	for ev, err := range events {
		if err != nil {
			return err
		}
		if err := t.take(ev); err != nil {
			return err
		}
		if t.over() {
			return nil
		}
	}
	return nil
}

// take processes one event.
func (t *task) take(ev sdk.Event) error {
	switch ev := ev.(type) {
	case *sdk.Message:
		if ev != nil {
			t.answer, t.answered = texts(ev.Parts), true
		}
	case *sdk.Task:
		t.id = ev.ID
		clear(t.artifacts)
		t.order, t.size = nil, 0
		for _, a := range ev.Artifacts {
			if err := t.grow(a, false); err != nil {
				return err
			}
		}
		t.status(ev.Status)
	case *sdk.TaskStatusUpdateEvent:
		t.id = ev.TaskID
		t.status(ev.Status)
	case *sdk.TaskArtifactUpdateEvent:
		t.id = ev.TaskID
		t.progress("")
		return t.grow(ev.Artifact, ev.Append)
	}
	if len(t.answer) > maxResult {
		return errTooMuch
	}
	return nil
}

// status records a state and reports its text as progress if the task continues.
func (t *task) status(s sdk.TaskStatus) {
	words := ""
	if s.Message != nil {
		words = redact.Cut(strings.TrimSpace(texts(s.Message.Parts)), maxResult)
	}
	told := words != t.words
	t.state, t.words = s.State, words
	switch {
	case t.over():
	case told:
		t.progress(redact.Cut(redact.OneLine(words), maxProgress))
	default:
		t.progress("")
	}
}

// grow adds an artifact, or a part of one.
func (t *task) grow(a *sdk.Artifact, more bool) error {
	if a == nil {
		return nil
	}
	known, there := t.artifacts[a.ID]
	if !there {
		t.order = append(t.order, a.ID)
	}
	if !more {
		t.size -= len(known)
		known = known[:0]
	}
	text := texts(a.Parts)
	t.artifacts[a.ID] = append(known, text...)
	if t.size += len(text); t.size > maxResult || len(t.order) > maxArtifacts {
		return errTooMuch
	}
	return nil
}

// over reports whether the task has ended.
func (t *task) over() bool {
	return t.answered || t.state.Terminal() || t.waits()
}

// waits reports whether the agent waits for input, which is not supported.
func (t *task) waits() bool {
	return t.state == sdk.TaskStateInputRequired || t.state == sdk.TaskStateAuthRequired
}

// result returns the artifacts so far as text.
func (t *task) result() string {
	var all []string
	for _, id := range t.order {
		if text := t.artifacts[id]; len(text) > 0 {
			all = append(all, string(text))
		}
	}
	return strings.Join(all, "\n")
}

// end returns the result or failure of an ended task.
func (t *task) end(ctx context.Context) (string, error) {
	name, result := t.v.a.Name, t.result()
	words := t.v.hide(t.words)
	because := func(otherwise string) string {
		if words == "" {
			return otherwise
		}
		return words
	}
	var f *port.Failure
	switch {
	case t.answered:
		return t.answer, nil
	case t.state == sdk.TaskStateCompleted && result == "":
		return t.words, nil
	case t.state == sdk.TaskStateCompleted:
		return result, nil
	case t.waits():
		f = failure("INPUT_REQUIRED", "%s: the agent asked for input, which is not supported: %s", name, because(string(t.state)))
		t.callOff(ctx)
	case t.state == sdk.TaskStateCanceled:
		f = failure("CANCELLED", "%s: %s", name, because("the agent cancelled the task"))
	default:
		f = failure(errclass.ToolError, "%s: %s", name, because("the agent reported a failure without a message"))
	}
	f.Partial = result
	return "", f
}

// callOff cancels the task if its id is known.
func (t *task) callOff(ctx context.Context) {
	if t.id == "" || t.state.Terminal() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer cancel()
	if last, err := t.v.client.CancelTask(ctx, &sdk.TaskIDParams{ID: t.id}); err == nil && len(last.Artifacts) > 0 {
		_ = t.take(last) // for the partial result
	}
}

// texts joins the texts of parts. Data is converted to JSON, and files are replaced
// by their names.
func texts(parts sdk.ContentParts) string {
	var b strings.Builder
	for _, p := range parts {
		switch p := p.(type) {
		case sdk.TextPart:
			b.WriteString(p.Text)
		case sdk.DataPart:
			if data, err := json.Marshal(p.Data); err == nil {
				b.Write(data)
			}
		default:
			b.WriteString("[a file]")
		}
	}
	return strings.ToValidUTF8(b.String(), "?")
}
