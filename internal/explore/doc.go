// Package explore walks every state that the conversation machine can reach and
// checks what is promised of it: that it follows the seeds' tables (soundness),
// that the tables are reached (completeness), its invariants, and liveness.
//
// Time is abstract: whichever deadline is armed may pass first, whatever its
// length, and any event may come at any moment. What holds here holds for every
// timing. Two states are the same when the machine cannot tell them apart: texts
// count by their kind, turn numbers by who holds them, counters are bounded by
// small limits. The exploration runs on the shipped code: it calls
// conv.Conversation.Step, nothing else.
//
// It is deterministic: the same machine gives the same report, and a violation
// comes with the shortest sequence of events that shows it.
package explore
