// Package node makes a process a node of a store, which several processes may share. A
// node sends heartbeats, claims conversations, stores the digests of their tokens,
// resumes conversations whose clients reconnect here, and stops those that another node
// has claimed. [Home] is for a server; [Claim] is for a process with one conversation.
package node
