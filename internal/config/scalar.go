package config

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Off is the value of a field whose rule the file turns off.
const Off = -1

// scalar is a value given by a single word. set parses the word; its error says what
// was expected. kind describes the type in the documentation.
type scalar interface {
	set(word string) error
	kind() string
}

// The types of values. The zero value always means "not set". A 0 in the file means off
// or is an error.
type (
	// Duration is above 0.
	Duration time.Duration
	// DurationOrOff is the duration of a rule: above 0, or [Off].
	DurationOrOff time.Duration
	// Wait is a waiting time. 0 and off, for no waiting, are [Off].
	Wait time.Duration
	// Delay is the time from a beginning; 0 is the beginning itself.
	Delay time.Duration
	// Count is 1 or more.
	Count int
	// Minimum is a number that must be reached. 0 and off are [Off].
	Minimum int
	// Retries is a number of repetitions. 0 is [Off].
	Retries int
	// Threshold is a level above 0 and at most 1, or [Off].
	Threshold float64
	// Score is a level from 0 to 1 that must be reached. 0 and off are [Off].
	Score float64
	// Share is above 0 and at most 1.
	Share float64
	// Decibels is a level up to 0 dB as a factor, above 0 and at most 1, or [Off].
	Decibels float64
)

// longest is the longest duration that a file may contain.
const longest = 365 * 24 * time.Hour

const durationExample = "such as 400ms, 8s or 1m30s (a number alone is milliseconds)"

// parseDuration parses `400ms`, `8s`, `1m30s`, or a number of milliseconds.
func parseDuration(word string) (time.Duration, bool) {
	d, err := time.ParseDuration(word)
	if err != nil {
		ms, err := strconv.ParseFloat(word, 64)
		if err != nil || math.Abs(ms) > float64(longest/time.Millisecond)*2 || math.IsNaN(ms) {
			return 0, false
		}
		d = time.Duration(math.Round(ms * float64(time.Millisecond)))
	}
	return d, true
}

// readDuration parses a duration that must be at least least. expected describes the
// valid values in the error.
func readDuration(word string, least time.Duration, expected string) (time.Duration, error) {
	d, ok := parseDuration(word)
	switch {
	case !ok:
		return 0, errors.New("expected " + expected)
	case d < least && least == 0:
		return 0, errors.New("expected 0 or more, " + durationExample)
	case d < least:
		return 0, errors.New("expected " + expected + "; without the key the default holds")
	case d > longest:
		return 0, fmt.Errorf("expected at most %dh", longest/time.Hour)
	default:
		return d, nil
	}
}

func (d *Duration) set(word string) error {
	v, err := readDuration(word, 1, "a duration above 0, "+durationExample)
	*d = Duration(v)
	return err
}

func (d *DurationOrOff) set(word string) error {
	if word == "off" {
		*d = Off
		return nil
	}
	v, err := readDuration(word, 1, "a duration above 0, "+durationExample+", or off")
	*d = DurationOrOff(v)
	return err
}

func (d *Wait) set(word string) error {
	if word == "off" {
		*d = Off
		return nil
	}
	v, err := readDuration(word, 0, "a duration, "+durationExample+", or off")
	*d = Wait(v)
	if err == nil && v == 0 {
		*d = Off
	}
	return err
}

func (d *Delay) set(word string) error {
	v, err := readDuration(word, 0, "a duration, "+durationExample)
	*d = Delay(v)
	return err
}

// mostCounted is the largest number that a file may contain.
const mostCounted = 1_000_000_000

// readCount parses an integer that must be at least least.
func readCount(word string, least int, or string) (int, error) {
	n, err := strconv.Atoi(strings.ReplaceAll(word, "_", ""))
	if err != nil || n < least {
		return 0, fmt.Errorf("expected a whole number of %d or more%s", least, or)
	}
	if n > mostCounted {
		return 0, fmt.Errorf("expected at most %d", mostCounted)
	}
	return n, nil
}

func (c *Count) set(word string) error {
	n, err := readCount(word, 1, "; without the key the default holds")
	*c = Count(n)
	return err
}

func (c *Minimum) set(word string) error {
	if word == "off" {
		*c = Off
		return nil
	}
	n, err := readCount(word, 0, ", or off")
	*c = Minimum(n)
	if err == nil && n == 0 {
		*c = Off
	}
	return err
}

func (c *Retries) set(word string) error {
	n, err := readCount(word, 0, " (0: none)")
	*c = Retries(n)
	if err == nil && n == 0 {
		*c = Off
	}
	return err
}

// readLevel parses a number of at most 1. It must be above 0, or may be 0 if zero is
// set.
func readLevel(word string, zero bool, expected string) (float64, error) {
	v, err := strconv.ParseFloat(word, 64)
	if err != nil || !(v > 0 && v <= 1 || zero && v == 0) {
		return 0, errors.New("expected " + expected)
	}
	return v, nil
}

func (t *Threshold) set(word string) error {
	if word == "off" {
		*t = Off
		return nil
	}
	v, err := readLevel(word, false, "a number above 0 and up to 1, or off")
	*t = Threshold(v)
	return err
}

func (s *Score) set(word string) error {
	if word == "off" {
		*s = Off
		return nil
	}
	v, err := readLevel(word, true, "a number from 0 to 1, or off")
	*s = Score(v)
	if err == nil && v == 0 {
		*s = Off
	}
	return err
}

func (s *Share) set(word string) error {
	v, err := readLevel(word, false, "a number above 0 and up to 1")
	*s = Share(v)
	return err
}

func (d *Decibels) set(word string) error {
	if word == "off" {
		*d = Off
		return nil
	}
	number, unit := strings.CutSuffix(word, "dB")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || !unit || !(v <= 0 && v > -100) {
		return errors.New("expected a level up to 0dB, such as -15dB, or off")
	}
	*d = Decibels(math.Pow(10, v/20))
	return nil
}

func (d *Decibels) kind() string      { return "decibels or `off`" }
func (d *Duration) kind() string      { return "duration" }
func (d *DurationOrOff) kind() string { return "duration or `off`" }
func (d *Wait) kind() string          { return "duration or `off`" }
func (d *Delay) kind() string         { return "duration, 0 or more" }
func (c *Count) kind() string         { return "number, 1 or more" }
func (c *Minimum) kind() string       { return "number or `off`" }
func (c *Retries) kind() string       { return "number, 0 or more" }
func (t *Threshold) kind() string     { return "above 0, up to 1, or `off`" }
func (s *Score) kind() string         { return "0 to 1, or `off`" }
func (s *Share) kind() string         { return "above 0, up to 1" }
