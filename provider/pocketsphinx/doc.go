// Package pocketsphinx recognizes English speech with CMU PocketSphinx (5prealpha),
// in process and without a network. It implements port.Recognizer.
//
// The package determines the words, the confidence in them, and whether they are
// one of the expected forms. It does not detect the beginning or end of speech (the
// caller begins and ends utterances), resample, or interpret the words.
//
// An utterance is decoded with the general language model while it is written.
// Finalize decodes it again with the expected phrases as a grammar, which takes a
// fraction of the time, and compares three explanations of the same sound: the
// words of the grammar, the words of the language model, and no words (judge.go). A
// grammar alone would never reject.
//
// The engine is written in C and needs the build tag "pocketsphinx". Without the
// tag, [New] returns an error that says how to build with it. Grammars, confidence
// and the comparison are pure Go.
//
// A [Recognizer] owns a bounded pool of decoders. A stream owns one of them from
// Open to Close, and the knowledge about its caller. A decoder keeps nothing of an
// utterance, so results do not depend on earlier uses of the pool.
package pocketsphinx
