package hub

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"
)

// Options sets the limits of a [Hub]. Zero fields select the defaults.
type Options struct {
	Most    int // concurrent conversations; default 100
	PerUser int // concurrent conversations of one owner; default unlimited
	// OnePerCaller refuses a second conversation of the same caller with a
	// [*session.ActiveError] (seed 000, CON-002). It does not apply to
	// conversations without a caller.
	OnePerCaller bool

	Events     int           // messages kept per conversation; default 1000
	Steps      int           // steps of the machine kept in addition; default 500
	TraceBytes int           // bytes kept of a conversation's trace; default 4 MB
	Streams    int           // event streams of one conversation; default 16; the list may have four times as many
	Ended      int           // ended conversations in the list; default 50
	EndedFor   time.Duration // how long they stay in the list; default 10 minutes
	EndedBytes int           // bytes of their traces and messages in total; default 64 MB

	// HandOver reports that a conversation whose session ends with its context
	// continues in another process, or here later.
	HandOver bool
	// Elsewhere, if not nil, reports whether another process can take conversations now.
	// If HandOver is set, Drain then ends each one as soon as it is at rest.
	Elsewhere func(ctx context.Context) bool

	// Pace, if not nil, measures the sound of all conversations: while it is late, only
	// conversations by text begin. A conversation's session reports to it.
	Pace *Pace

	// Log receives messages for operators; nil discards them. They contain no
	// transcripts.
	Log *slog.Logger
	// Watch, if not nil, observes all conversations.
	Watch Watcher
}

// Validate returns an error if a value is invalid.
func (o Options) Validate() error {
	if min(o.Most, o.PerUser, o.Events, o.Steps, o.TraceBytes, o.Streams, o.Ended, o.EndedBytes) < 0 || o.EndedFor < 0 {
		return errors.New("hub options: numbers must not be negative")
	}
	return nil
}

func (o Options) withDefaults() Options {
	o.Most = cmp.Or(o.Most, 100)
	o.Events = cmp.Or(o.Events, 1000)
	o.Steps = cmp.Or(o.Steps, 500)
	o.TraceBytes = cmp.Or(o.TraceBytes, 4<<20)
	o.Streams = cmp.Or(o.Streams, 16)
	o.Ended = cmp.Or(o.Ended, 50)
	o.EndedFor = cmp.Or(o.EndedFor, 10*time.Minute)
	o.EndedBytes = cmp.Or(o.EndedBytes, 64<<20)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}
