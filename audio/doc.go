// Package audio provides the sound primitives of a conversation: the 20 ms frame
// with its sample position, G.711, WAV, resampling, gain, mixing, a ring buffer of
// samples, and the level measures that turn-taking uses.
//
// The package is single-threaded and has no goroutines, clocks, logs or hidden
// state. WAV readers and writers use only the io interfaces that they are given.
// Functions that are called once per frame allocate nothing after construction.
//
// Samples are signed 16-bit PCM, mono unless a type says otherwise. Audio time is a
// count of samples ([Pos]), never wall-clock time.
package audio
