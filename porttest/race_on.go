//go:build race

package porttest

const raceEnabled = true // it makes allocations of its own
