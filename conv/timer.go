package conv

import (
	"encoding/json"
	"fmt"
	"time"
)

// Timer names one deadline of the machine. Each is a field of the state; the
// driver needs one real timer for their minimum.
type Timer uint8

// The deadlines, in the order in which simultaneous ones fire.
const (
	TimerStart          Timer = iota // a start that finds no session or audio
	TimerListening                   // the longest user turn
	TimerEndpoint                    // silence and nobody ends the turn
	TimerFinal                       // the final transcript does not come
	TimerTry                         // one try of a request, or the pause before the next
	TimerProcessing                  // all tries, or a reply that stalls
	TimerTool                        // the earliest deadline of a quick tool
	TimerTask                        // the earliest deadline of a delegated agent
	TimerFeedback                    // the next word to who waits for a delegated agent
	TimerHeartbeat                   // no progress of a delegated agent
	TimerSpeaking                    // an unusually long reply
	TimerPlayout                     // no sign of the playout
	TimerInterrupted                 // the pause after a barge-in
	TimerBarge                       // a voice is or is not an interruption
	TimerDeadAir                     // nobody speaks
	TimerInactivity                  // nobody did anything
	TimerSuspended                   // a planned pause that does not end
	TimerGrace                       // a connection that does not come back by itself
	TimerReconnect                   // the next attempt
	TimerReconnectLimit              // all attempts
	TimerFault                       // recovery
	TimerBreaker                     // the circuit breaker closes
	TimerForget                      // the oldest fault is forgotten
	TimerWarning                     // the session ends soon
	TimerSession                     // the session ends
	TimerRelease                     // the longest Terminating

	numTimers = iota
)

var timerNames = [numTimers]string{
	TimerStart: "start", TimerListening: "listening", TimerEndpoint: "endpoint", TimerFinal: "final",
	TimerTry: "try", TimerProcessing: "processing", TimerTool: "tool", TimerTask: "task",
	TimerFeedback: "feedback", TimerHeartbeat: "heartbeat", TimerSpeaking: "speaking",
	TimerPlayout: "playout", TimerInterrupted: "interrupted", TimerBarge: "barge", TimerDeadAir: "dead_air", TimerInactivity: "inactivity", TimerSuspended: "suspended",
	TimerGrace: "grace", TimerReconnect: "reconnect", TimerReconnectLimit: "reconnect_limit",
	TimerFault: "fault", TimerBreaker: "breaker", TimerForget: "forget", TimerWarning: "warning", TimerSession: "session",
	TimerRelease: "release",
}

// String is the timer's name in snapshots.
func (t Timer) String() string {
	if int(t) < len(timerNames) {
		return timerNames[t]
	}
	return fmt.Sprintf("timer(%d)", uint8(t))
}

// runsWhileSuspended: the session's own life, the connection's and the memory of
// faults go on while everything else stands still.
func (t Timer) runsWhileSuspended() bool {
	switch t {
	case TimerSuspended, TimerGrace, TimerBreaker, TimerForget, TimerWarning, TimerSession:
		return true
	default:
		return false
	}
}

// Timers holds the armed deadlines; a zero time is not armed.
type Timers [numTimers]time.Time

// armed reports whether a deadline is armed.
func (t *Timers) armed(which Timer) bool { return !t[which].IsZero() }

// Next is the earliest deadline and its timer; ok is false when none is armed.
func (t *Timers) Next() (which Timer, at time.Time, ok bool) {
	for i := range t {
		if t[i].IsZero() || (ok && !t[i].Before(at)) {
			continue
		}
		which, at, ok = Timer(i), t[i], true
	}
	return which, at, ok
}

// MarshalJSON writes the armed timers by name.
func (t Timers) MarshalJSON() ([]byte, error) {
	armed := make(map[string]time.Time)
	for i, at := range t {
		if !at.IsZero() {
			armed[timerNames[i]] = at
		}
	}
	return json.Marshal(armed)
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (t *Timers) UnmarshalJSON(b []byte) error {
	var armed map[string]time.Time
	if err := json.Unmarshal(b, &armed); err != nil {
		return err
	}
	*t = Timers{}
	for i, name := range timerNames {
		if at, ok := armed[name]; ok {
			t[i] = at
			delete(armed, name)
		}
	}
	if len(armed) > 0 {
		return fmt.Errorf("unknown timers in snapshot: %v", armed)
	}
	return nil
}

// phaseTimers are disarmed when the phase is left.
var phaseTimers = [numPhases][]Timer{
	Idle:               {TimerStart},
	Preparing:          {TimerStart},
	ListeningReady:     {TimerInactivity},
	ListeningCapturing: {TimerListening, TimerEndpoint},
	Understanding:      {TimerFinal},
	Delegated:          {TimerFeedback, TimerHeartbeat},
	Speaking:           {TimerSpeaking, TimerPlayout},
	Interrupted:        {TimerInterrupted},
	Suspended:          {TimerSuspended},
	Reconnecting:       {TimerReconnect, TimerReconnectLimit},
	Faulted:            {TimerFault},
	Terminating:        {TimerRelease},
}

// arm sets a deadline.
func (s *State) arm(t Timer, after time.Duration) { s.Timers[t] = s.Now.Add(after) }

// disarm takes deadlines back.
func (s *State) disarm(timers ...Timer) {
	for _, t := range timers {
		s.Timers[t] = time.Time{}
	}
}

// armDerived sets the deadlines that follow from sub-states, so that no part of
// the machine has to remember to.
func (s *State) armDerived(o *Options) {
	if s.Phase == Suspended {
		return // time stands still; the frozen timers are in s.Suspended
	}
	s.Timers[TimerBarge] = s.Barge.Deadline()
	s.Timers[TimerDeadAir] = time.Time{}
	if s.Phase == ListeningReady && !s.Floor.Speaking {
		s.Timers[TimerDeadAir] = s.DeadAir.Deadline(o.DeadAir)
	}
	s.Timers[TimerTool], s.Timers[TimerTask] = time.Time{}, time.Time{}
	for i := range s.Calls {
		call := &s.Calls[i]
		if call.State != CallRunning {
			continue
		}
		t := TimerTool
		if call.Long {
			t = TimerTask
		}
		if s.Timers[t].IsZero() || call.Deadline.Before(s.Timers[t]) {
			s.Timers[t] = call.Deadline
		}
	}
	s.Timers[TimerForget] = time.Time{}
	if len(s.Faults.Expiries) > 0 {
		s.Timers[TimerForget] = s.Faults.Expiries[0]
	}
}
