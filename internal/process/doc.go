// Package process runs programs that serve this one: servers of a protocol, and
// delegated agents. A program gets a small environment and leads a process group of
// its own, so that what it starts ends with it.
//
// The package decides how a program ends: what it is sent, after which time, and
// that nothing of it is left. It never reads what a program writes to its standard
// output, and logs nothing.
//
// Ownership: who starts a program ends it. [Process.End] and [Process.Terminate]
// wait for the program and for the package's goroutines.
package process
