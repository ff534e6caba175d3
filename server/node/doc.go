// Package node makes a process one of those that share a store: it gives signs of life,
// claims conversations, keeps the digests of their tokens, takes up what comes back here,
// and gives up what another process goes on with. [Home] is a server; [Claim] is a process
// that holds one conversation.
package node
