// Package hub holds the conversations of a server by their ids: it starts them,
// finds and lists them, lets them be watched, and drains them.
//
// A [Conversation] is a session that runs in a goroutine of the hub's, with what
// others want to know of it: who it belongs to, its messages, its trace and its
// figures, all bounded. The hub decides how many conversations there may be and
// how long an ended one stays listed; it decides nothing within one.
//
// Messages go to a bounded feed, in which each [Stream] has its own place: a slow
// reader holds nobody up, loses the oldest, and is told so by a message of type
// "gap".
package hub
