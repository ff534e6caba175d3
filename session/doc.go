// Package session runs one conversation: the loop around the machine of package
// conv, and the carrying out of its effects.
//
// [Machine] is the loop alone: it owns the state, reads the clock once per step,
// keeps the only timer, records, tells observers, and hands every effect to the
// program that embeds it. It is the facade for a program that has its own
// speech services. [Session] is a whole call on top of it: a leg, a detector, a
// recognizer and a synthesizer, wired to the effects. What it has no service for
// fails, and the conversation is told so.
//
// The loop never waits for work. Work posts facts into one bounded inbox; calls
// go down, facts go up. Virtual time and real time run the same steps and the
// same effects: [Session.RunVirtual] lets the frames drive the clock.
package session
