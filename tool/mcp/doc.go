// Package mcp provides the tools of servers that support the Model Context
// Protocol, over a process's standard streams or HTTP. It implements port.Tool with
// the protocol's official SDK, which is the reference implementation.
//
// The package defines which tools of a server are offered and under which names,
// when a server is restarted, and when a call times out. It does not decide whether
// a tool may run or whether arguments are valid (package toolset does), run a call
// twice, or shorten results (the machine does, limits.result_chars).
//
// [Tools] owns the processes and connections, with one goroutine per server; Close
// ends all of them and waits. A process leads a process group, which is ended with
// it.
//
// A server's output (names, descriptions, schemas, results, progress) is untrusted:
// its size is limited, and output beyond the limits is an error or is truncated.
//
// Source: seed 001, sections 4.5 and 4.6; the Model Context Protocol,
// https://modelcontextprotocol.io/specification.
package mcp
