package conv

import (
	"encoding/json"
	"fmt"
	"time"
)

// Timer identifies a timer of the machine. The deadlines of all timers are in the state, so the
// driver needs only one real timer, for the earliest of them.
type Timer uint8

// The timers, in the order in which they fire if they are due at the same time. Each fires
// when the time limit in its comment has passed; see [Limits].
const (
	TimerStart          Timer = iota // a start finds no session, or no audio
	TimerListening                   // the user's turn is too long
	TimerEndpoint                    // the user is silent and no TurnEnded comes
	TimerFinal                       // the final transcript does not come
	TimerTry                         // a try of a request takes too long, or the pause before the next one is over
	TimerProcessing                  // all tries of a request take too long, or a reply stalls
	TimerTool                        // a quick tool takes too long
	TimerTask                        // a delegated agent takes too long
	TimerFeedback                    // the next feedback about a delegated agent is due
	TimerHeartbeat                   // a delegated agent reports no progress
	TimerSpeaking                    // a reply is unusually long
	TimerPlayout                     // the playout reports nothing
	TimerInterrupted                 // the pause after a barge-in is over
	TimerBarge                       // the barge-in policy must decide about a voice
	TimerDeadAir                     // the silence is too long
	TimerInactivity                  // nothing has happened in ListeningReady for a long time
	TimerSuspended                   // a planned pause does not end
	TimerGrace                       // a connection does not come back by itself
	TimerReconnect                   // the next attempt to reconnect is due
	TimerReconnectLimit              // all attempts to reconnect take too long
	TimerFault                       // the recovery from a fault is due
	TimerBreaker                     // the circuit breaker closes
	TimerForget                      // the oldest fault is forgotten
	TimerWarning                     // the session ends soon
	TimerSession                     // the session ends
	TimerRelease                     // the release of everything takes too long

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

// String returns the name of the timer in snapshots.
func (t Timer) String() string {
	if int(t) < len(timerNames) {
		return timerNames[t]
	}
	return fmt.Sprintf("timer(%d)", uint8(t))
}

// runsWhileSuspended reports whether the timer runs during a suspension. The timers of the
// suspension, the connection, the session and the memory of faults do.
func (t Timer) runsWhileSuspended() bool {
	switch t {
	case TimerSuspended, TimerGrace, TimerBreaker, TimerForget, TimerWarning, TimerSession:
		return true
	default:
		return false
	}
}

// Timers contains the deadline of each timer. The zero time means that the timer is not armed.
type Timers [numTimers]time.Time

// armed reports whether a timer is armed.
func (t *Timers) armed(which Timer) bool { return !t[which].IsZero() }

// Next returns the timer with the earliest deadline, and that deadline. ok is false if no timer
// is armed.
func (t *Timers) Next() (which Timer, at time.Time, ok bool) {
	for i := range t {
		if t[i].IsZero() || (ok && !t[i].Before(at)) {
			continue
		}
		which, at, ok = Timer(i), t[i], true
	}
	return which, at, ok
}

// MarshalJSON implements [json.Marshaler]. It returns an object with the deadlines of the armed
// timers by name.
func (t Timers) MarshalJSON() ([]byte, error) {
	armed := make(map[string]time.Time)
	for i, at := range t {
		if !at.IsZero() {
			armed[timerNames[i]] = at
		}
	}
	return json.Marshal(armed)
}

// UnmarshalJSON implements [json.Unmarshaler]. It reads what MarshalJSON returns; an unknown
// name is an error.
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

// phaseTimers lists the timers of each phase. They are disarmed when the phase ends.
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

// arm sets the deadline of a timer to the given time after the current step.
func (s *State) arm(t Timer, after time.Duration) { s.Timers[t] = s.Now.Add(after) }

// disarm disarms timers.
func (s *State) disarm(timers ...Timer) {
	for _, t := range timers {
		s.Timers[t] = time.Time{}
	}
}

// armDerived sets the deadlines that follow from other fields of the state. Each step calls it
// at its end, so that no other part of the machine need do so.
func (s *State) armDerived(o *Options) {
	if s.Phase == Suspended {
		return // handleSessionRenewed restores the timers from s.Suspended
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
