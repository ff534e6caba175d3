// Package messages is the one place of words for people: what the engine itself
// says, shows or notifies, by code and language. The engine sends codes; who
// has a person in front of it looks the words up here.
//
// It holds data and no state; a [Catalog] never changes and is safe for
// concurrent use. Source: DESIGN rule 12; seed 000, INT-003 and GUD-003; seed
// 001, 4.6; seed 004, feature 7.
package messages
