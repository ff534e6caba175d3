// Package piper synthesizes speech with a Piper voice, a neural network in a file, without a
// network connection. It implements port.Synthesizer.
//
// A text is divided into sentences (internal/clauses). The program espeak-ng, a process for
// each clause, turns it into phonemes, and the ONNX Runtime (internal/onnx) computes the sound
// of a sentence at once. The first sound therefore waits for the first sentence, not for the
// whole text.
//
// The runtime needs the build tag "onnx"; without it, [New] returns an error that says so.
package piper
