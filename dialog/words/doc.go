// Package words understands messages without a model, by their words: which flow the user asks
// for, which values they give for which slots, what they correct, take back, deny or ask, and
// whether a yes is unconditional. It has no goroutine, clock or I/O.
//
// A [Reading] has two parts. The first, the message at its moment, finds out what the words say:
// values, questions, denials, the flows whose words they are. The second turns this into
// commands, and records what remains open: a flow that the user may mean, a value that two
// slots could take.
package words
