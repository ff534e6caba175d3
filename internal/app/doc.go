// Package app is the composition root: it builds everything that a
// configuration asks for, and stops it in reverse.
//
// It decides which part is made of which options and wired to which; it holds no
// behaviour of its own. The parts never look for each other.
package app
