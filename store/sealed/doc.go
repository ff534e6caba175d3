// Package sealed encrypts the snapshots and journals of conversations, the files of their
// agents, and what tickets are good for, before another store has them. What was changed, what belongs to another conversation, and a piece of
// a journal that stands in the place of another are not believed. Ids of conversations
// and nodes, sizes, times and the digests of tokens stay readable, and whoever writes to
// the store below can take away what is there, or put back what was there before.
//
// How it is done, and how a key is replaced, is package seal's. It wraps any port.Store
// and port.Journal and owns nothing of them.
package sealed
