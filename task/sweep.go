package task

import (
	"context"
	"errors"
	"time"

	"github.com/cschleiden/go-workflows/diag"

	"github.com/hocketvoice/hocket/internal/wait"
	"github.com/hocketvoice/hocket/port"
)

// sweeps cleans up after dead processes at regular intervals.
func (t *Tasks) sweeps(ctx context.Context) {
	for wait.For(ctx, t.o.sweep) == nil {
		if err := t.Sweep(ctx); err != nil && ctx.Err() == nil {
			t.o.Log.Warn("cannot clean up the tasks", "err", err)
		}
	}
}

// batch limits the number of tasks of each kind in one sweep.
const batch = 200

// Sweep ends tasks after their deadline, deletes ended tasks that were not settled in
// time, restarts the workflows of tasks that no worker runs, and removes finished
// workflows. Run calls it at regular intervals.
func (t *Tasks) Sweep(ctx context.Context) error {
	t.sweeping.Lock()
	defer t.sweeping.Unlock()
	now := t.o.Now()
	overdue, err := t.db.keys(ctx, t.db.reader, `SELECT key FROM hocket_tasks WHERE ended IS NULL AND deadline < ? ORDER BY deadline LIMIT ?`,
		now.Add(-late).UnixMilli(), batch)
	if err != nil {
		return err
	}
	for _, key := range overdue {
		r, ok, err := t.read(ctx, key)
		if err != nil {
			return err
		}
		if ok {
			err = t.finish(ctx, key, outcome{Failure: timedOut(r.tool, t.lastText(r))})
		}
		if err != nil {
			return err
		}
	}
	old, err := t.db.keys(ctx, t.db.writer, `DELETE FROM hocket_tasks WHERE ended < ? RETURNING key`, now.Add(-t.o.Keep).UnixMilli())
	if err != nil {
		return err
	}
	t.watch.poke(old...)
	if err := t.engageLost(ctx, now); err != nil {
		return err
	}
	return t.removeFinished(ctx)
}

// engageLost restarts the workflows of tasks that the engine may have lost: those never
// begun, and those whose worker has given no sign of life since the last sweep.
func (t *Tasks) engageLost(ctx context.Context, now time.Time) error {
	lost, beats, err := t.quietSince(ctx, t.swept, now.Add(-unbegun))
	if err != nil {
		return err
	}
	t.swept = beats
	for _, key := range lost {
		if err := t.startWorkflow(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// quietSince returns the running tasks that were created before started and were never
// begun, or whose beat is the same as in before. beats contains the beats of all of
// them.
func (t *Tasks) quietSince(ctx context.Context, before map[string]int64, started time.Time) (keys []string, beats map[string]int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, statementLimit)
	defer cancel()
	rows, err := t.db.reader.QueryContext(ctx, t.db.text(`SELECT key, attempt, beat FROM hocket_tasks WHERE ended IS NULL AND created < ? ORDER BY seq LIMIT ?`),
		started.UnixMilli(), batch)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	beats = make(map[string]int64)
	for rows.Next() {
		var key string
		var attempt, beat int64
		if err := rows.Scan(&key, &attempt, &beat); err != nil {
			return nil, nil, err
		}
		beats[key] = beat
		if last, known := before[key]; attempt == 0 || known && last == beat {
			keys = append(keys, key)
		}
	}
	return keys, beats, rows.Err()
}

const (
	late    = 2 * time.Second  // after the deadline, for a tool that ignores its context
	unbegun = 10 * time.Second // after its creation, for a task that no worker has begun
)

func timedOut(tool, partial string) *port.Failure {
	return &port.Failure{Code: codeTimeout, Message: tool + " took too long", Partial: partial}
}

// removeFinished removes finished workflows of processes that died before they could.
func (t *Tasks) removeFinished(ctx context.Context) error {
	b, ok := t.db.engine.(diag.Backend)
	if !ok {
		return errors.New("the engine does not list its workflows")
	}
	for id, execution := "", ""; ; {
		refs, err := b.GetWorkflowInstances(ctx, id, execution, batch)
		if err != nil {
			return err
		}
		for _, r := range refs {
			id, execution = r.Instance.InstanceID, r.Instance.ExecutionID
			if r.CompletedAt == nil {
				continue
			}
			if err := t.engine.remove(ctx, r.Instance); err != nil {
				return err
			}
		}
		if len(refs) < batch {
			return nil
		}
	}
}
