// Package sealed encrypts the snapshots of conversations before another store has
// them: AES-256 in Galois/Counter Mode, which also tells one that was changed, or
// that belongs to another conversation.
//
// It decides which key a snapshot is sealed with (the first) and which keys open one
// (all), so that a key can be replaced: put the new one first, and keep the old one
// until nothing is sealed with it. It never makes, stores or tells a key. Ids of
// conversations, sizes and times stay readable.
//
// It wraps any port.Store and owns nothing of it.
//
// Source: NIST SP 800-38D.
package sealed
