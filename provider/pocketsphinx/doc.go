// Package pocketsphinx recognizes English speech with CMU PocketSphinx
// (5prealpha), in process and without a network. It implements port.Recognizer.
//
// The package decides what was said, how far to believe it, and whether what was
// said is one of the forms that the agent expected. It never decides that
// somebody speaks or has finished (the caller opens and closes utterances),
// never resamples, and never interprets the words.
//
// A caller's utterance is decoded with the general language model while it is
// written. Finalize decodes it again with the expected phrases as a grammar,
// which takes a fraction of that time, and lets three explanations compete for
// the same sound: the grammar's words, the language model's words, and no words
// at all (judge.go). A grammar alone never rejects.
//
// The engine is C and sits behind the build tag "pocketsphinx". Without the tag,
// [New] returns an error that says how to build with it. Grammars, confidence
// and the judgement are pure Go.
//
// Ownership: a [Recognizer] owns a bounded pool of decoders. A stream owns one of
// them from Open to Close, and everything that is known of its caller; a decoder
// keeps nothing of an utterance, so results do not depend on the pool's past.
package pocketsphinx
