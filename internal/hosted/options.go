package hosted

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/internal/socket"
)

// This file contains what the options and messages of adapters have in common.

// English is the language of a stream or an utterance that names none.
const English = "en"

// Primary returns the primary language of a BCP 47 tag, in lower case, and [English] for an
// empty one.
func Primary(tag string) string {
	if tag == "" {
		return English
	}
	language, _, _ := strings.Cut(tag, "-")
	return strings.ToLower(language)
}

// maxName is the length of a name in an option.
const maxName = 50

// Check returns an error for the first option of a vendor's adapter that is invalid. address
// may be empty or must be that of a WebSocket. names are pairs of an option and its value,
// which must have at most 50 characters and no spaces.
func Check(vendor, address string, names ...[2]string) error {
	if address != "" {
		if err := socket.CheckURL(address); err != nil {
			return fmt.Errorf("%s: URL %w", vendor, err)
		}
	}
	for _, n := range names {
		if strings.ContainsFunc(n[1], func(r rune) bool { return r <= ' ' || r == 0x7f }) || len(n[1]) > maxName {
			return fmt.Errorf("%s: %s is %q: expected at most 50 characters without spaces", vendor, n[0], n[1])
		}
	}
	return nil
}

// CheckRate returns an error if the sampling rate of a vendor's adapter, in hertz, is neither 0 nor
// one of those that the service has.
func CheckRate(vendor string, rate int, rates ...int) error {
	if rate != 0 && !slices.Contains(rates, rate) {
		return fmt.Errorf("%s: Rate is %d: expected one of %v", vendor, rate, rates)
	}
	return nil
}

// Milliseconds converts a number from a message, which may be anything, to a duration within
// a day.
func Milliseconds(ms float64) time.Duration {
	const day = 24 * time.Hour
	if !(ms > 0) {
		return 0
	}
	return time.Duration(min(ms, float64(day/time.Millisecond)) * float64(time.Millisecond))
}

// Pace limits the speaking rate of an utterance, 0 for none, to the range of a service. It
// returns 0 if the rate is the voice's own.
func Pace(rate, slowest, fastest float64) float64 {
	if rate == 0 || rate == 1 {
		return 0
	}
	return min(max(rate, slowest), fastest)
}
