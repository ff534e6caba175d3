// Package text is the leg of a conversation by text: no sound goes either way.
//
// The person's lines come in beside it, as facts, and what the agent says is
// read from the events of the conversation. The package has the two parts that a
// session wants all the same: a [Leg] that is there and silent, and a [Voice]
// that speaks each text at once and without a sound, so that it counts as heard
// whole.
package text
