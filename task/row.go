package task

import (
	"context"
	"database/sql"
	"errors"

	"github.com/hocketvoice/hocket/port"
)

// row is a task in the database.
type row struct {
	key, tool string
	task      []byte
	deadline  int64 // in milliseconds since 1970
	attempt   int64 // number of calls that were begun and not released
	worker    string
	beat      int64
	progress  int64
	text      []byte
	ended     sql.NullInt64
	result    []byte
}

// outcome is the result of a task.
type outcome struct {
	Output  string        `json:"output,omitempty"`
	Failure *port.Failure `json:"failure,omitempty"`
}

func (t *Tasks) read(ctx context.Context, key string) (r row, ok bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, statementLimit)
	defer cancel()
	r.key = key
	err = t.db.reader.QueryRowContext(ctx, t.db.text(`SELECT tool, task, deadline, attempt, worker, beat, progress, progress_text, ended, result
		FROM hocket_tasks WHERE key = ?`), key).
		Scan(&r.tool, &r.task, &r.deadline, &r.attempt, &r.worker, &r.beat, &r.progress, &r.text, &r.ended, &r.result)
	if errors.Is(err, sql.ErrNoRows) {
		return r, false, nil
	}
	if err == nil {
		t.db.outage.answered(ctx)
	}
	return r, err == nil, err
}

// open decodes the task of a row.
func (t *Tasks) open(r row) (task port.Task, err error) {
	err = t.vault.get("task", r.key, r.task, &task)
	return task, err
}

// lastText returns the last progress text, or "" if there is none or it cannot be
// decrypted.
func (t *Tasks) lastText(r row) (text string) {
	if r.text != nil && t.vault.get("progress", r.key, r.text, &text) != nil {
		return ""
	}
	return text
}

// claim makes worker the one that runs the task, unless the row has changed since r was
// read. From then on, the tool counts as called.
func (t *Tasks) claim(ctx context.Context, r row, worker string) (ok bool, err error) {
	n, err := t.db.exec(ctx, `UPDATE hocket_tasks SET attempt = attempt + 1, worker = ?, beat = beat + 1
		WHERE key = ? AND ended IS NULL AND attempt = ? AND worker = ?`, worker, r.key, r.attempt, r.worker)
	if err == nil {
		return n == 1, nil
	}
	// It is not known whether the update was written.
	now, there, err2 := t.read(ctx, r.key)
	if err2 != nil {
		return false, errors.Join(err, err2)
	}
	return there && now.worker == worker && !now.ended.Valid, nil
}

// release undoes a claim, so that the tool can be called again.
func (t *Tasks) release(ctx context.Context, key, worker string) error {
	_, err := t.db.exec(ctx, `UPDATE hocket_tasks SET attempt = attempt - 1, worker = ''
		WHERE key = ? AND ended IS NULL AND worker = ?`, key, worker)
	return err
}

// beatAll gives a sign of life for workers.
func (t *Tasks) beatAll(ctx context.Context, workers []string) error {
	args := make([]any, len(workers))
	for i, w := range workers {
		args[i] = w
	}
	_, err := t.db.exec(ctx, `UPDATE hocket_tasks SET beat = beat + 1 WHERE ended IS NULL AND worker IN (`+marks(len(args))+`)`, args...)
	return err
}

// note stores a progress text.
func (t *Tasks) note(ctx context.Context, key, worker, text string) error {
	sealed, err := t.vault.put("progress", key, text)
	if err != nil {
		return err
	}
	_, err = t.db.exec(ctx, `UPDATE hocket_tasks SET progress = progress + 1, progress_text = ?, progress_at = ?, beat = beat + 1
		WHERE key = ? AND ended IS NULL AND worker = ?`, sealed, t.o.Now().UnixMilli(), key, worker)
	if err == nil {
		t.watch.poke(key)
	}
	return err
}

const finishing = `UPDATE hocket_tasks SET ended = ?, result = ? WHERE key = ? AND ended IS NULL`

// finish ends a task. It does nothing if the task has already ended.
func (t *Tasks) finish(ctx context.Context, key string, end outcome) error {
	sealed, err := t.vault.put("result", key, end)
	if err != nil {
		return err
	}
	_, err = t.db.exec(ctx, finishing, t.o.Now().UnixMilli(), sealed, key)
	if err == nil {
		t.watch.poke(key)
	}
	return err
}
