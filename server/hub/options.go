package hub

import (
	"cmp"
	"errors"
	"log/slog"
	"time"
)

// Options bound a [Hub]. The zero value has the defaults that are named.
type Options struct {
	Most    int // conversations at once: 100
	PerUser int // of one owner at once: no bound of its own
	// OnePerCaller refuses a second conversation of one caller with a
	// [*session.ActiveError] (seed 000, CON-002). Who names no caller is not known to
	// have one.
	OnePerCaller bool

	Events     int           // messages that a conversation remembers: 1000
	Steps      int           // steps of the machine that it remembers beside them: 500
	TraceBytes int           // of a conversation's trace: 4 MB
	Streams    int           // event streams of one conversation: 16; of the list: four times as many
	Ended      int           // conversations that stay listed behind their end: 50
	EndedFor   time.Duration // and for how long: 10 min
	EndedBytes int           // of their traces and messages together: 64 MB

	// HandOver: a conversation whose session ends with its context goes on elsewhere,
	// or in this place later.
	HandOver bool

	// Log takes what operators want to know; nothing if nil. No transcript gets
	// into it.
	Log *slog.Logger
	// Watch, if set, sees what happens in all conversations.
	Watch Watcher
}

// Validate reports values that make no sense.
func (o Options) Validate() error {
	if min(o.Most, o.PerUser, o.Events, o.Steps, o.TraceBytes, o.Streams, o.Ended, o.EndedBytes) < 0 || o.EndedFor < 0 {
		return errors.New("hub options: expected numbers of 0 (the default) or more")
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
