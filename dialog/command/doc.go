// Package command defines what is passed between the understanding of a message and the
// engine that acts on it: the commands that a message may contain, the moment at which it is
// said, and its meaning. It has no goroutine, clock or I/O.
package command
