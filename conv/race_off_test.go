//go:build !race

package conv_test

// raceEnabled: the race detector allocates by itself.
const raceEnabled = false
