// Package journal encodes and decodes the steps of a conversation: the trace, a
// file of JSON lines that contains every event and every effect, but no sound.
//
// A trace is complete: its first line contains the version, the options, the
// agent's files and their hash, so that [Replay] can step the conversation again
// and compare every effect, bit for bit. Several traces may follow one another in a
// file, as in a store: a conversation that continues in another process begins a
// new trace with the snapshot that it continues from. A [Writer] and a [Reader]
// must each be used by one goroutine at a time.
package journal
