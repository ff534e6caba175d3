// Package sqlite stores conversations in an SQLite file, so that another process can
// continue one whose process has died: snapshots, journals, claims of processes, and the
// digests of tokens. It implements port.Store, port.Journal, port.Registry, port.Archive
// and port.Tickets without cgo and without a server.
//
// The package checks claims, sizes and checksums, and the version of the file. Data whose
// checksum is wrong is an error. It does not interpret snapshots, does not decide what is
// saved or for how long, and does not log. Its errors contain no content of snapshots. It
// starts no goroutines.
//
// Ownership: a [Store] owns its connections to the file until Close. The file may
// be shared with other stores in this and other processes of the same machine.
// While a store is open, no other code of the process may open and close the file:
// this would release the store's locks (POSIX, fcntl).
//
// Durability: the file has a write-ahead log and synchronous=NORMAL. When Save has
// returned, the operating system has the snapshot, so that the death of the process
// loses nothing. A failure of the machine may lose the last snapshots, but never a part
// of one: NORMAL syncs the disk only when the log is moved into the file. FULL would
// sync at every step of every conversation, for little benefit: a call does not survive
// its machine.
//
// Source: DESIGN.md, section 2 (checkpoints); https://www.sqlite.org/wal.html,
// https://www.sqlite.org/pragma.html#pragma_synchronous,
// https://www.sqlite.org/howtocorrupt.html.
package sqlite
