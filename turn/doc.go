// Package turn decides who has the floor, the right to speak.
//
// It contains the decisions that need neither audio nor a clock:
//
//   - [EasyTurn], the turn controller of seed 002 (HOLD and SPEAK), and the other end-of-turn
//     policies behind the interface [Endpointer];
//   - [Onset], which detects where speech starts and stops from the features of each frame;
//   - [Stability], which scores how settled the recognizer's words are;
//   - [Classify], which classifies words that were heard while the agent speaks: fillers,
//     backchannels, the agent's own echo, words that always interrupt;
//   - [BargeIn], which decides whether the user takes the floor while the agent has it;
//   - [DeadAir], which decides when the agent speaks into a silence.
//
// The package handles no samples, starts no goroutine, reads no clock and does no I/O. Frames,
// words and times are arguments, decisions are results. The same inputs give the same
// decisions, bit for bit.
//
// There are two kinds of time. Types that are called for audio (EasyTurn, Endpointer, Onset,
// Stability) use stream time: a time.Duration since the start of the stream, which the caller
// computes from the sample position. Types that are called for the conversation (BargeIn,
// DeadAir) take the current time as a time.Time and keep their deadlines as fields. The
// conversation's loop has the only timer. A deadline that is reported early or twice changes
// nothing.
//
// Package internal/media has one Onset, one Stability and one Endpointer for each call and
// calls them for every frame. Package conv has a BargeIn and a DeadAir in its state. No type is
// safe for concurrent use, except the immutable [Words].
//
// The zero value of every options struct selects the defaults, which come from the seeds.
// [Off] in a field turns its rule off.
//
// Sources: seed 002 (EasyTurn), seed 001 sections 4 and 6 (silence threshold, push to talk),
// seed 004 features 2, 6 and 7 (interruption, filters, dead air), DESIGN.md section 5.
package turn
