//go:build race

package detector_test

// phraseStep selects every sixth phrase, since all of them would take a minute with the
// race detector.
const phraseStep = 6
