package conv

import "time"

// Wake moves a restored conversation to the time now. It shifts all deadlines by the time since
// the last step, so that every timer has as much time left as it had then. Call it once, before
// the first step.
func (c *Conversation) Wake(now time.Time) {
	st := &c.st
	st.Summary.Asking = 0 // the request for a summary was lost
	gone := now.Sub(st.Now)
	if gone <= 0 {
		return // the clock was set back; Step uses the later time
	}
	shift := func(t *time.Time) {
		if !t.IsZero() {
			*t = t.Add(gone)
		}
	}
	for i := range st.Timers {
		shift(&st.Timers[i])
	}
	shift(&st.Suspended.At)
	for i := range st.Suspended.Timers {
		shift(&st.Suspended.Timers[i])
	}
	for i := range st.Calls {
		shift(&st.Calls[i].Deadline)
		shift(&st.Calls[i].Started)
	}
	for i := range st.Faults.Expiries {
		shift(&st.Faults.Expiries[i])
	}
	shift(&st.DeadAir.Since)
	shift(&st.Playout.At)
	st.Now = now
}

// Resumable reports whether the conversation has begun and is not ending, so that it can
// continue after a restart.
func (c *Conversation) Resumable() bool {
	return c.st.Phase != Idle && c.st.Phase != Terminating
}
