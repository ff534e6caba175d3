// Package port declares the interfaces between a conversation and the world:
// the call leg, speech recognition, speech synthesis, the language model, voice
// activity detection, tools and the store.
//
// The package decides nothing and holds no behaviour. Adapters implement these
// interfaces, package session and package internal/media use them. Each
// interface states who calls it, from which goroutine, and what blocks.
//
// Source: seed 000, INT-001 to INT-005 (the services are ports).
package port
