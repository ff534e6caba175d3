// Package dialog runs dialogue flows. It decides what the user means, which slots that fills,
// what the agent says next, and which actions to ask for (seed 003, "State Machine Design";
// the file format is a superset of the Soni DSL 1.0).
//
// The package is pure. [Parse] compiles files to an [Agent], which is immutable. The methods
// [Agent.Start], [Agent.Handle] and [Agent.Repeat] change the [State] that they are given and
// return an [Output]: what to say, what to expect, an action to run, a model to ask. The
// package reads no file, clock or network and starts no goroutine, and the same inputs always
// give the same outputs. The caller runs actions and calls models.
//
// Doubt: if the recognizer's confidence in an utterance is below
// [agent.Settings.MinConfidence], the agent asks again and acts on nothing in it.
//
// Economy: if a slot is awaited and the message is a simple value, the value fills the slot at
// once. Any other message is understood first. State.NLUCalls counts these calls.
//
// Understanding: a message is understood by its words alone ([Agent.Understand]) or, if the
// agent's settings say so, by a model. [UnderstandingRequest] builds the prompt for the model,
// and [Agent.Interpret] reads the answer. Both give an [Understood], which is checked against
// the agent. [Agent.Rephrasable] and [Agent.KeepsValues] decide what a model may reword.
//
// Secrets: the value of a secret slot is in [State.Slots] and in the [ActionCall] that takes
// it, and nowhere else. [Agent.Masked] returns a state that may be shown.
//
// # Inside
//
// A turn consists of parts. Each part embeds the one before it and does not know those after:
//
//	part       what it holds                      from .. to
//	dialogue   the state and its audit trail      a state of the seed > another, by the matrix
//	flows      the current flow and the stack     none > runs > waits for another > runs > ended, reopened
//	hearing    the message and what of it is used words > meaning > accepted, offered, kept for later, dropped
//	speech     what the agent says                silent > lines > a question to confirm
//	question   the question for a slot            asked > accepted | refused, with a reason > asked again
//	turn       the steps and their order
//
// A [Confirmation] is granted for the values that were read back, and one action uses it.
// Built-in flows run beside the current flow or on top of it; see the table in builtin.go.
//
// An Agent is safe for concurrent use, a State is not.
package dialog
