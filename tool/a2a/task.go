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

// task is what is known of one that runs. It belongs to the goroutine of its call.
type task struct {
	v        *agent
	progress func(string)

	id        sdk.TaskID // "" until the agent has told it
	state     sdk.TaskState
	words     string // of the last status that came with some
	answer    string // of an agent that answers at once, without a task
	answered  bool
	order     []sdk.ArtifactID
	artifacts map[sdk.ArtifactID][]byte
	size      int  // of all of them
	missed    bool // the connection broke: artifacts may have come meanwhile
}

// errTooMuch ends a task whose artifacts are too large.
var errTooMuch = errors.New("too much")

// run gives the agent a message and follows what comes of it.
func (v *agent) run(ctx context.Context, key, message string, progress func(string)) (string, error) {
	limited, cancel := context.WithTimeout(ctx, v.a.Timeout)
	defer cancel()
	t := &task{v: v, progress: progress, artifacts: make(map[sdk.ArtifactID][]byte)}
	m := sdk.NewMessage(sdk.MessageRoleUser, sdk.TextPart{Text: message})
	if key != "" {
		m.ID = key // an agent that knows it has the message already
	}
	err := t.begin(limited, m)
	if err == nil {
		err = t.follow(limited)
	}
	switch {
	case err == nil: // it is over, whatever else
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

// begin sends the message, once. Without an error the agent has it.
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
			err = errors.New("it has answered with a task that has no id")
		}
		return err
	}
	err := t.hear(t.v.client.SendStreamingMessage(ctx, params))
	switch {
	case errors.Is(err, errTooMuch), t.id == "" && err != nil:
		return err
	case t.id == "" && !t.answered:
		return errors.New("it has ended the stream and said nothing")
	default:
		return nil // what has begun goes on without the stream
	}
}

// follow asks for the task until it is over: again and again, or by its stream.
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
			err = t.ask(ctx) // one that has just ended has no stream
		}
		if errors.Is(err, errTooMuch) || errors.Is(err, sdk.ErrTaskNotFound) {
			return err
		}
		if state != t.state || size != t.size {
			pause = t.v.o.Retry
		}
	}
	if t.missed && t.state == sdk.TaskStateCompleted {
		return t.ask(ctx) // for all of it
	}
	return nil
}

// ask reads the whole task.
func (t *task) ask(ctx context.Context) error {
	whole, err := t.v.client.GetTask(ctx, &sdk.TaskQueryParams{ID: t.id})
	if err != nil {
		return err
	}
	return t.take(whole)
}

// hear takes events until the task is over, or the stream is.
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

// take notes what an agent says.
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

// status notes a state, and tells its words where there is more to come.
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

// grow adds to the artifacts.
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

// over reports whether nothing more is to come.
func (t *task) over() bool {
	return t.answered || t.state.Terminal() || t.waits()
}

// waits reports whether the agent waits for what it cannot be given.
func (t *task) waits() bool {
	return t.state == sdk.TaskStateInputRequired || t.state == sdk.TaskStateAuthRequired
}

// result is what there is of one.
func (t *task) result() string {
	var all []string
	for _, id := range t.order {
		if text := t.artifacts[id]; len(text) > 0 {
			all = append(all, string(text))
		}
	}
	return strings.Join(all, "\n")
}

// end is what came of a task that is over.
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
		f = failure("INPUT_REQUIRED", "%s: the agent asks for something, and cannot be answered: %s", name, because(string(t.state)))
		t.callOff(ctx)
	case t.state == sdk.TaskStateCanceled:
		f = failure("CANCELLED", "%s: %s", name, because("the agent has called the task off"))
	default:
		f = failure(errclass.ToolError, "%s: %s", name, because("the agent reports a failure and says no more"))
	}
	f.Partial = result
	return "", f
}

// callOff tells the agent that its task is not wanted any more. A task that nobody
// has heard of yet cannot be named.
func (t *task) callOff(ctx context.Context) {
	if t.id == "" || t.state.Terminal() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer cancel()
	if last, err := t.v.client.CancelTask(ctx, &sdk.TaskIDParams{ID: t.id}); err == nil && len(last.Artifacts) > 0 {
		_ = t.take(last) // for what there is of a result
	}
}

// texts are the words of parts, one behind the other; data is JSON, and a file is
// named in its place.
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
