//go:build !race

package porttest

const raceEnabled = false
