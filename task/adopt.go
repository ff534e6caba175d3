package task

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"github.com/hocketvoice/hocket/port"
)

// Adopt gives the tasks that wait for a caller to a conversation. It returns them and
// the unsettled tasks that the conversation was given before, the oldest first. It
// omits tasks that cannot be decrypted because their key is missing.
func (t *Tasks) Adopt(ctx context.Context, caller, conversation string) ([]port.Task, error) {
	if caller == "" {
		return nil, nil
	}
	type given struct {
		seq  int64
		task port.Task
	}
	var all []given
	err := t.db.within(ctx, func(tx *sql.Tx) error {
		args := []any{conversation}
		digests := t.vault.digests("caller", caller)
		for _, d := range digests {
			args = append(args, d)
		}
		if _, err := tx.ExecContext(ctx, t.db.text(`UPDATE hocket_tasks SET waiting = 0, conversation = ?
			WHERE waiting = 1 AND caller IN (`+marks(len(digests))+`)`), args...); err != nil {
			return err
		}
		rows, err := tx.QueryContext(ctx, t.db.text(`SELECT seq, key, task FROM hocket_tasks
			WHERE waiting = 0 AND conversation = ?`), conversation)
		if err != nil {
			return err
		}
		all = nil
		for rows.Next() {
			var g given
			var r row
			if err := rows.Scan(&g.seq, &r.key, &r.task); err != nil {
				return errors.Join(err, rows.Close())
			}
			if g.task, err = t.open(r); err != nil {
				t.o.Log.Error("cannot open a task that waits for its caller", "task", r.key, "err", err)
				continue
			}
			if g.task.Conversation == conversation {
				continue // the conversation started the task itself
			}
			g.task.Conversation = conversation
			all = append(all, g)
		}
		return errors.Join(rows.Err(), rows.Close())
	})
	if err != nil {
		return nil, fail("adopt for", conversation, err)
	}
	slices.SortFunc(all, func(a, b given) int { return int(a.seq - b.seq) })
	tasks := make([]port.Task, len(all))
	for i, g := range all {
		tasks[i] = g.task
	}
	return tasks, nil
}
