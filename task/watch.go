package task

import (
	"context"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/internal/wait"
)

// watch wakes the followers of changed tasks: at once for changes by this process, and
// within a poll interval for those of others. It is safe for concurrent use.
type watch struct {
	mu   sync.Mutex // guards subs
	subs map[string]map[*sub]struct{}
}

// sub is a follower of a task. changed is never closed.
type sub struct {
	key     string
	changed chan struct{} // contains a token when the task may have changed
	seen    mark          // guarded by the watch's mu
}

// mark is what is compared to detect a change.
type mark struct {
	there    bool
	ended    bool
	progress int64
	attempt  int64
}

func newWatch() *watch { return &watch{subs: make(map[string]map[*sub]struct{})} }

func (w *watch) follow(key string) *sub {
	s := &sub{key: key, changed: make(chan struct{}, 1), seen: mark{attempt: -1}} // differs from any task, so the first look wakes
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.subs[key] == nil {
		w.subs[key] = make(map[*sub]struct{})
	}
	w.subs[key][s] = struct{}{}
	return s
}

func (w *watch) leave(s *sub) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.subs[s.key], s)
	if len(w.subs[s.key]) == 0 {
		delete(w.subs, s.key)
	}
}

func (s *sub) wake() {
	select {
	case s.changed <- struct{}{}:
	default: // there is a token already
	}
}

// poke wakes the followers of tasks.
func (w *watch) poke(keys ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range keys {
		for s := range w.subs[key] {
			s.wake()
		}
	}
}

// followed returns the keys of the tasks that have followers.
func (w *watch) followed() []any {
	w.mu.Lock()
	defer w.mu.Unlock()
	keys := make([]any, 0, len(w.subs))
	for key := range w.subs {
		keys = append(keys, key)
	}
	return keys
}

// see wakes the followers of a task that has changed since they were last woken.
func (w *watch) see(key string, now mark) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for s := range w.subs[key] {
		if s.seen != now {
			s.seen = now
			s.wake()
		}
	}
}

// pollAll looks for changes until ctx ends.
func (t *Tasks) pollAll(ctx context.Context) {
	for wait.For(ctx, poll) == nil {
		const most = 500 // keys per query
		for keys := t.watch.followed(); len(keys) > 0; {
			n := min(len(keys), most)
			if err := t.pollSome(ctx, keys[:n]); err != nil {
				break
			}
			keys = keys[n:]
		}
	}
}

func (t *Tasks) pollSome(ctx context.Context, keys []any) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	rows, err := t.db.reader.QueryContext(ctx, t.db.text(`SELECT key, ended IS NOT NULL, progress, attempt
		FROM hocket_tasks WHERE key IN (`+marks(len(keys))+`)`), keys...)
	if err != nil {
		return err
	}
	defer rows.Close()
	found := make(map[string]mark)
	for rows.Next() {
		var key string
		m := mark{there: true}
		if err := rows.Scan(&key, &m.ended, &m.progress, &m.attempt); err != nil {
			return err
		}
		found[key] = m
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, key := range keys {
		k, _ := key.(string)
		t.watch.see(k, found[k])
	}
	return nil
}
