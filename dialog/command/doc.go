// Package command is the language between whoever understands a message and the engine
// that acts on it: the commands that a message may give, the moment at which it is said,
// and what it means then. It holds no goroutine, clock or I/O.
package command
