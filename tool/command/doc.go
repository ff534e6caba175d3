// Package command provides tools that run command-line programs: delegated agents
// that receive a task, report progress, and return a result. It implements
// port.Tool.
//
// The package defines how a program is run, how its output is read, and when it is
// stopped. It does not use a shell, run a call twice, log what a program reads or
// writes, or shorten results (the machine does, limits.result_chars).
//
// A call owns its process and the goroutines that serve it, and waits for all of
// them before it returns. The process leads a process group, which is ended with
// it: see package process.
//
// A program's output is untrusted: lines, results and the total size are limited,
// and output beyond the limits is a failure.
//
// Source: seed 001, section 4.6. README.md describes the output formats of other
// programs.
package command
