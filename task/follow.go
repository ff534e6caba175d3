package task

import (
	"context"
	"time"

	"github.com/hocketvoice/hocket/internal/wait"
	"github.com/hocketvoice/hocket/port"
)

// Follow waits for a task's result. It continues to wait while the database does not
// answer.
func (t *Tasks) Follow(ctx context.Context, key string, progress func(string)) (string, error) {
	if progress == nil {
		progress = func(string) {}
	}
	sub := t.watch.follow(key)
	defer t.watch.leave(sub)
	f := follower{t: t, progress: progress, last: time.Now()}
	life := time.NewTicker(t.o.Life)
	defer life.Stop()
	for {
		r, ok, err := t.readAgain(ctx, key)
		switch {
		case err != nil:
			return "", err
		case !ok && f.seen:
			return "", &port.Failure{Code: codeCancelled, Message: "the task was called off"}
		case !ok:
			return "", &port.Failure{Code: codeNotFound, Message: "the task is not known"}
		}
		f.tell(r)
		if r.ended.Valid {
			return t.result(r)
		}
		t.endLate(ctx, r)
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-life.C:
		case <-sub.changed:
		}
	}
}

// readAgain reads a task until the database answers, ctx ends or t is closed.
func (t *Tasks) readAgain(ctx context.Context, key string) (row, bool, error) {
	for {
		r, ok, err := t.read(ctx, key)
		switch {
		case err == nil:
			return r, ok, nil
		case ctx.Err() != nil:
			return row{}, false, ctx.Err()
		case t.closed.Load():
			return row{}, false, fail("follow", key, err)
		}
		t.o.Log.Warn("cannot read a task, trying again", "task", key, "err", err)
		if wait.For(ctx, time.Second) != nil {
			return row{}, false, ctx.Err()
		}
	}
}

// follower records what a follower was told.
type follower struct {
	t        *Tasks
	progress func(string)
	seen     bool
	said     int64 // number of progress texts
	beat     int64 // the last sign of life
	last     time.Time
}

// tell passes on a new progress text, or a sign of life of the worker.
func (f *follower) tell(r row) {
	now := time.Now()
	switch {
	case r.progress > f.said:
		f.progress(f.t.lastText(r))
	case r.beat != f.beat && f.seen && !r.ended.Valid && now.Sub(f.last) >= f.t.o.Life-poll:
		f.progress("")
	case f.seen:
		return
	}
	f.seen, f.said, f.beat, f.last = true, r.progress, r.beat, now
}

// endLate ends a task long after its deadline, in case no worker does.
func (t *Tasks) endLate(ctx context.Context, r row) {
	if t.o.Now().Sub(time.UnixMilli(r.deadline)) < 2*late {
		return
	}
	if err := t.finish(ctx, r.key, outcome{Failure: timedOut(r.tool, t.lastText(r))}); err != nil {
		t.o.Log.Warn("cannot end a task after its deadline", "task", r.key, "err", err)
	}
}

// result returns the result of an ended task.
func (t *Tasks) result(r row) (string, error) {
	var end outcome
	if err := t.vault.get("result", r.key, r.result, &end); err != nil {
		return "", &port.Failure{Code: codeServerError, Message: "the result cannot be read: " + err.Error()}
	}
	if end.Failure != nil {
		return "", end.Failure
	}
	return end.Output, nil
}
