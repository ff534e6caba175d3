package explore

import "github.com/hocketvoice/hocket/internal/timers"

// timerSet is a set of timers, with a bit for each.
type timerSet uint32

func (s timerSet) has(t timers.Timer) bool { return s&(1<<t) != 0 }

// keptTimers returns the timers that remain armed unchanged in a step; see canonical.
func keptTimers(timers *timers.Deadlines) (set timerSet) {
	for t := range timers {
		if timers[t] == future {
			set |= 1 << t
		}
	}
	return set
}

// armedTimers returns the armed timers.
func armedTimers(timers *timers.Deadlines) (set timerSet) {
	for t := range timers {
		if !timers[t].IsZero() {
			set |= 1 << t
		}
	}
	return set
}
