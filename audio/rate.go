package audio

import "fmt"

// The sampling rates that hocket takes, in hertz: from the telephone to Opus.
const (
	MinRate = 8000
	MaxRate = 48000
)

// checkRate says which field of whose options is out of range.
func checkRate(what string, rate int) error {
	if rate < MinRate || rate > MaxRate {
		return fmt.Errorf("%s is %d Hz, expected %d to %d Hz", what, rate, MinRate, MaxRate)
	}
	return nil
}
