// Package value reads the values that people say: numbers, dates, times, amounts of money,
// spelled codes, telephone numbers, e-mail addresses, names, choices from a list, a yes or a no.
// It also formats them as speech ([Voice]), and contains the words of the languages that this
// needs (lang/*.json).
//
// The package is pure: a text, a [Language] and a day determine a value. It depends on no flow,
// agent or state. A [Spec] says what a value looks like and which words point to it. A [Reader]
// finds values of a Spec in an utterance ([Reader.Find]) or reads the whole utterance as the
// answer to a question ([Reader.Answer]).
//
// A [Language], a [Phrases] and a [Spec] after [Spec.Learn] are immutable and safe for
// concurrent use. A [Reader] is not.
package value
