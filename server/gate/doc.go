// Package gate limits the connections of a server: those of each address that have
// not shown a key, and the total. When the total is reached, connections without a
// key are closed in favor of new ones, the longest idle first. A connection that
// has shown a key is never closed in favor of one without.
//
// The package starts no goroutines.
package gate
