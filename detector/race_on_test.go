//go:build race

package detector_test

// phraseStep takes every sixth phrase: under the race detector all of them
// would take a minute.
const phraseStep = 6
