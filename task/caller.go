package task

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/internal/sqlitefile"
	"github.com/hocketvoice/hocket/port"
)

// This file lists and deletes the tasks of one caller.

// callerIs returns the condition that selects the rows of a caller, and its arguments. The
// table contains digests of callers' names.
func (t *Tasks) callerIs(caller string) (condition string, args []any) {
	digests := t.vault.digests("caller", caller)
	for _, d := range digests {
		args = append(args, d)
	}
	return `caller IN (` + marks(len(digests)) + `)`, args
}

// TasksOf returns the tasks of a caller, the oldest first.
func (t *Tasks) TasksOf(ctx context.Context, caller string) ([]port.TaskRecord, error) {
	if caller == "" {
		return nil, nil
	}
	list, err := t.tasksOf(ctx, caller)
	return list, fail("list those of", caller, err)
}

func (t *Tasks) tasksOf(ctx context.Context, caller string) (list []port.TaskRecord, err error) {
	ctx, cancel := context.WithTimeout(ctx, statementLimit)
	defer cancel()
	condition, args := t.callerIs(caller)
	rows, err := t.db.reader.QueryContext(ctx, t.db.text(`SELECT key, tool, conversation, task, created, progress_text, ended, result
		FROM hocket_tasks WHERE `+condition+` ORDER BY seq`), args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var r row
		var conversation string
		var created int64
		if err := rows.Scan(&r.key, &r.tool, &conversation, &r.task, &created, &r.text, &r.ended, &r.result); err != nil {
			return nil, err
		}
		list = append(list, t.record(r, conversation, created))
	}
	return list, rows.Err()
}

// record converts a row to an entry of the list. If the row cannot be decrypted the entry
// contains only what is not encrypted.
func (t *Tasks) record(r row, conversation string, created int64) port.TaskRecord {
	task, err := t.open(r)
	var end outcome
	if r.ended.Valid {
		err = errors.Join(err, t.vault.get("result", r.key, r.result, &end))
	}
	if err != nil {
		task = port.Task{Key: r.key, Call: port.ToolCall{ID: r.key, Name: r.tool}}
	}
	task.Conversation = conversation // it changes if the task is adopted
	rec := port.TaskRecord{
		Task: task, Created: time.UnixMilli(created).UTC(), Progress: t.lastText(r),
		Output: end.Output, Failure: end.Failure, Unreadable: err != nil,
	}
	if r.ended.Valid {
		rec.Ended = time.UnixMilli(r.ended.Int64).UTC()
	}
	return rec
}

// DeleteTasksOf deletes the tasks of a caller, except those of conversations for which
// spare returns true. After a nil error, an SQLite file and its log no longer contain any
// deleted data.
func (t *Tasks) DeleteTasksOf(ctx context.Context, caller string, spare func(conversation string) bool) (deleted int, err error) {
	if caller == "" {
		return 0, nil
	}
	var gone []string
	err = t.db.within(ctx, func(tx *sql.Tx) (err error) {
		gone, err = t.deleteOf(ctx, tx, caller, spare)
		return err
	})
	if err != nil {
		return 0, fail("delete those of", caller, err)
	}
	t.watch.poke(gone...) // cancels their running tools
	return len(gone), fail("delete those of", caller, t.db.emptyLog(ctx))
}

func (t *Tasks) deleteOf(ctx context.Context, tx *sql.Tx, caller string, spare func(string) bool) (gone []string, err error) {
	condition, args := t.callerIs(caller)
	conversations, err := t.db.keys(ctx, tx, `SELECT DISTINCT conversation FROM hocket_tasks WHERE `+condition, args...)
	if err != nil {
		return nil, err
	}
	for _, c := range conversations {
		if spare != nil && spare(c) {
			continue
		}
		keys, err := t.db.keys(ctx, tx, `DELETE FROM hocket_tasks WHERE `+condition+` AND conversation = ? RETURNING key`, append(slices.Clip(args), c)...)
		if err != nil {
			return nil, err
		}
		gone = append(gone, keys...)
	}
	return gone, nil
}

// emptyLog moves the log of an SQLite file into the file and empties it.
func (d *database) emptyLog(ctx context.Context) error {
	if d.postgres {
		return nil
	}
	return retry(ctx, 8, func() error {
		ctx, cancel := context.WithTimeout(ctx, statementLimit)
		defer cancel()
		busy, err := sqlitefile.EmptyLog(ctx, d.writer)
		if err == nil && busy {
			err = fmt.Errorf("empty the log: %w", errLogBusy)
		}
		return err
	})
}

var errLogBusy = errors.New("other connections use the file: the tasks are deleted, but the log may contain their data until it is emptied")
