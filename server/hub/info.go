package hub

import (
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/session"
)

// Info is a conversation's entry in the list.
type Info struct {
	ID        string     `json:"id"`
	Agent     string     `json:"agent"`
	Version   string     `json:"agent_version,omitempty"` // the beginning of the digest of the agent's files
	Transport string     `json:"transport"`
	Phase     conv.Phase `json:"phase"`
	State     string     `json:"state"` // of the view agent-voice
	Label     string     `json:"label"` // the state's name for people
	Started   time.Time  `json:"started"`
	Ended     time.Time  `json:"ended,omitzero"`
	Reason    string     `json:"reason,omitempty"` // why the conversation ended
	Turns     int        `json:"turns"`            // finished turns of both sides
	// WaitsUntil is when a conversation ends whose client is gone, unless the client
	// returns; zero if it is not gone.
	WaitsUntil time.Time `json:"waits_until,omitzero"`
	Recording  bool      `json:"recording,omitempty"` // its sound is recorded

	Owner string `json:"-"`
}

// Past is a past transition.
type Past struct {
	conv.Transition
	DurationMS float64 `json:"duration_ms"` // in the phase before
}

// Details describes a conversation completely except for its words.
type Details struct {
	Info
	Snapshot    session.Snapshot `json:"snapshot"`
	Transitions []Past           `json:"transitions"` // the last 20
	Timings     []Timing         `json:"timings"`     // of the last answers
	Metrics     Metrics          `json:"metrics"`
}
