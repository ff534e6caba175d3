package realtime

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/hocketvoice/hocket/session"
)

// ErrUnknownModel says that no agent and no model has the name that a client
// gave. The connection is made all the same, as OpenAI does; its responses fail.
var ErrUnknownModel = errors.New("unknown model")

// ErrBusy says that there is no room for another call.
var ErrBusy = errors.New("too many calls")

// Options configure a [Server]. Open must be set; the zero value of every other
// field is its default.
type Options struct {
	// Open makes what a conversation with a model is held with: the options of its
	// session, of which Leg, Model, Tools and Synthesizer are wrapped, the
	// machine's limits set for this protocol, and what ends it, which may be nil.
	// With [ErrUnknownModel] the parts are those of a conversation without a mind.
	// It is called by any goroutine.
	Open func(ctx context.Context, model string) (session.Options, func() error, error)
	// Hold runs a conversation to its end; [session.Session.Run] if nil. A program
	// that lists its conversations does so here. It must call Run.
	Hold func(ctx context.Context, id, model string, s *session.Session) error
	// Authorize says whether a key is good; nil: none is asked for. It is called by
	// any goroutine.
	Authorize func(r *http.Request, key string) bool

	// Answer takes an offer of WebRTC and gives the call that comes of it, of
	// 24 kHz; nil: there are no calls. It is called by any goroutine. An error is
	// the offer's; [ErrBusy] says that there is no room.
	Answer func(ctx context.Context, offer string) (Call, string, error)

	// Lifetime is how long a connection may last: 60 minutes if zero.
	Lifetime time.Duration
	// WriteTimeout is how long a client may not read: 10 s if zero.
	WriteTimeout time.Duration
	// Responses and Tokens are how many a connection may have in a minute: 600 and
	// 1,000,000 if zero. They are what rate_limits.updated tells.
	Responses, Tokens int
}

func (o *Options) setDefaults() {
	if o.Lifetime == 0 {
		o.Lifetime = time.Hour
	}
	if o.WriteTimeout == 0 {
		o.WriteTimeout = 10 * time.Second
	}
	if o.Responses == 0 {
		o.Responses = 600
	}
	if o.Tokens == 0 {
		o.Tokens = 1_000_000
	}
	if o.Hold == nil {
		o.Hold = func(ctx context.Context, _, _ string, s *session.Session) error { return s.Run(ctx) }
	}
}

// Validate reports the first setting that cannot work.
func (o Options) Validate() error {
	switch {
	case o.Open == nil:
		return errors.New("realtime: Open is nil, expected what makes a conversation")
	case o.Lifetime < 0 || o.WriteTimeout < 0:
		return errors.New("realtime: lifetime and write timeout are times, expected 0 or more")
	case o.Responses < 0 || o.Tokens < 0:
		return errors.New("realtime: responses and tokens are counts, expected 0 or more")
	}
	return nil
}
