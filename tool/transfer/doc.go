// Package transfer provides tools that connect the person of a telephone call with somebody else.
// Each target is a tool of its own, so that a model or a flow can only call the targets that the
// installation names. It implements port.Tool; the call leg does the work ([port.Forwarder]).
//
// A call runs in its caller's goroutine and starts none. The package decides which numbers a target
// may have (internal/dialing), and passes no number on in an error.
package transfer
