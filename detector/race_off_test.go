//go:build !race

package detector_test

// phraseStep takes every phrase.
const phraseStep = 1
