// Package turn decides who has the floor, the right to speak.
//
// It holds the decisions that need neither audio nor a clock of their own:
//
//   - [EasyTurn], the turn controller of seed 002 (HOLD and SPEAK), and the
//     other end-of-turn policies behind the interface [Endpointer];
//   - [Onset], where speech starts and stops, from the features of each frame;
//   - [Stability], how settled the recognizer's words are;
//   - [Classify], what words are worth that were heard while the agent speaks:
//     fillers, backchannels, the agent's own echo, a word that always
//     interrupts;
//   - [BargeIn], whether the user takes the floor while the agent has it;
//   - [DeadAir], when a silence calls for a check-in.
//
// It never touches samples, never starts a goroutine, never reads a clock and
// never does I/O: frames, words and instants are arguments, decisions are
// results. The same inputs give the same decisions, bit for bit.
//
// Two kinds of time occur. What steps with the audio (EasyTurn, Endpointer,
// Onset, Stability) counts stream time: a time.Duration since the start of the
// stream, which the caller derives from the sample position. What steps with
// the conversation (BargeIn, DeadAir) takes the instant of the step as a
// time.Time and keeps its deadlines as fields; the conversation's loop owns the
// only timer, and a deadline reported early or twice changes nothing.
//
// Ownership: package internal/media owns one Onset, one Stability and one
// Endpointer for each call and steps them on every frame; package conv holds a
// BargeIn and a DeadAir inside its state. No type locks: each value belongs to
// one goroutine, except [Words], which never changes after [Lookup].
//
// Options: the zero value of every options struct is the default, taken from
// the seeds. [Off] in a field switches its rule off.
//
// Sources: seed 002 (EasyTurn), seed 001 sections 4 and 6 (silence threshold,
// push to talk), seed 004 features 2, 6 and 7 (interruption, filters, dead
// air), DESIGN.md section 5.
package turn
