// Package task keeps and runs delegated work that outlives the turn, the conversation
// and the process that asked for it: port.Tasks on the durable workflows of
// go-workflows, in a SQLite file, or in a PostgreSQL database when several nodes
// share the work.
//
// It decides which worker runs a task, when a worker counts as dead, whether a call
// is made again, how a task ends (exactly once) and how long an ended one is kept.
// It never decides what a conversation says of it.
//
// A task is a row of its own table; the row alone says what is true of it. A
// workflow of one activity brings it to a worker, again and again, until the row
// has ended; nothing but the task's key is in the engine's tables, and its
// workflows are removed as soon as they are over.
//
// Tasks own their connections and one goroutine, which [Tasks.Close] waits for;
// [Tasks.Run] owns the worker.
//
// Source: seed 001, 4.6 and 6.
package task
