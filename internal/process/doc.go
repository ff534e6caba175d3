// Package process runs helper programs: protocol servers and delegated agents. A
// program gets a small environment and leads its own process group, so that its
// children end with it.
//
// The package defines how a program is ended: the signals, their delays, and the
// end of the whole group. It does not read a program's standard output and logs
// nothing.
//
// The caller must end each program that it starts. [Process.End] and
// [Process.Terminate] wait for the program and for the package's goroutines.
package process
