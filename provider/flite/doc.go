// Package flite synthesizes English speech with the voices of the flite library
// (2.2), in process and without a network. It implements port.Synthesizer.
//
// A text is divided into clauses and transliterated by internal/clauses;
// flite decides pronunciation, timing and sound. The package does not play, pace or
// resample, and does not spell out values (dates, amounts).
//
// The engine is written in C and needs the build tag "flite". Without the tag,
// [New] returns an error that says how to build with it.
//
// A [Synthesizer] owns its voices until Close. Each call of Speak has its own flite
// utterance and noise generator, which stay on one thread and share nothing with
// other calls, so that the speech does not depend on concurrent calls. The PCM
// passed to emit belongs to flite and is valid only during the call.
package flite
