// Package a2a provides remote agents that support the Agent2Agent protocol as
// tools: a message is the task, its status updates are the progress, its artifacts
// the result. It implements port.Tool with the protocol's official SDK, which is
// the reference implementation and includes the server used in tests.
//
// The package defines how an agent is found, how a task is followed after a lost
// connection, and when it is cancelled. It does not send a message twice, answer an
// agent's questions, or shorten results (the machine does, limits.result_chars).
//
// A call runs in its caller's goroutine and starts none. [Agents] owns the
// connections, which Close closes.
//
// An agent's output is untrusted: its size is limited, and output beyond the limits
// is a failure.
//
// Source: seed 001, section 4.6; the Agent2Agent protocol 0.3,
// https://a2a-protocol.org.
package a2a
