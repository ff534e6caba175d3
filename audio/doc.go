// Package audio holds the sound primitives of one conversation: the 20 ms
// frame with its sample position, G.711, WAV, resampling, gain, mixing, a ring
// of samples, and the level measures that turn-taking looks at.
//
// Everything here is pure and single-threaded: no goroutine, clock, log or
// hidden state. Readers and writers of WAV take the io interfaces they are
// given. What is called once per frame allocates nothing after construction.
//
// Samples are signed 16-bit PCM, mono unless a type says otherwise. Audio time
// is a count of samples ([Pos]), never a wall clock.
package audio
