// Package conv is the core of the engine: a deterministic state machine for one
// conversation. It decides who has the floor, when the agent is asked, what is spoken,
// what is cut off, and how the conversation survives faults and lost connections.
//
// A [Conversation] takes one [Event] at a time, a fact that has happened, and
// returns the [Effect] values that the caller, called the driver, must carry out:
//
//	effects := c.Step(now, event)
//
// The package uses no goroutine, channel, clock, randomness, I/O or log. The time
// is an argument; deadlines are fields of the state, and [Conversation.NextDeadline]
// tells the driver when to step [DeadlinePassed]. The same events at the same times
// give the same effects, bit for bit. So a recorded conversation can be
// replayed, and the whole machine can be explored (see internal/explore).
//
// The state has three regions that change together: the phase ([Phase]),
// the floor (State.Floor, State.User) and the dialogue (package dialog). Nothing is
// stored that can be derived: whether the agent speaks and whether it was interrupted
// are views of the state ([State.Views]), not flags.
//
// Every asynchronous result names the turn it was started for. A result that comes too
// late is dropped in one place, [Conversation.Step], which reports it ([Output.Late]).
//
// A Conversation is not safe for concurrent use. In a session, one goroutine steps it.
//
// # Sub-states
//
// Each lifecycle is a field of [State] and a struct in a file of its own. Its type is not
// exported: callers read the fields, and compare them only by methods such as [Call.Running].
// Only its own methods change it, and they use no other lifecycle. Methods of [State] use several lifecycles. Methods of
// Conversation coordinate them, change the phase and ask the dialogue. All of them write
// effects to the [Output] of the step.
//
// Reply is the agent's open turn. It has three independent states. Progress says how
// much of the text has come:
//
//	asking   -> retrying  a try failed or took too long, and another is allowed
//	retrying -> asking    the pause between two tries is over
//	asking   -> arriving  the first text or call comes; also from retrying
//	arriving -> retrying  the try failed before any of its text was said
//	any      -> complete  the last text has come, or the model failed while the reply was heard
//	complete -> arriving  the next part begins, after a tool
//	any      -> asking    the next request is made: with results of tools, or for advice
//
// Voice says what the synthesizer has of the current part:
//
//	unused   -> speaking  the voice gets text, or audio of the part plays
//	speaking -> ended     the part is complete, and the voice is told so
//	speaking -> unused    the audio was played to the end, or dropped, and more may come
//	ended    -> over      the audio was played to the end, or dropped
//	over     -> ended     audio of the part plays again
//	any      -> unused    the next part begins
//
// Hold says whether the reply is held back:
//
//	none    -> reply    a voice is heard while the reply is being made
//	none    -> results  a tool returns its result while the user speaks
//	reply   -> none     the voice said no words: the reply continues
//	results -> none     the voice said no words: the model gets the results
//	any     -> none     the voice said words: the reply is taken back
//
// Playout is the agent's audio that the user hears or will hear:
//
//	silent  -> playing  a part has started
//	playing -> silent   the part was played to its end, or dropped
//	full    -> ducked   a voice is heard over the audio and may be an interruption
//	full    -> paused   as above, also from ducked; or the reply is held
//	ducked  -> full     the voice did not interrupt, or the audio has ended; also from paused
//
// Session is the session with the services:
//
//	none    -> lives    the session is ready
//	lives   -> expires  the session will end soon
//	expires -> lives    the session was renewed
//	lives   -> over     the session has ended; also from expires
//	over    -> lives    another session is ready
//
// Connection describes disturbances of the connection to the user:
//
//	fine         -> shaky         the connection is lost and may come back by itself
//	shaky        -> fine          the connection came back
//	shaky        -> reconnecting  the connection did not come back in time
//	fine         -> reconnecting  the connection is lost
//	reconnecting -> reconnecting  the next attempt is made
//	reconnecting -> fine          an attempt succeeded
//	reconnecting -> faulted       all attempts failed, or took too long
//
// [Call] is a call of a tool or task without a result. Due says what happens with the
// result:
//
//	none    -> held     its reply is held, or the call has just come
//	held    -> running  the call is started, with the user's yes if it needs one
//	held    -> none     its reply was taken back, or the yes is missing: the result is a failure
//	running -> none     the result has come, or the call took too long or was cancelled
//	reply   -> history  the reply ends without the result
//	reply   -> news     the reply is lost with the connection or to a fault
//
// Pending holds what waits until nobody speaks, and defines the order in which it is
// done. Consent and ReadBack are the questions that the user answers with a yes; their
// comments describe their states.
package conv
