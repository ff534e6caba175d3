// Package session runs one conversation: it steps the machine of package conv in a loop and
// carries out its effects.
//
// [Machine] is only the loop. It owns the state, reads the clock, runs the timer, records the
// steps, tells observers, and hands every effect to the program that embeds it. It is for
// programs with their own speech services. [Session] is a whole call on top of a Machine: it
// connects a leg, a detector, a recognizer, a synthesizer, a model and tools to the effects. An
// effect for which a service is missing fails, and the conversation is told so. [Text] is a
// conversation by text, which its caller steps line by line.
//
// The loop never waits for work. Work runs in other goroutines and posts its results as events
// into one bounded inbox. Virtual time and real time run the same steps and the same effects:
// in [Session.RunVirtual] the frames of the leg drive the clock.
package session
