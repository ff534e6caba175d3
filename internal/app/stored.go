package app

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/api"
	"github.com/hocketvoice/hocket/server/node"
)

// scanned bounds the number of conversations among which a list looks for those of one
// owner.
const scanned = 1000

// archive implements [api.Stored]. It is safe for concurrent use.
type archive struct {
	*Store
	tasks tasks // nil if there are none

	mu sync.Mutex // guards read
	// read is a cache of conversations by id. An entry is valid until the conversation is
	// saved again.
	read map[string]api.StoredInfo
}

// tasks is the part of [task.Tasks] that an archive uses.
type tasks interface {
	port.TaskArchive
	Leave(ctx context.Context, conversation string) error
}

func newArchive(s *Store, tasks tasks) *archive {
	return &archive{Store: s, tasks: tasks, read: make(map[string]api.StoredInfo)}
}

// List implements [api.Stored].
func (s *archive) List(ctx context.Context, q api.StoredQuery) ([]api.StoredInfo, error) {
	all := q.Caller != ""
	entries, err := s.entries(ctx, q.Caller)
	if err != nil {
		return nil, err
	}
	var list []api.StoredInfo
	for _, e := range entries {
		if len(list) == q.Limit && !all {
			break
		}
		if !q.Before.IsZero() && !e.Saved.Before(q.Before) {
			continue
		}
		d, ok, err := s.listed(ctx, e)
		if err != nil {
			return nil, err
		}
		if ok && q.Selects(d) {
			list = append(list, d)
		}
		if all && ok && d.Error == "" && !e.Marked {
			marks, _ := s.marks(d.CallerNow())
			_ = s.callers.Mark(ctx, e.ID, marks[0]) // otherwise the next one reads it again
		}
	}
	return list, nil
}

// entries returns those of a caller and those that may be, or the newest of all if caller
// is empty.
func (s *archive) entries(ctx context.Context, caller string) ([]port.Entry, error) {
	if caller == "" {
		return s.engine.List(ctx, scanned)
	}
	marks, prefixes := s.marks(caller)
	return s.callers.Marked(ctx, marks, prefixes)
}

// Tasks implements [api.Stored].
func (s *archive) Tasks(ctx context.Context, caller string) ([]port.TaskRecord, error) {
	if s.tasks == nil {
		return nil, nil
	}
	return s.tasks.TasksOf(ctx, caller)
}

// DeleteTasks implements [api.Stored].
func (s *archive) DeleteTasks(ctx context.Context, caller string, spare func(string) bool) (int, error) {
	if s.tasks == nil {
		return 0, nil
	}
	return s.tasks.DeleteTasksOf(ctx, caller, spare)
}

// listed returns the information about an entry, from the cache or from the store.
func (s *archive) listed(ctx context.Context, e port.Entry) (d api.StoredInfo, ok bool, err error) {
	s.mu.Lock()
	d, ok = s.read[e.ID]
	s.mu.Unlock()
	if ok && d.Saved.Equal(e.Saved) {
		return d, true, nil
	}
	if d, ok, err = s.info(ctx, e.ID); err != nil || !ok {
		return d, ok, err
	}
	// The conversation may have been saved since the list was read: with the older time
	// it will be read again.
	d.Saved = e.Saved
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.read) >= 2*scanned {
		clear(s.read)
	}
	s.read[e.ID] = d
	return d, true, nil
}

// Load implements [api.Stored].
func (s *archive) Load(ctx context.Context, id string) (d api.StoredDetails, ok bool, err error) {
	if d.StoredInfo, ok, err = s.info(ctx, id); err != nil || !ok || d.Error != "" {
		return d, ok, err
	}
	c, err := s.Store.Load(ctx, id)
	if err != nil {
		return d, false, err
	}
	machine, err := conv.Restore(conv.Options{}, c.Snapshot)
	if err != nil {
		d.Error = err.Error()
		return d, true, nil //nolint:nilerr // the error is part of the result
	}
	st := machine.State()
	for i := range st.History {
		it := &st.History[i]
		d.Lines = append(d.Lines, api.StoredLine{
			Turn: it.Turn, Role: string(it.Role), Name: it.Name, Text: it.Text, Interrupted: it.Interrupted, Failed: it.Failed,
		})
	}
	return d, true, nil
}

// info reads the information about a conversation. ok is false if the store does not have
// it.
func (s *archive) info(ctx context.Context, id string) (d api.StoredInfo, ok bool, err error) {
	c, err := s.Store.Load(ctx, id)
	if err != nil {
		if _, missing := errors.AsType[missingError](err); missing {
			return d, false, nil
		}
		if !errors.Is(err, ErrInput) { // the store has failed, not the conversation
			return d, false, err
		}
		return api.StoredInfo{ID: id, Error: settings.Plain(err).Error()}, true, nil
	}
	trace, err := s.traced(ctx, id)
	if err != nil {
		return d, false, err
	}
	d = storedInfo(c, trace)
	d.Recording, err = s.recorded(ctx, id)
	return d, true, err
}

func storedInfo(c journal.Checkpoint, trace bool) api.StoredInfo {
	return api.StoredInfo{
		ID: c.ID, Agent: c.Agent, Transport: c.Transport, Phase: c.Phase, Ended: c.Ended, Turns: c.Turns,
		Started: c.Started, Saved: c.Saved, Trace: trace, Owner: c.Owner, Caller: c.Caller,
	}
}

// errEnough stops the reading of a journal.
var errEnough = errors.New("enough")

// traced reports whether the store has a trace of a conversation.
func (s *archive) traced(ctx context.Context, id string) (bool, error) {
	err := s.journal.Read(ctx, id, func(int, []byte) error { return errEnough })
	if errors.Is(err, errEnough) {
		return true, nil
	}
	return false, err
}

// Trace implements [api.Stored]. It writes the traces of the processes that have run the
// conversation, one after the other.
func (s *archive) Trace(ctx context.Context, id string, w io.Writer) error {
	ok, err := s.traced(ctx, id)
	if err != nil {
		return err
	}
	if !ok {
		return api.ErrNoTrace
	}
	return s.Store.Trace(ctx, id, w)
}

// Delete implements [api.Stored].
func (s *archive) Delete(ctx context.Context, id string) error {
	n, held, err := s.registry.Holder(ctx, id)
	if err != nil {
		return err
	}
	if held && !node.DiedHere(n.ID) {
		return &port.HeldError{Node: n}
	}
	if err := s.port.Delete(ctx, id); err != nil || s.tasks == nil {
		return err
	}
	return s.tasks.Leave(ctx, id) // tasks with a caller wait for the caller; others are deleted
}
