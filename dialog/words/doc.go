// Package words understands messages without a model, by their words: which flow is asked
// for, which values are given to which slots, what is corrected, taken back, denied or
// asked about, and whether a yes is one. It holds no goroutine, clock or I/O.
//
// A [Reading] is made of two parts. The first, the message at its moment, says what the words
// say: values, questions, denials, the flows that they speak for. The second makes commands of
// that, and notes what is left open: a flow that may be meant, a value that two slots take.
package words
