// Package port declares the interfaces between a conversation and the outside: the
// call leg, speech recognition, speech synthesis, the language model, voice
// activity detection, tools and the store.
//
// The package makes no decisions. Adapters implement these interfaces; the packages
// session and internal/media use them. Each interface states which goroutine calls
// it and what may block.
//
// Source: seed 000, INT-001 to INT-005 (services are ports).
package port
