//go:build race

package session

const raceEnabled = true // it makes allocations of its own
