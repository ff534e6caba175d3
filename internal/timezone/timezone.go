package timezone

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// maxName is the maximum length of a name in bytes.
const maxName = 64

// Load returns the time zone with a name of the IANA database, such as Europe/Berlin, or
// with an offset such as +05:30. It returns an error for other names, also for "" and
// "Local".
func Load(name string) (*time.Location, error) {
	if at, err := time.Parse("-07:00", name); err == nil {
		_, offset := at.Zone()
		return fixed(offset), nil
	}
	// time.LoadLocation returns UTC for "" and the zone of the process for "Local".
	if name == "" || len(name) > maxName || name == "Local" {
		return nil, errUnknown
	}
	// Files beside those of the zones: the zone of the machine, and zones with leap seconds,
	// which the clock does not count.
	if name == "localtime" || name == "posixrules" || strings.HasPrefix(name, "right/") {
		return nil, errUnknown
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, errUnknown // the text of err is about files
	}
	return loc, nil
}

var errUnknown = errors.New("expected the name of a time zone in the IANA database, such as Europe/Berlin")

// Name returns a name for which [Load] returns the time zone of t: the name of t's
// location or, if Load does not know that name or it has another offset at t, the offset
// of t.
func Name(t time.Time) string {
	_, offset := t.Zone()
	if loc, err := Load(t.Location().String()); err == nil {
		if _, o := t.In(loc).Zone(); o == offset {
			return t.Location().String()
		}
	}
	return t.Format("-07:00")
}

// Of returns the time zone that [Load] returns for [Name] of t, on any machine. For the
// local zone of the process, which has no name, it is a fixed zone with the offset of t.
func Of(t time.Time) *time.Location {
	loc, err := Load(Name(t))
	if err != nil {
		panic(fmt.Sprintf("timezone: %v has no name: %v", t, err))
	}
	return loc
}

// fixed returns the time zone with an offset in seconds; its name is the offset.
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
