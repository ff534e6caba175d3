package timers

import (
	"encoding/json"
	"fmt"
	"time"
)

// Timer identifies a timer of the machine. The deadlines of all timers are in the state, so the
// driver needs only one real timer, for the earliest of them.
type Timer uint8

// The timers, in the order in which they fire if they are due at the same time. Each fires
// when the time limit in its comment has passed; see conv.Limits.
const (
	Start          Timer = iota // a start finds no session, or no audio
	Listening                   // the user's turn is too long
	Endpoint                    // the user is silent and no TurnEnded comes
	Final                       // the final transcript does not come
	AfterYes                    // the user adds nothing to a yes
	Try                         // a try of a request takes too long, or the pause before the next one is over
	Processing                  // all tries of a request take too long, or a reply stalls
	Tool                        // a quick tool takes too long
	Task                        // a delegated agent takes too long
	Feedback                    // the next feedback about a delegated agent is due
	Heartbeat                   // a delegated agent reports no progress
	Speaking                    // a reply is unusually long
	Playout                     // the playout reports nothing
	Interrupted                 // the pause after a barge-in is over
	Barge                       // the barge-in policy must decide about a voice
	DeadAir                     // the silence is too long
	Inactivity                  // nothing has happened in ListeningReady for a long time
	Suspended                   // a planned pause does not end
	Grace                       // a connection does not come back by itself
	Reconnect                   // the next attempt to reconnect is due
	ReconnectLimit              // all attempts to reconnect take too long
	Fault                       // the recovery from a fault is due
	Breaker                     // the circuit breaker closes
	Forget                      // the oldest fault is forgotten
	Warning                     // the session ends soon
	Session                     // the session ends
	Release                     // the release of everything takes too long

	// Count is the number of timers.
	Count = iota
)

var names = [Count]string{
	Start: "start", Listening: "listening", Endpoint: "endpoint", Final: "final", AfterYes: "after_yes",
	Try: "try", Processing: "processing", Tool: "tool", Task: "task",
	Feedback: "feedback", Heartbeat: "heartbeat", Speaking: "speaking",
	Playout: "playout", Interrupted: "interrupted", Barge: "barge", DeadAir: "dead_air", Inactivity: "inactivity", Suspended: "suspended",
	Grace: "grace", Reconnect: "reconnect", ReconnectLimit: "reconnect_limit",
	Fault: "fault", Breaker: "breaker", Forget: "forget", Warning: "warning", Session: "session",
	Release: "release",
}

// String returns the name of the timer in snapshots.
func (t Timer) String() string {
	if int(t) < len(names) {
		return names[t]
	}
	return fmt.Sprintf("timer(%d)", uint8(t))
}

// RunsWhileSuspended reports whether the timer runs during a suspension. The timers of the
// suspension, the connection, the session and the memory of faults do.
func (t Timer) RunsWhileSuspended() bool {
	switch t {
	case Suspended, Grace, Breaker, Forget, Warning, Session:
		return true
	default:
		return false
	}
}

// Deadlines contains the deadline of each timer. The zero time means that the timer is not armed.
type Deadlines [Count]time.Time

// Armed reports whether a timer is armed.
func (d *Deadlines) Armed(which Timer) bool { return !d[which].IsZero() }

// Next returns the timer with the earliest deadline, and that deadline. ok is false if no timer
// is armed.
func (d *Deadlines) Next() (which Timer, at time.Time, ok bool) {
	for i := range d {
		if d[i].IsZero() || (ok && !d[i].Before(at)) {
			continue
		}
		which, at, ok = Timer(i), d[i], true
	}
	return which, at, ok
}

// MarshalJSON implements [json.Marshaler]. It returns an object with the deadlines of the armed
// timers by name.
func (d Deadlines) MarshalJSON() ([]byte, error) {
	armed := make(map[string]time.Time)
	for i, at := range d {
		if !at.IsZero() {
			armed[names[i]] = at
		}
	}
	return json.Marshal(armed)
}

// UnmarshalJSON implements [json.Unmarshaler]. It reads what MarshalJSON returns; an unknown
// name is an error.
func (d *Deadlines) UnmarshalJSON(b []byte) error {
	var armed map[string]time.Time
	if err := json.Unmarshal(b, &armed); err != nil {
		return err
	}
	*d = Deadlines{}
	for i, name := range names {
		if at, ok := armed[name]; ok {
			d[i] = at
			delete(armed, name)
		}
	}
	if len(armed) > 0 {
		return fmt.Errorf("unknown timers in snapshot: %v", armed)
	}
	return nil
}
