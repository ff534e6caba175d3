// Package mcp offers the tools of servers that speak the Model Context Protocol,
// of several at once, by a process's standard streams or by HTTP. It implements
// port.Tool over the protocol's official SDK, which is chosen because it is the
// protocol's reference and follows its versions.
//
// The package decides which of a server's tools are offered and under which name,
// when a server that has ended is started again, and when one that does not answer
// is given up. It never decides whether a tool should run or whether arguments fit
// (package toolset does), never runs a call twice, and never shortens a result: the
// machine does (limits.result_chars).
//
// Ownership: [Tools] owns the processes and connections, and each server has one
// goroutine that keeps it running; Close ends and waits for all of them. A process
// is the leader of a process group, which ends with it.
//
// What a server says (names, descriptions, schemas, results, progress) is outside
// input: it is bounded, and what does not fit is an error or a note.
//
// Source: seed 001, 4.5 and 4.6; the Model Context Protocol,
// https://modelcontextprotocol.io/specification.
package mcp
