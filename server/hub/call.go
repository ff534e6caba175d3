package hub

import (
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/session"
)

// Call describes a new conversation.
type Call struct {
	ID        string    // of a conversation that continues; empty for a new one
	Started   time.Time // when it began, if not now
	Agent     string
	Version   string         // of the agent, for people; may be empty
	Transport string         // "text", "webrtc", ...
	Owner     string         // who may see it and is counted by Options.PerUser; may be empty
	Caller    string         // the person, if known; the same name in each of their conversations
	Location  *time.Location // of the caller, goes before the agent's; nil if not known
	Privacy   conv.Privacy
	Recording bool // its sound is recorded
	// Wait is how long the conversation waits for a client that is gone; 0 if not known.
	Wait time.Duration
	// Services are the names of the services for the log, by the kinds of
	// [journal.Failure].
	Services map[string]string
	// Leg belongs to the hub as soon as [Hub.Start] is called, even if it fails. A
	// leg that is an io.Closer is closed when it is no longer used.
	Leg port.Leg
	// Session creates the session of a conversation, with its leg, its Recorder and
	// its Behind for the checkpoints.
	Session func(c *Conversation) (*session.Session, error)
	// Over, if not nil, is called when the conversation no longer runs here. ended
	// reports that it is over and will not continue elsewhere.
	Over func(id string, ended bool)
}
