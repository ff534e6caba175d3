// Package hub manages the conversations of a server by their ids: it starts, finds,
// lists and drains them and streams their messages.
//
// A [Conversation] is a session that runs in a goroutine of the hub, with its
// owner, messages, trace and metrics, all of bounded size. The hub decides how many
// conversations may run and how long an ended one stays in the list. It does not
// influence a running conversation.
//
// Messages are appended to a bounded feed, in which each [Stream] has its own
// position. A slow reader does not delay anyone: it loses the oldest messages and
// receives a message of type "gap" in their place.
package hub
