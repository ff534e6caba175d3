//go:build race

package porttest

const raceEnabled = true // the race detector allocates
