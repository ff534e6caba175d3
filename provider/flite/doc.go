// Package flite speaks English with the voices of the flite library (2.2), in
// process and without a network. It implements port.Synthesizer.
//
// The package decides where a text is cut (sentence, then clause, then a bound
// on words) and how typographic characters are read; flite decides
// pronunciation, timing and sound. It never plays, paces, resamples or
// normalises dialogue values (dates, amounts): the caller does.
//
// The engine is C and sits behind the build tag "flite". Without the tag, [New]
// returns an error that says how to build with it. Text handling is pure Go and
// always built.
//
// Ownership: a [Synthesizer] owns its voices until Close. A call of Speak owns
// its flite utterance and noise generator, both live on one thread and share
// nothing with other calls, therefore speech does not depend on what else is
// being spoken. PCM handed to emit belongs to flite and is lent for the call.
package flite
