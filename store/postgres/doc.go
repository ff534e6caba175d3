// Package postgres keeps conversations in a database of PostgreSQL, which several
// processes on several machines share: snapshots, journals, which process holds which
// conversation, and the digests of tokens. It implements port.Store, port.Journal,
// port.Registry, port.Archive and port.Tickets.
//
// Each write checks and locks the claim in the same statement, so that a process that no
// longer holds a conversation cannot write it. The package also enforces a timeout on
// each call and checks the version of the schema. It does not interpret snapshots, does
// not decide what is saved or for how long, and does not log. Its errors contain no
// content of snapshots, no password and no token.
//
// Ownership: a [Store] owns its pool of connections, with its goroutine, until Close.
//
// Durability: that of the server's synchronous_commit. With its default, on, what a call
// has written when it returns survives a failure of the server's machine.
//
// Source: https://www.postgresql.org/docs/current/transaction-iso.html (READ
// COMMITTED), https://www.postgresql.org/docs/current/explicit-locking.html.
package postgres
