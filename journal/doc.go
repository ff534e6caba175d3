// Package journal turns the steps of a conversation into bytes and back: the
// trace, a file of JSON lines that holds every event and every effect, and no
// sound.
//
// A trace is complete: its first line carries the version, the options, the
// agent's files and their hash, so that [Replay] can step the conversation again
// and compare every effect, bit for bit. Traces may stand one behind the other, as
// a store keeps them: a conversation that goes on in another process begins a new
// one there, with the snapshot that it went on from. The package decides nothing and keeps
// no time; a [Writer] and a [Reader] belong to one goroutine each.
package journal
