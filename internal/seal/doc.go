// Package seal encrypts stored bytes with AES-256 in Galois/Counter Mode, which
// also detects bytes that were modified or belong to another name.
//
// The first key encrypts, and all keys decrypt, so that a key can be replaced: add
// the new one as the first, and keep the old one until nothing is encrypted with
// it. The package does not create or store keys.
//
// Source: NIST SP 800-38D; RFC 2104 for the digests.
package seal
