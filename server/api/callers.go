package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/hub"
)

// Callers lists, exports and deletes the data of one caller. All fields may be nil. It is
// safe for concurrent use.
type Callers struct {
	Stored Stored
	Hub    *hub.Hub
	// Held, if not nil, reports whether another process holds a conversation.
	Held func(ctx context.Context, id string) bool
}

// CallerData is the response of GET /v1/callers: the stored data of a caller, without
// words.
type CallerData struct {
	Caller        string       `json:"caller"`
	Conversations []StoredInfo `json:"conversations"`
	Tasks         []CallerTask `json:"tasks"` // delegated work
	// Unreadable is the number of stored conversations that cannot be read because a key
	// is missing. They may be the caller's too.
	Unreadable int `json:"unreadable"`
}

// CallerTask is a task of a caller.
type CallerTask struct {
	Key          string    `json:"key"`
	Conversation string    `json:"conversation"` // the conversation that gets the result
	Agent        string    `json:"agent,omitempty"`
	Tool         string    `json:"tool"`
	State        string    `json:"state"` // "running", "done" or "failed"
	Created      time.Time `json:"created"`
	Ended        time.Time `json:"ended,omitzero"`
	// Withheld says why the words are left out: "secret" (the call has secret arguments) or
	// "encrypted" (its key is missing).
	Withheld string `json:"withheld,omitempty"`
	// Words are in an export only.
	Words *TaskWords `json:"words,omitempty"`
}

// TaskWords are the words of a task.
type TaskWords struct {
	Arguments string        `json:"arguments"`
	Progress  string        `json:"progress,omitempty"`
	Output    string        `json:"output,omitempty"`
	Failure   *FailureError `json:"failure,omitempty"`
	Partial   string        `json:"partial,omitempty"` // the known part of the result of a failed task
}

// CallerDeleted is the response of DELETE /v1/callers.
type CallerDeleted struct {
	Conversations []string `json:"conversations"` // the deleted ones
	Tasks         int      `json:"tasks"`         // number of deleted tasks
	// Left are the conversations that were not deleted, since they are running. Their
	// tasks are not deleted either.
	Left       []CallerLeft `json:"left"`
	Unreadable int          `json:"unreadable"` // see [CallerData]
}

// CallerLeft is a conversation that was not deleted.
type CallerLeft struct {
	ID      string `json:"id"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// List returns the data of a caller of an owner.
func (c Callers) List(ctx context.Context, owner, caller string) (CallerData, error) {
	data := CallerData{Caller: caller, Conversations: []StoredInfo{}, Tasks: []CallerTask{}}
	full := CallerOf(owner, caller)
	if c.Stored != nil {
		list, err := c.Stored.List(ctx, StoredQuery{Owner: owner, Caller: full})
		if err != nil {
			return data, err
		}
		for i := range list {
			if list[i].Error != "" {
				data.Unreadable++
				continue
			}
			list[i].Live = c.live(list[i].ID)
			data.Conversations = append(data.Conversations, list[i])
		}
		tasks, err := c.Stored.Tasks(ctx, full)
		if err != nil {
			return data, err
		}
		for i := range tasks {
			data.Tasks = append(data.Tasks, callerTask(tasks[i], false))
		}
	}
	for _, one := range c.remembered(full) {
		if i := one.Info(); !slices.ContainsFunc(data.Conversations, func(d StoredInfo) bool { return d.ID == i.ID }) {
			data.Conversations = append(data.Conversations, StoredInfo{
				ID: i.ID, Agent: i.Agent, Transport: i.Transport, Phase: i.Phase.String(), Ended: one.Over() && i.Over(), Turns: i.Turns,
				Started: i.Started, Saved: i.Started, Live: !one.Over(), Owner: owner,
			})
		}
	}
	return data, nil
}

// remembered returns the conversations of a caller in this process.
func (c Callers) remembered(full string) []*hub.Conversation {
	if c.Hub == nil {
		return nil
	}
	return c.Hub.CalledBy(full)
}

// live reports whether a conversation runs here.
func (c Callers) live(id string) bool {
	if c.Hub == nil {
		return false
	}
	one, ok := c.Hub.Find(id)
	return ok && !one.Over()
}

func callerTask(r port.TaskRecord, words bool) CallerTask {
	t := CallerTask{
		Key: r.Key, Conversation: r.Conversation, Agent: r.Agent, Tool: r.Call.Name, State: "running", Created: r.Created, Ended: r.Ended,
	}
	switch {
	case r.Unreadable:
		t.Withheld = "encrypted"
	case r.Secret:
		t.Withheld = "secret"
	}
	w := &TaskWords{Arguments: r.Call.Arguments, Progress: r.Progress, Output: r.Output}
	switch {
	case r.Ended.IsZero():
	case r.Failure != nil:
		t.State = "failed"
		w.Failure, w.Partial = &FailureError{r.Failure.Code, r.Failure.Message}, r.Failure.Partial
	default:
		t.State = "done"
	}
	if words && t.Withheld == "" {
		t.Words = w
	}
	return t
}

// Export writes the data of a caller as JSON lines. Their types are "caller", then for
// each conversation "conversation", with its words, and "trace" for each line of its
// trace, without the agent's files, then "task" for each task, and "end". A document
// without that last line is incomplete. Values of secret slots are left out.
func (c Callers) Export(ctx context.Context, owner, caller string, out io.Writer) error {
	data, err := c.List(ctx, owner, caller)
	if err != nil {
		return err
	}
	line := func(v any) error {
		b, err := json.Marshal(v)
		if err == nil {
			_, err = out.Write(append(b, '\n'))
		}
		return err
	}
	type kind struct {
		Type string `json:"type"`
	}
	if err := line(struct {
		kind
		Caller        string    `json:"caller"`
		Owner         string    `json:"owner,omitempty"`
		Exported      time.Time `json:"exported"`
		Conversations int       `json:"conversations"`
		Tasks         int       `json:"tasks"`
		Unreadable    int       `json:"unreadable"`
	}{kind{"caller"}, caller, owner, time.Now().UTC(), len(data.Conversations), len(data.Tasks), data.Unreadable}); err != nil {
		return err
	}
	for _, one := range data.Conversations {
		d, err := c.words(ctx, one)
		if err != nil {
			return err
		}
		if err := line(struct {
			kind
			StoredDetails
		}{kind{"conversation"}, d}); err != nil {
			return err
		}
		if err := c.trace(ctx, one.ID, func(record []byte) error {
			return line(struct {
				kind
				Conversation string          `json:"conversation"`
				Record       json.RawMessage `json:"record"`
			}{kind{"trace"}, one.ID, record})
		}); err != nil {
			return err
		}
	}
	var tasks []port.TaskRecord
	if c.Stored != nil {
		if tasks, err = c.Stored.Tasks(ctx, CallerOf(owner, caller)); err != nil {
			return err
		}
	}
	for _, t := range tasks {
		if err := line(struct {
			kind
			CallerTask
		}{kind{"task"}, callerTask(t, true)}); err != nil {
			return err
		}
	}
	return line(kind{"end"})
}

// words returns a conversation with its words, if they are stored.
func (c Callers) words(ctx context.Context, one StoredInfo) (StoredDetails, error) {
	if c.Stored != nil {
		d, ok, err := c.Stored.Load(ctx, one.ID)
		if err != nil {
			return d, err
		}
		if ok {
			d.Live = one.Live
			d.Lines = append([]StoredLine{}, d.Lines...) // never null
			return d, nil
		}
	}
	return StoredDetails{StoredInfo: one, Lines: []StoredLine{}}, nil
}

// trace calls each for the records of a conversation's trace: of the stored trace, or of
// the one in this process if none is stored.
func (c Callers) trace(ctx context.Context, id string, each func(record []byte) error) error {
	out := &lines{each: func(line []byte) error {
		var head struct {
			Format string `json:"format"`
		}
		if err := json.Unmarshal(line, &head); err != nil {
			return fmt.Errorf("a line of the trace of %s: %w", id, err)
		}
		if head.Format != "" { // a header, one for each process that has run the conversation
			var err error
			if line, err = journal.WithoutAgent(line); err != nil {
				return err
			}
		}
		return each(bytes.TrimSuffix(line, []byte("\n")))
	}}
	if c.Stored != nil {
		switch err := c.Stored.Trace(ctx, id, out); {
		case err == nil:
			return out.end()
		case !errors.Is(err, ErrNoTrace):
			return err
		}
	}
	if c.Hub == nil {
		return nil
	}
	if one, ok := c.Hub.Find(id); ok {
		t, _ := one.Trace()
		for _, b := range t.Lines {
			if _, err := out.Write(b); err != nil {
				return err
			}
		}
	}
	return out.end()
}

// lines is a writer that calls each for every line.
type lines struct {
	each func(line []byte) error
	rest []byte // an incomplete line
}

// Write calls each for the lines that are complete.
func (l *lines) Write(b []byte) (int, error) {
	l.rest = append(l.rest, b...)
	for {
		line, rest, ok := bytes.Cut(l.rest, []byte("\n"))
		if !ok {
			return len(b), nil
		}
		if len(line) > 0 {
			if err := l.each(line); err != nil {
				return 0, err
			}
		}
		l.rest = rest
	}
}

// end calls each for the last line if it has no newline.
func (l *lines) end() error {
	if len(l.rest) == 0 {
		return nil
	}
	return l.each(l.rest)
}

// Delete deletes the data of a caller, except running conversations and their tasks. If
// it fails, a part may be deleted already; it can be repeated.
func (c Callers) Delete(ctx context.Context, owner, caller string) (CallerDeleted, error) {
	data, err := c.List(ctx, owner, caller)
	gone := CallerDeleted{Conversations: []string{}, Left: []CallerLeft{}, Unreadable: data.Unreadable}
	if err != nil {
		return gone, err
	}
	for _, one := range data.Conversations {
		why := ""
		if one.Live {
			why = "the conversation is running: end it first"
		} else if c.Stored != nil {
			err := c.Stored.Delete(ctx, one.ID)
			if held, ok := errors.AsType[*port.HeldError](err); ok {
				why = held.Error() + ": end it first"
			} else if err != nil {
				return gone, err
			}
		}
		if why != "" {
			gone.Left = append(gone.Left, CallerLeft{one.ID, "conversation_active", why})
			continue
		}
		if c.Hub != nil {
			c.Hub.Forget(one.ID)
		}
		gone.Conversations = append(gone.Conversations, one.ID)
	}
	if c.Stored == nil {
		return gone, nil
	}
	gone.Tasks, err = c.Stored.DeleteTasks(ctx, CallerOf(owner, caller), func(id string) bool {
		return slices.ContainsFunc(gone.Left, func(l CallerLeft) bool { return l.ID == id }) ||
			c.live(id) || c.Held != nil && c.Held(ctx, id) // the conversation has begun meanwhile
	})
	return gone, err
}
