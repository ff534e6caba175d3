// Package sqlite keeps conversations in one file, so that one whose process died goes
// on in another at the step it was at: snapshots, journals, which process holds which
// conversation, and the digests of tokens. It implements port.Store, port.Journal,
// port.Registry, port.Archive and port.Tickets on SQLite, without cgo and without a server.
//
// The package decides how a snapshot reaches the disk and when it is too large,
// what of a damaged file may still be believed (nothing whose checksum is wrong),
// who may write a conversation (whoever has claimed it last), and which files are a
// store of this program and this version. It never looks
// into a snapshot, never decides what is saved or how long it is kept ([Store.Expire]
// does what its caller says), never logs, and puts no byte of a snapshot into an
// error. It starts no goroutine of its own.
//
// Ownership: a [Store] owns its connections to the file until Close. The file may
// be shared with other stores, of this process or of others of the same machine.
// While a store is open no other code of the process may open and close the file:
// the operating system would drop the store's locks with it (POSIX, fcntl).
//
// Durability: the file has a write-ahead log and synchronous=NORMAL. When Save has
// returned, the snapshot is with the kernel, and the death of the process, by
// whatever signal, loses nothing. The death of the machine may lose the last
// snapshots (never half of one): NORMAL asks the disk to write only when the log
// is moved into the file. FULL would ask at every step of every conversation, and
// buy little: a call does not outlive the machine that holds its sound.
//
// Source: DESIGN.md, section 2 (checkpoints); https://www.sqlite.org/wal.html,
// https://www.sqlite.org/pragma.html#pragma_synchronous,
// https://www.sqlite.org/howtocorrupt.html.
package sqlite
