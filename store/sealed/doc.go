// Package sealed encrypts the snapshots, journals and recordings of conversations, the
// files of their agents and the values of tickets before they reach another store. Data
// that was changed, moved to another conversation or to another place in a journal is
// detected. Ids of conversations and nodes, sizes, times, the digests of tokens and
// which conversations are of the same caller stay readable. Whoever can write to the wrapped store can delete data or restore older data
// without being detected.
//
// Package seal defines the encryption and how a key is replaced. The wrapped stores still
// belong to the caller.
package sealed
