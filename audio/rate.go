package audio

import "fmt"

// The range of sampling rates, in hertz: from telephony to Opus.
const (
	MinRate = 8000
	MaxRate = 48000
)

// checkRate returns an error that names the field if the rate is out of range.
func checkRate(what string, rate int) error {
	if rate < MinRate || rate > MaxRate {
		return fmt.Errorf("%s is %d Hz: expected %d to %d Hz", what, rate, MinRate, MaxRate)
	}
	return nil
}
