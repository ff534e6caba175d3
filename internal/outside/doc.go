// Package outside has what all share that talk to programs and servers of others:
// what these say is made fit for people, without credentials, and HTTP clients are
// bounded, and take a key to no other server.
//
// It starts nothing and keeps nothing.
package outside
