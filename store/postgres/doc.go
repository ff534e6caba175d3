// Package postgres keeps conversations in a database of PostgreSQL, which several
// processes on several machines share: snapshots, journals, which process holds which
// conversation, and the digests of tokens. It implements port.Store, port.Journal,
// port.Registry, port.Archive and port.Tickets.
//
// The package decides how one that no longer holds a conversation is kept from writing
// it (each write looks at the claim, and locks it, in the same statement), how long a
// call waits for the database, and which databases are a store of this version. It
// never looks into a snapshot, never decides what is saved or how long it is kept,
// never logs, and puts no byte of a snapshot, no password and no token into an error.
//
// Ownership: a [Store] owns its pool of connections until Close; the pool's own
// goroutine ends with it.
//
// Durability: that of the server's synchronous_commit. With on, its default, what was
// written when a call has returned survives the machine.
//
// Source: https://www.postgresql.org/docs/current/transaction-iso.html (READ
// COMMITTED), https://www.postgresql.org/docs/current/explicit-locking.html.
package postgres
