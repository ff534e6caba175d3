//go:build race

package media

const raceEnabled = true // it makes allocations of its own
