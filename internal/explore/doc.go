// Package explore visits every reachable state of the conversation machine and checks
// its properties: that it follows the seeds' tables (soundness), that the tables are
// reached (completeness), its invariants, and liveness.
//
// Time is abstract: any armed deadline may pass first, whatever its length, and any
// event may occur at any time. The results therefore hold for any timing. Two states
// are equal if the machine cannot distinguish them: texts count by their kind and turn
// numbers by their use, and counters have low limits. The exploration runs the shipped
// code by calling conv.Conversation.Step.
//
// It is deterministic: the same machine yields the same report. Each violation is
// reported with the shortest sequence of events that leads to it.
package explore
