//go:build race

package media

const raceEnabled = true // the race detector allocates
