package port

import (
	"context"
	"time"
)

// Tasks runs delegated work that outlives the turn, the conversation, the process
// and the node that requested it (seed 001, WAITING_AMPLIFIER). It is safe for
// concurrent use.
//
// A task is identified by its key, the idempotency key of its call. It is either
// running or has ended with exactly one result. The result is kept until the task
// is settled, that is, until its conversation has durably recorded the result.
type Tasks interface {
	// Start begins a task. If a task with the key is known, running or ended, Start
	// does nothing. When Start returns nil, the task survives the process. A policy
	// for duplicates may refuse the task with a [*Failure].
	Start(ctx context.Context, t Task) error
	// Follow waits for the result of a task. progress, which may be nil, receives
	// the task's reports from one goroutine; an empty text is a sign of life. The
	// error is a [*Failure] if the task failed, was cancelled or is not known. The
	// task continues if ctx ends. Several callers, in any process, may follow the
	// same task.
	Follow(ctx context.Context, key string, progress func(string)) (output string, err error)
	// Cancel cancels a task. A task that has not ended ends with a [*Failure] of
	// code CANCELLED. Cancel returns nil if the key is not known.
	Cancel(ctx context.Context, key string) error
	// Settle deletes a task whose result has been durably recorded. A running task
	// is cancelled. Settle returns nil if the key is not known.
	Settle(ctx context.Context, key string) error
	// Leave reports that a conversation has ended. Its unsettled tasks wait for
	// their caller; those without a caller are cancelled and deleted.
	Leave(ctx context.Context, conversation string) error
	// Adopt gives the tasks that wait for a caller to another conversation of the
	// same caller and returns them, the oldest first. Each task is given to one
	// conversation only. A repeated call for the same conversation returns the
	// tasks that it was given and has not settled.
	Adopt(ctx context.Context, caller, conversation string) ([]Task, error)
}

// Task is a tool call that runs as delegated work.
type Task struct {
	Key string // the call's idempotency key
	// Call is the call; its ID equals Key.
	Call ToolCall
	// Agent is the name of the agent that has the tool. The process that runs the
	// task uses it to find the tool.
	Agent string
	// Action reports that the call is for an action of the agent's flows and not
	// for a tool of its model. An action and a tool may have the same name, and
	// only a model's result is made readable for a model.
	Action bool
	// Conversation receives the result. Caller, if known, identifies the person:
	// when the conversation has ended, the result is kept for this caller.
	Conversation, Caller string
	// Secret reports that the call has secret arguments, which its progress and result may
	// repeat. They are not shown.
	Secret bool
	Limit  time.Duration // 5 minutes if 0
}

// TaskArchive lists and deletes the delegated work of one caller, for requests about what
// is kept of a person. It is safe for concurrent use.
type TaskArchive interface {
	// TasksOf returns the tasks of a caller that were not settled, the oldest first.
	TasksOf(ctx context.Context, caller string) ([]TaskRecord, error)
	// DeleteTasksOf deletes the tasks of a caller, and cancels those that run, except
	// those whose conversation spare, which may be nil, reports true for. It returns the
	// number of deleted tasks. If it fails, some may already be deleted.
	DeleteTasksOf(ctx context.Context, caller string, spare func(conversation string) bool) (deleted int, err error)
}

// TaskRecord is a task as it is kept.
type TaskRecord struct {
	Task
	Created time.Time
	Ended   time.Time // zero while it runs
	// Progress is its last report, empty if there was none.
	Progress string
	// Output or Failure is the result of a task that has ended.
	Output  string
	Failure *Failure
	// Unreadable reports that the words of the task cannot be decrypted for want of a key:
	// only Key, Conversation and the times are known.
	Unreadable bool
}
