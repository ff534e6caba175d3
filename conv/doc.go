// Package conv is the brain of a conversation: one deterministic machine that
// decides who has the floor, when the agent is asked, what is spoken, what is
// cut off, and how the call survives faults and lost connections.
//
// A [Conversation] takes one [Event] at a time, a fact that has happened, and
// returns the [Effect] values that somebody else has to carry out:
//
//	effects := c.Step(now, event)
//
// It holds no goroutine, channel, clock, randomness, input, output or log. Time
// is the argument; deadlines are fields, and [Conversation.NextDeadline] tells
// the caller when to step [DeadlinePassed]. The same events at the same times
// give the same effects, bit for bit, so a recorded conversation can be
// replayed, and the whole machine can be explored (see internal/explore).
//
// The state has three regions that are stepped together: the phase ([Phase]),
// the floor ([Floor], [UserTurn]) and the dialogue (package dialog). Nothing is
// stored that can be derived: "is the agent speaking" and "was it interrupted"
// are views ([Views]) of the state, never flags beside it.
//
// Every asynchronous result names the turn it was started for. A late one is
// dropped in one place, [Conversation.Step], which reports it ([Output.Late]).
//
// A Conversation is not safe for concurrent use: the session loop owns it.
package conv
