// Package value reads the values that people say: numbers, dates, times, amounts of
// money, spelled codes, telephone numbers, mail addresses, names, choices from a list,
// a yes or a no. It also speaks them ([Voice]), and holds the words of the languages
// that all of this is made of (lang/*.json).
//
// It is pure: a text, a [Language] and a day give a value. It knows no flow, no agent
// and no state. A [Spec] says what a value must look like and which words point to it;
// a [Reader] finds values of a Spec in an utterance ([Reader.Find]) or reads the whole
// utterance as the answer to a question ([Reader.Answer]).
//
// A [Language], a [Phrases] and a [Spec] after [Spec.Learn] never change, and any number
// of goroutines may use them. A [Reader] belongs to one.
package value
