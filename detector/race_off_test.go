//go:build !race

package detector_test

// phraseStep selects every phrase.
const phraseStep = 1
