package conv

import "time"

// Wake moves a restored conversation to now: the time since its last step has not
// passed for it, so that what it waits for it waits for as long as was left. It is
// called once, before the first step.
func (c *Conversation) Wake(now time.Time) {
	st := &c.st
	st.Summary.Asking = 0 // who was asked is gone
	gone := now.Sub(st.Now)
	if gone <= 0 {
		return // a clock that has gone back: Step keeps to the later time
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

// Resumable reports whether there is a conversation to go on with: one that has
// begun and not ended.
func (c *Conversation) Resumable() bool {
	return c.st.Phase != Idle && c.st.Phase != Terminating
}
