// Package task stores and runs delegated work that outlives the turn, the conversation
// and the process that requested it. It implements port.Tasks with the durable
// workflows of go-workflows, in a SQLite file or, if several nodes share the work, in a
// PostgreSQL database.
//
// The package decides which worker runs a task, when a worker counts as dead, whether a
// tool is called again, how a task ends (exactly once) and how long an ended task is
// kept. It does not decide what the conversation says about a task.
//
// Each task is a row of the package's own table, which alone determines the task's
// state. A workflow with one activity brings the task to a worker, repeatedly if
// necessary, until the row has ended. The engine's tables contain only the task's key,
// and a workflow is removed when it has finished.
//
// A [Tasks] owns its connections and its goroutines, for which [Tasks.Close] waits.
// [Tasks.Run] is the worker.
//
// Source: seed 001, sections 4.6 and 6.
package task
