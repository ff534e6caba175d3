package task

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cschleiden/go-workflows/backend"
	"github.com/cschleiden/go-workflows/client"

	"github.com/hocketvoice/hocket/port"
)

// Codes of the failures of this package. Failures of tools keep their own codes.
const (
	codeCancelled   = "CANCELLED"
	codeDuplicate   = "DUPLICATE"
	codeNotFound    = "NOT_FOUND"
	codeTimeout     = "TASK_TIMEOUT"
	codeInterrupted = "INTERRUPTED"
	codeToolError   = "TOOL_ERROR"
	codeServerError = "SERVER_ERROR"
	codeInvalidArgs = "INVALID_ARGS"
)

// Start begins a task, unless its key is known. The key must have 1 to 512 bytes, and
// the arguments at most [MaxArguments]. If the database does not answer, Start retries
// for a few seconds.
func (t *Tasks) Start(ctx context.Context, task port.Task) error {
	// An invalid task is a failure and not an error, so that the caller does not retry.
	refuse := func(format string, args ...any) error {
		return &port.Failure{Code: codeInvalidArgs, Message: fmt.Sprintf(format, args...)}
	}
	switch key, n := task.Key, len(task.Call.Arguments); {
	case key == "" || len(key) > maxKey:
		return refuse("the key of the task has %d bytes: expected 1 to %d", len(key), maxKey)
	case !utf8.ValidString(key) || strings.Contains(key, "\x00"):
		return refuse("the key %q of the task must be UTF-8 without zero bytes", key)
	case n > MaxArguments:
		return refuse("the arguments of %s have %d bytes: expected at most %d", task.Call.Name, n, MaxArguments)
	}
	var refused *port.Failure
	err := retry(ctx, 8, func() error {
		var replaced []string
		err := t.db.within(ctx, func(tx *sql.Tx) (err error) {
			refused, replaced, err = t.insert(ctx, tx, task)
			return err
		})
		if err != nil || refused != nil {
			return err
		}
		t.watch.poke(replaced...)
		return t.engage(ctx, task.Key)
	})
	if refused != nil {
		return refused
	}
	return fail("start", task.Key, err)
}

// engage starts the workflow of a task that no worker has begun.
func (t *Tasks) engage(ctx context.Context, key string) error {
	r, ok, err := t.read(ctx, key)
	if err != nil || !ok || r.ended.Valid || r.attempt > 0 {
		return err
	}
	return t.startWorkflow(ctx, key)
}

// startWorkflow starts the workflow of a task, unless there is one.
func (t *Tasks) startWorkflow(ctx context.Context, key string) error {
	_, err := t.client.CreateWorkflowInstance(ctx, client.WorkflowInstanceOptions{InstanceID: instance(key)}, workflowName, key)
	if errors.Is(err, backend.ErrInstanceAlreadyExists) {
		return nil
	}
	return err
}

// instance returns the name of a task's workflow. Keys may be too long for the engine.
func instance(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// insert adds the row of a task, unless its key is known or the policy for duplicates
// refuses the task. It returns the keys of the tasks that were replaced.
func (t *Tasks) insert(ctx context.Context, tx *sql.Tx, task port.Task) (refused *port.Failure, replaced []string, err error) {
	arguments := t.vault.digests("arguments", canonical(task.Call.Arguments))
	var callers [][]byte
	if task.Caller != "" {
		callers = t.vault.digests("caller", task.Caller)
	}
	var policy Policy
	if t.o.Duplicates != nil {
		policy = t.o.Duplicates(task.Agent, task.Call.Name)
	}
	exclusive := policy.Mode == Reject || policy.Mode == Replace
	if exclusive {
		whose := cmp.Or(task.Caller, task.Conversation)
		if err := t.db.alone(ctx, tx, strings.Join([]string{task.Agent, task.Call.Name, whose}, "\x1f")); err != nil {
			return nil, nil, err
		}
	}
	// Check this while holding the lock, so that a task is not a duplicate of itself.
	known, err := t.db.keys(ctx, tx, `SELECT key FROM hocket_tasks WHERE key = ?`, task.Key)
	if err != nil || len(known) > 0 {
		return nil, nil, err
	}
	if exclusive {
		others, err := t.duplicates(ctx, tx, task, policy.By, callers, arguments)
		switch {
		case err != nil:
			return nil, nil, err
		case len(others) > 0 && policy.Mode == Reject:
			return &port.Failure{Code: codeDuplicate, Message: fmt.Sprintf("%s runs already, as task %s", task.Call.Name, others[0].key)}, nil, nil
		}
		if replaced, err = t.callOff(ctx, tx, others, "; another one has replaced it"); err != nil {
			return nil, nil, err
		}
	}
	return nil, replaced, t.insertRow(ctx, tx, task, callers, arguments)
}

// insertRow adds the row of a task whose key is not known.
func (t *Tasks) insertRow(ctx context.Context, tx *sql.Tx, task port.Task, callers, arguments [][]byte) error {
	sealed, err := t.vault.put("task", task.Key, task)
	if err != nil {
		return err
	}
	limit := task.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	var caller any // NULL
	if callers != nil {
		caller = callers[0]
	}
	now := t.o.Now()
	_, err = tx.ExecContext(ctx, t.db.text(`INSERT INTO hocket_tasks (key, agent, tool, conversation, caller, arguments, task, created, deadline)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING`),
		task.Key, task.Agent, task.Call.Name, task.Conversation, caller, arguments[0], sealed, now.UnixMilli(), now.Add(limit.Round(time.Millisecond)).UnixMilli())
	return err
}

// duplicates returns the running tasks of the same tool and caller, or of the same
// conversation if the caller is not known, the oldest first.
func (t *Tasks) duplicates(ctx context.Context, tx *sql.Tx, task port.Task, by By, callers, arguments [][]byte) ([]row, error) {
	condition := `agent = ? AND tool = ?`
	args := []any{task.Agent, task.Call.Name}
	some := func(column string, digests [][]byte) {
		condition += ` AND ` + column + ` IN (` + marks(len(digests)) + `)`
		for _, d := range digests {
			args = append(args, d)
		}
	}
	if callers != nil {
		some("caller", callers)
	} else {
		condition += ` AND caller IS NULL AND conversation = ?`
		args = append(args, task.Conversation)
	}
	if by == ByArguments {
		some("arguments", arguments)
	}
	return t.runningOf(ctx, tx, condition, args...)
}
