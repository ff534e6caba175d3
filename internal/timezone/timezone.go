package timezone

import (
	"errors"
	"fmt"
	"time"
)

// maxName bounds a name in bytes.
const maxName = 64

// Load returns the time zone of a name of the IANA database, such as Europe/Berlin, or of
// an offset such as +05:30.
func Load(name string) (*time.Location, error) {
	if at, err := time.Parse("-07:00", name); err == nil {
		_, offset := at.Zone()
		return fixed(offset), nil
	}
	// Package time takes "" and "Local" for UTC and the process's own.
	if name == "" || len(name) > maxName || name == "Local" {
		return nil, errUnknown
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, errUnknown // the other's wording is about files
	}
	return loc, nil
}

var errUnknown = errors.New("expected the name of a time zone in the IANA database, such as Europe/Berlin")

// Name returns the name with which [Load] finds the time zone of t: that of its location,
// or else its offset at t.
func Name(t time.Time) string {
	_, offset := t.Zone()
	if loc, err := Load(t.Location().String()); err == nil {
		if _, o := t.In(loc).Zone(); o == offset {
			return t.Location().String()
		}
	}
	return t.Format("-07:00")
}

// Of returns the time zone of t as Load finds it again on any machine: of the process's
// own zone, which has no name, the offset at t.
func Of(t time.Time) *time.Location {
	loc, err := Load(Name(t))
	if err != nil {
		panic(fmt.Sprintf("timezone: %v has no name: %v", t, err))
	}
	return loc
}

func fixed(offset int) *time.Location {
	if offset == 0 {
		return time.UTC
	}
	sign, minutes := '+', offset/60
	if minutes < 0 {
		sign, minutes = '-', -minutes
	}
	return time.FixedZone(fmt.Sprintf("%c%02d:%02d", sign, minutes/60, minutes%60), offset)
}
