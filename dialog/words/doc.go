// Package words understands messages without a model, by their words: which flow is asked
// for, which values are given to which slots, what is corrected, taken back, denied or
// asked about, and whether a yes is one. It holds no goroutine, clock or I/O.
package words
