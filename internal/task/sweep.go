package task

import (
	"context"
	"errors"
	"time"

	"github.com/cschleiden/go-workflows/diag"

	"github.com/hocketvoice/hocket/internal/wait"
	"github.com/hocketvoice/hocket/port"
)

// sweeps put right what dead processes have left.
func (t *Tasks) sweeps(ctx context.Context) {
	for wait.For(ctx, t.o.sweep) == nil {
		if err := t.Sweep(ctx); err != nil && ctx.Err() == nil {
			t.o.Log.Warn("the tasks cannot be tidied up", "err", err)
		}
	}
}

// batch is how many tasks one sweep looks at of each kind.
const batch = 200

// Sweep ends the tasks that are over their limit, forgets the ended ones that nobody
// has settled in time, brings those to a worker whose process died while it started
// them, and removes what is left of finished workflows. Run does it by itself.
func (t *Tasks) Sweep(ctx context.Context) error {
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
	lost, err := t.db.keys(ctx, t.db.reader, `SELECT key FROM hocket_tasks WHERE ended IS NULL AND attempt = 0 AND created < ? LIMIT ?`,
		now.Add(-unbegun).UnixMilli(), batch)
	if err != nil {
		return err
	}
	for _, key := range lost {
		if err := t.engage(ctx, key); err != nil {
			return err
		}
	}
	return t.removeFinished(ctx)
}

const (
	late    = 2 * time.Second  // over the limit, for a tool that does not hear
	unbegun = 10 * time.Second // without a worker
)

func timedOut(tool, partial string) *port.Failure {
	return &port.Failure{Code: codeTimeout, Message: tool + " took too long", Partial: partial}
}

// removeFinished removes the finished workflows of processes that died before they
// could.
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
