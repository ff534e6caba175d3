package realtime

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/hocketvoice/hocket/server/tokens"
	"github.com/hocketvoice/hocket/session"
)

// ErrUnknownModel says that no agent and no model has the name that a client
// gave. The connection is made all the same, as OpenAI does; its responses fail.
var ErrUnknownModel = errors.New("unknown model")

// ErrBusy says that there is no room for another call or conversation.
var ErrBusy = errors.New("too many calls")

// ErrUnknownToken says that nobody can come back with a token.
var ErrUnknownToken = errors.New("unknown resume token")

// ErrAgain says that nobody can tell at the moment: the client is to try again.
var ErrAgain = errors.New("try again")

// Caller is who connects, and to what.
type Caller struct {
	Owner string // of the key, as [Options].Authorize tells; that of a client secret is its maker
	Model string // the name that the client gave
}

// Parts are what a conversation is held with. The session is what counts; the rest
// may be nil.
type Parts struct {
	// ID is that of the conversation; one is made if it is empty.
	ID string
	// Model is the name of who answers, which a client is shown that has named none.
	Model string
	// Means reports whether another name stands for it too, always in the same way; nil:
	// every name does. The first name that a client gives in its configuration is taken if
	// it does.
	Means func(model string) bool
	// Session are its options, of which Leg, Model, Tools and Synthesizer are
	// wrapped, and the machine's limits set for this protocol.
	Session session.Options
	// Hold runs the conversation to its end. A program that lists its conversations
	// does so here. It must call [session.Session.Run]; nil is nothing but that.
	// [ErrBusy] says that there is no room for it.
	Hold func(ctx context.Context, s *session.Session) error
	// Issue is told of each token that a client gets to come back with, and of the one
	// that stays good beside it until the client is known to have the new one, as SHA-256
	// digests; empty: there is none. All others are no longer good. It is called before a
	// client that comes back gets the token, when another client is connected, and when
	// either has said something, at the same time as Hold, by one goroutine at a time. It
	// fails if the tokens would be lost with the program: a client that comes back then keeps
	// the one that it has.
	Issue func(ctx context.Context, digest, before []byte) error
	// Close ends what was opened, whether Hold was called or not. It is called once.
	Close func() error
}

// Options configure a [Server]. Open must be set; the zero value of every other
// field is its default.
type Options struct {
	// Open makes what a conversation is held with. With [ErrUnknownModel] the parts
	// are those of a conversation without a mind; [ErrBusy] says that there is no room.
	// It is called by any goroutine.
	Open func(ctx context.Context, from Caller) (Parts, error)
	// Authorize says whether a key is good, and whose it is; nil: none is asked for.
	// It is called by any goroutine.
	Authorize func(r *http.Request, key string) (owner string, ok bool)

	// Models are the names that clients are shown as models, in this order; nil: there are
	// none. It is called by any goroutine.
	Models func() []string

	// Vouches reports whether what was made in the name of an owner is still good; nil: it
	// is. It is called by any goroutine.
	Vouches func(owner string) bool

	// Linger is how long a conversation waits for a client that has lost its
	// connection, or this server; 0: it ends with its connection. One that was ended
	// on purpose (close code 1000, or none) is not waited for, nor is a client that
	// never said anything.
	Linger time.Duration
	// Resume is asked for the conversation of a token that no conversation has which
	// runs here: what it goes on with, with its id and with the snapshot in
	// Session.Restore. It fails with [ErrUnknownToken] where there is none, or none
	// of this caller's; with [ErrBusy] where there is no room, and with [ErrAgain]. The
	// token stays good until the next one is issued. nil: there are no others.
	Resume func(ctx context.Context, from Caller, token string) (Parts, error)

	// Secrets keeps what client secrets are good for; nil: this process does, for
	// itself.
	Secrets tokens.Keeper

	// Answer takes an offer of WebRTC and gives the call that comes of it, of
	// 24 kHz; nil: there are no calls. It is called by any goroutine. An error is
	// the offer's; [ErrBusy] says that there is no room.
	Answer func(ctx context.Context, offer string) (Call, string, error)

	// Lifetime is how long a connection may last: 60 minutes if zero.
	Lifetime time.Duration
	// WriteTimeout is how long a client may not read: 10 s if zero.
	WriteTimeout time.Duration
	// PingEvery is how often it is tried whether a client is there: 30 s if zero.
	PingEvery time.Duration
	// Responses and Tokens are how many a connection may have in a minute: 600 and
	// 1,000,000 if zero. They are what rate_limits.updated tells.
	Responses, Tokens int
}

func (o *Options) setDefaults() {
	if o.Secrets == nil {
		o.Secrets = tokens.NewMemory(MaxSecrets)
	}
	if o.Lifetime == 0 {
		o.Lifetime = time.Hour
	}
	if o.WriteTimeout == 0 {
		o.WriteTimeout = 10 * time.Second
	}
	if o.PingEvery == 0 {
		o.PingEvery = 30 * time.Second
	}
	if o.Responses == 0 {
		o.Responses = 600
	}
	if o.Tokens == 0 {
		o.Tokens = 1_000_000
	}
}

// Validate reports the first setting that cannot work.
func (o Options) Validate() error {
	switch {
	case o.Open == nil:
		return errors.New("realtime: Open is nil, expected what makes a conversation")
	case min(o.Lifetime, o.WriteTimeout, o.Linger, o.PingEvery) < 0:
		return errors.New("realtime: lifetime, write timeout, linger and the time between pings are expected to be 0 or more")
	case o.Responses < 0 || o.Tokens < 0:
		return errors.New("realtime: responses and tokens are counts, expected 0 or more")
	}
	return nil
}
