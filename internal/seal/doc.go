// Package seal encrypts bytes that are kept: AES-256 in Galois/Counter Mode, which
// also tells bytes that were changed, or that belong to another name.
//
// It decides which key seals (the first) and which keys open (all), so that a key
// can be replaced: put the new one first, and keep the old one until nothing is
// sealed with it. It never makes, stores or tells a key.
//
// Source: NIST SP 800-38D; RFC 2104 for the digests.
package seal
