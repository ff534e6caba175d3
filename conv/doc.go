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
//
// # Sub-states
//
// Each lifecycle is a struct in a file of its own. Its methods are the only ones
// that move it, and they know nothing of the others; methods of [State] look at
// several of them; methods of Conversation coordinate them, change the phase and ask
// the dialogue. A sub-state writes its effects to the [Output] of the step.
//
// [Reply], the agent's open turn, has three lives. How far its text is ([Progress]):
//
//	asking   -> retrying  a try failed or took too long, and another is allowed
//	retrying -> asking    the pause between two tries is over
//	asking   -> arriving  the first text or call comes; also from retrying
//	arriving -> retrying  the try failed before anything of it was said
//	any      -> complete  the last text has come, or the model broke off while it was heard
//	complete -> arriving  the next part begins, after a tool
//	any      -> asking    something else is asked: the results of tools, or advice
//
// What the voice has of its current part ([Voice]):
//
//	unused   -> speaking  the voice is given text, or audio of the part plays
//	speaking -> ended     the part is complete, and the voice is told so
//	speaking -> unused    its audio was played to the end, or dropped, and more may come
//	ended    -> over      its audio was played to the end, or dropped
//	over     -> ended     audio of it plays again
//	any      -> unused    the next part begins
//
// Whether it is held back ([Hold]):
//
//	none    -> reply    a voice is heard while the reply is being made
//	none    -> results  a tool has its result while the user speaks
//	reply   -> none     the voice brought no words: the reply goes on
//	results -> none     the voice brought no words: the results are given to the model
//	any     -> none     the voice brought words: the reply is taken back
//
// [Playout], the agent's audio on its way to the ear:
//
//	silent  -> playing  a part has started
//	playing -> silent   it was played to its end, or dropped
//	full    -> ducked   a voice is heard over it, and it is not decided what it is
//	full    -> paused   the same, also from ducked, or the reply is held
//	ducked  -> full     it was no interruption, or the audio has ended; also from paused
//
// [Session], the session with the services:
//
//	none    -> lives    it is ready
//	lives   -> expires  it will end soon
//	expires -> lives    it was renewed
//	lives   -> over     it has ended; also from expires
//	over    -> lives    another one is ready
//
// [Connection], as far as it is disturbed:
//
//	fine         -> shaky         it is gone and may come back by itself
//	shaky        -> fine          it came back
//	shaky        -> reconnecting  it did not come back in time
//	fine         -> reconnecting  it is gone
//	reconnecting -> reconnecting  the next attempt
//	reconnecting -> fine          an attempt was successful
//	reconnecting -> faulted       all attempts have failed, or took too long
//
// [Call], a tool or a task without a result. Who waits for it is its [Due]:
//
//	none    -> held     its reply is held, or the call has just come
//	held    -> running  it is started, with the user's yes if it needs one
//	held    -> none     its reply was taken back, or the yes is missing: a failure is its result
//	running -> none     it has its result, took too long, or was called off
//	reply   -> history  the reply ends without the result
//	reply   -> news     the reply is lost with the connection or to a fault
//
// [Pending] holds what waits until nobody speaks, and the order in which it has its
// moment. [Consent] and [ReadBack] are the questions that a yes answers; their
// tables stand there.
package conv
