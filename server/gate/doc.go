// Package gate bounds the connections of a server, so that nobody can take all of them: of
// each address those that have shown no key, and all together. Where the places run out,
// connections without a key make room for new ones, the longest idle first; one that has
// shown a key is never closed for another without.
//
// It owns no goroutine.
package gate
