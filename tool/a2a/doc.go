// Package a2a makes tools of agents elsewhere that speak the Agent2Agent protocol:
// a message is the task, its status updates are the progress, its artifacts the
// result. It implements port.Tool over the protocol's official SDK, which is chosen
// because it is the protocol's reference and brings the server that the tests use.
//
// The package decides how an agent is found, how a task is followed when the
// connection breaks, and when it is called off. It never sends a message twice,
// never answers an agent that asks for more, and never shortens a result (the
// machine does, limits.result_chars).
//
// Ownership: a call runs in its caller's goroutine and starts none; [Agents] owns
// the connections, which Close ends.
//
// What an agent says is outside input: it is bounded, and what does not fit is a
// failure.
//
// Source: seed 001, 4.6; the Agent2Agent protocol 0.3, https://a2a-protocol.org.
package a2a
