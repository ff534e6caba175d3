// Package recording puts the two sides of a call on one clock ([Tape]), in pieces that a
// store keeps ([Piece]), and makes a WAV file of the pieces ([Sound]).
//
// The package has no goroutines and no clock. Frames are numbered from the beginning of
// the call, 20 ms each.
package recording
