package port

import (
	"context"
	"time"
)

// Tasks run delegated work that outlives the turn, the conversation, the process
// and the node that asked for it (seed 001, WAITING_AMPLIFIER). It is safe for
// concurrent use.
//
// A task is known by its key, which is the idempotency key of its call. It is
// running, or it has ended with exactly one result, which is kept until it is
// settled: until the conversation that it belongs to knows it for good.
type Tasks interface {
	// Start begins a task. A key that is known already is the same task, running or
	// ended: Start then does nothing. When it returns nil the task survives the
	// process. A policy for duplicates may refuse it, with a [*Failure].
	Start(ctx context.Context, t Task) error
	// Follow waits for the task's result. progress, which may be nil, hears what the
	// task says of itself, from one goroutine; an empty text is a sign of life. A
	// task that failed, that was cancelled or that nobody knows is a [*Failure]. The
	// end of ctx leaves the task as it is. Several may follow one task, in any
	// process.
	Follow(ctx context.Context, key string, progress func(string)) (output string, err error)
	// Cancel calls a task off: it ends with a [*Failure] of code CANCELLED if it has
	// not ended otherwise. A key that is not known is no error.
	Cancel(ctx context.Context, key string) error
	// Settle forgets a task whose result is known for good. A key that is not known
	// is no error; one that runs is cancelled.
	Settle(ctx context.Context, key string) error
	// Leave says that a conversation has ended: the tasks that are not settled wait
	// for their caller, those without a caller are cancelled and forgotten.
	Leave(ctx context.Context, conversation string) error
	// Adopt gives the tasks that wait for a caller to another conversation of theirs,
	// the oldest first. Each is given to one conversation only; asked again, the same
	// one gets what it was given before and has not settled.
	Adopt(ctx context.Context, caller, conversation string) ([]Task, error)
}

// Task is a call of a tool as delegated work.
type Task struct {
	Key string // of the task: the call's idempotency key
	// Call is the call; its ID is the Key.
	Call ToolCall
	// Agent is the name of the agent whose tool is called: who runs the task finds
	// the tool by it.
	Agent string
	// Action: an action of the agent's flows is called, no tool of its model's. The
	// two may have one name, and a model is given a result that it can read.
	Action bool
	// Conversation is that to which the result goes. Caller, if known, is who holds
	// it: the result is kept for them when the conversation has ended.
	Conversation, Caller string
	Limit                time.Duration // 5 min if 0
}
