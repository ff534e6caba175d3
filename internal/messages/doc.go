// Package messages contains all messages of the engine for people, by code and
// language. The engine sends codes; the code that presents them looks up the text
// here.
//
// The package has no state; a [Catalog] is immutable and safe for concurrent use.
// Source: DESIGN rule 12; seed 000, INT-003 and GUD-003; seed 001, section 4.6;
// seed 004, feature 7.
package messages
