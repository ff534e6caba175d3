package conv

import (
	"time"

	"github.com/hocketvoice/hocket/internal/timers"
)

// phaseTimers lists the timers of each phase. They are disarmed when the phase ends.
var phaseTimers = [numPhases][]timers.Timer{
	Idle:               {timers.Start},
	Preparing:          {timers.Start},
	ListeningReady:     {timers.Inactivity},
	ListeningCapturing: {timers.Listening, timers.Endpoint},
	Understanding:      {timers.Final, timers.AfterYes},
	Delegated:          {timers.Feedback, timers.Heartbeat},
	Speaking:           {timers.Speaking, timers.Playout},
	Interrupted:        {timers.Interrupted},
	Suspended:          {timers.Suspended},
	Reconnecting:       {timers.Reconnect, timers.ReconnectLimit},
	Faulted:            {timers.Fault},
	Terminating:        {timers.Release},
}

// arm sets the deadline of a timer to the given time after the current step.
func (s *State) arm(t timers.Timer, after time.Duration) { s.Timers[t] = s.Now.Add(after) }

// disarm disarms timers.
func (s *State) disarm(list ...timers.Timer) {
	for _, t := range list {
		s.Timers[t] = time.Time{}
	}
}

// armDerived sets the deadlines that follow from other fields of the state. Each step calls it
// at its end, so that no other part of the machine need do so.
func (s *State) armDerived(o *Options) {
	if s.Phase == Suspended {
		return // handleSessionRenewed restores the timers from s.Suspended
	}
	s.Timers[timers.Barge] = s.Barge.Deadline()
	s.Timers[timers.DeadAir] = time.Time{}
	if s.Phase == ListeningReady && !s.Floor.Speaking {
		s.Timers[timers.DeadAir] = s.DeadAir.Deadline(o.DeadAir)
	}
	s.Timers[timers.Tool], s.Timers[timers.Task] = time.Time{}, time.Time{}
	for i := range s.Calls {
		call := &s.Calls[i]
		if !call.Running() {
			continue
		}
		t := timers.Tool
		if call.Long {
			t = timers.Task
		}
		if s.Timers[t].IsZero() || call.Deadline.Before(s.Timers[t]) {
			s.Timers[t] = call.Deadline
		}
	}
	s.Timers[timers.Forget] = time.Time{}
	if len(s.Faults.Expiries) > 0 {
		s.Timers[timers.Forget] = s.Faults.Expiries[0]
	}
}
