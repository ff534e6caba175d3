package dialing

import (
	"errors"
	"time"
)

// The limits that refuse a call.
var (
	ErrNumberLimit = errors.New("the number was called as often as a day allows")
	ErrDayLimit    = errors.New("as many calls were placed as a day allows")
)

// Limits are the largest numbers of calls in 24 hours; 0 means any.
type Limits struct{ PerNumber, PerDay int }

// Meter counts the calls that were placed. The zero value has none. It is not safe for concurrent
// use.
type Meter struct{ placed []placed } // the oldest first

type placed struct {
	to string
	at time.Time
}

// day is the time that a call counts.
const day = 24 * time.Hour

// Admit counts a call, or returns an error that says which limit refuses it.
func (m *Meter) Admit(now time.Time, to string, l Limits) error {
	for len(m.placed) > 0 && now.Sub(m.placed[0].at) >= day {
		m.placed = m.placed[1:]
	}
	same := 0
	for _, p := range m.placed {
		if p.to == to {
			same++
		}
	}
	switch {
	case l.PerNumber > 0 && same >= l.PerNumber:
		return ErrNumberLimit
	case l.PerDay > 0 && len(m.placed) >= l.PerDay:
		return ErrDayLimit
	}
	m.placed = append(m.placed, placed{to, now})
	return nil
}
