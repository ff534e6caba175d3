// Package command makes tools of command-line programs: delegated agents that are
// given a task, tell how they get on, and have a result. It implements port.Tool.
//
// The package decides how a program is run, how what it writes is read, and when
// it is given up. It never runs a shell, never runs a call twice, never logs what a
// program reads or writes, and never shortens a result (the machine does,
// limits.result_chars).
//
// Ownership: a call owns its process and the goroutines that serve it, and has
// waited for all of them when it returns. The process leads a process group, which
// ends with it: see package process.
//
// What a program writes is outside input: lines, results and the whole are bounded,
// and what does not fit is a failure.
//
// Source: seed 001, 4.6. The formats of other programs' output: README.md.
package command
