package task

import (
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

// The codes of failures that come from here. A tool's own failures keep theirs.
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

// Start begins a task, unless its key is known. Its key has 1 to 512 bytes of text, its
// arguments at most [MaxArguments]. A database that does not answer is asked again
// for a few seconds.
func (t *Tasks) Start(ctx context.Context, task port.Task) error {
	// No other try would be taken: it is a failure, which ends the task for who asks.
	refuse := func(format string, args ...any) error {
		return &port.Failure{Code: codeInvalidArgs, Message: fmt.Sprintf(format, args...)}
	}
	switch key, n := task.Key, len(task.Call.Arguments); {
	case key == "" || len(key) > maxKey:
		return refuse("the key of the task has %d bytes, expected 1 to %d", len(key), maxKey)
	case !utf8.ValidString(key) || strings.Contains(key, "\x00"):
		return refuse("the key %q of the task is no text, expected UTF-8 without zeros", key)
	case n > MaxArguments:
		return refuse("the arguments of %s have %d bytes, expected at most %d", task.Call.Name, n, MaxArguments)
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

// engage has the engine bring a task to a worker, if it does not do so already.
func (t *Tasks) engage(ctx context.Context, key string) error {
	r, ok, err := t.read(ctx, key)
	if err != nil || !ok || r.ended.Valid || r.attempt > 0 {
		return err
	}
	return t.bringAgain(ctx, key)
}

// bringAgain begins the workflow of a task, if there is none.
func (t *Tasks) bringAgain(ctx context.Context, key string) error {
	_, err := t.client.CreateWorkflowInstance(ctx, client.WorkflowInstanceOptions{InstanceID: instance(key)}, workflowName, key)
	if errors.Is(err, backend.ErrInstanceAlreadyExists) {
		return nil
	}
	return err
}

// instance is the name of a task's workflow; keys are longer than the engine likes.
func instance(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// insert writes the row of a task, unless its key is known or the policy for
// duplicates refuses it. replaced are the tasks that make place for it.
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
		whose := task.Caller
		if whose == "" {
			whose = task.Conversation
		}
		if err := t.db.alone(ctx, tx, strings.Join([]string{task.Agent, task.Call.Name, whose}, "\x1f")); err != nil {
			return nil, nil, err
		}
	}
	// Behind the lock: a task is no duplicate of itself.
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
	sealed, err := t.vault.put("task", task.Key, task)
	if err != nil {
		return nil, nil, err
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
	return nil, replaced, err
}

// duplicates are the running tasks of the same tool and caller, or conversation
// where nobody is known, the oldest first.
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
