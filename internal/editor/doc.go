// Package editor holds conversations for an editor: it serves one connection, on which the
// editor's extension starts the program, gives commands, follows conversations, and answers
// requests to its language model and its tools. README.md describes the protocol.
//
// Messages are JSON-RPC 2.0 in the frames of the Language Server Protocol. The package decides
// nothing about a conversation: it relays between the connection and the [Engine], which holds
// the conversations as it does for other clients. One conversation runs at a time (seed 000,
// CON-002).
//
// [Run] owns the connection and all goroutines, and waits for them before it returns. It ends
// when the editor closes the connection, which is what happens when the editor dies.
//
// The connection is github.com/sourcegraph/jsonrpc2: it is symmetric, as both sides make requests
// here, lets a caller choose the id of a request, which $/cancelRequest needs, and takes another
// framing, which is this package's because the library's own allocates what a header asks for.
//
// Source: seed 000, CON-001, CON-002, INT-003, INT-005, PAT-002, PAT-003, PLT-001, PLT-002.
package editor
