// Package dialog runs dialogue flows: it decides what the user meant, which
// slots that fills, what the agent says next, and which actions are asked for
// (seed 003, "State Machine Design"; the file format is a superset of the Soni
// DSL 1.0).
//
// It is pure. [Parse] takes bytes and gives an [Agent], which never changes; an
// agent's [Agent.Start], [Agent.Handle] and [Agent.Repeat] change the [State]
// that they are given and return an [Output]: what to say, what to await, an
// action to run, a model to ask. The package reads no file, clock or network,
// starts no goroutine, and the same inputs always give the same outputs. It
// never runs an action itself and never talks to a model.
//
// Doubt: words of which the recognizer is less sure than the agent's settings ask
// for are asked again, and nothing in them is acted upon
// ([agent.Settings.MinConfidence]).
//
// Economy: while a slot is awaited and the message is a simple value, the value
// goes straight into the slot. Everything else is understood first, by the words
// alone, or by a model if the agent's settings say so. State.NLUCalls counts.
//
// Understanding: by the words alone ([Agent.Understand]), or by a model that is asked
// with [UnderstandingRequest] and whose answer [Agent.Interpret] reads. Both give an
// [Understood]; whatever it says is held against the agent, and words never reach
// further than the flows let them. What a model may put into other words, and
// whether it kept what matters, say [Agent.Rephrasable] and [Agent.KeepsValues].
//
// Secrets: the value of a secret slot is in [State.Slots] and in the [ActionCall]
// that takes it, and nowhere else. [Agent.Masked] makes a state that may be shown.
//
// # Inside
//
// A turn is made of parts. Each embeds the one before it and knows nothing of those behind:
//
//	part       what it is                         from .. to
//	dialogue   the state and its trail            a state of the seed > another, by the matrix
//	flows      the flows that run and wait        none > runs > waits for another > runs > ended, reopened
//	hearing    what was heard, what of it is used words > meaning > taken, offered, kept for later, left out
//	speech     what is said                       silent > lines > a question to confirm
//	question   the question for a slot            asked > taken | refused, with its reason > asked again
//	turn       what follows from what
//
// A [Confirmation] goes from asked to granted, for the values that were read back, and is
// used by one action. Built-in flows run beside the current flow or on top of it
// (builtin.go has their table).
//
// The owner of a State is whoever calls the agent with it; one goroutine at a
// time may. An Agent may be shared by all.
package dialog
