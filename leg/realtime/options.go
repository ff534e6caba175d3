package realtime

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/hocketvoice/hocket/server/tokens"
	"github.com/hocketvoice/hocket/session"
)

// ErrUnknownModel reports that no agent and no model has the name that the client gave.
// The client can still connect, as to OpenAI's server, but its responses fail.
var ErrUnknownModel = errors.New("unknown model")

// ErrBusy reports that the limit of calls or conversations is reached.
var ErrBusy = errors.New("too many calls")

// ErrUnknownToken reports that no conversation has the resume token.
var ErrUnknownToken = errors.New("unknown resume token")

// ErrAgain reports that the answer is not known at the moment; the client should try
// again.
var ErrAgain = errors.New("try again")

// Caller describes a client that connects.
type Caller struct {
	Owner string // owner of the key, as returned by [Options].Authorize; a client secret has the owner of the key that created it
	Model string // the name that the client gave
	// Location is the client's time zone; nil if the client did not give one.
	Location *time.Location
}

// Parts contains what a conversation needs. All fields except Session may be zero.
type Parts struct {
	// ID is the conversation's id; a new one is generated if it is empty.
	ID string
	// Model is the model's name shown to a client that named none.
	Model string
	// Means reports whether another name stands for the same model. Its results must
	// not change. Nil accepts every name. The first name in a client's configuration is
	// accepted if Means returns true.
	Means func(model string) bool
	// Session contains the session's options. Leg, Model, Tools and Synthesizer are
	// wrapped, and the machine's limits are replaced by those of the protocol. A zero Echo
	// means Echo.Off: the protocol has speech interrupt a response from its first sample,
	// and leaves the cancellation of echo to the client.
	Session session.Options
	// Hold runs the session until it ends, and must call [session.Session.Run]; nil
	// only calls Run. Programs can register their conversations in it. It may return
	// [ErrBusy] to refuse the conversation.
	Hold func(ctx context.Context, s *session.Session) error
	// Issue stores which resume tokens of the client are valid, as SHA-256 digests: the
	// newest, and the one before it, which stays valid until the client is known to
	// have the newest. A nil digest means that there is no such token. All other tokens
	// become invalid. Issue is called before a returning client receives its new token,
	// after a new client has connected, and when a returning client has sent its first
	// event. Calls are made one at a time, possibly while Hold runs. If Issue returns
	// an error, a returning client keeps the token that it has.
	Issue func(ctx context.Context, digest, before []byte) error
	// Close releases the resources of the parts. It is called once, whether Hold was
	// called or not.
	Close func() error
}

// Options configures a [Server]. Open is required; other zero fields select the
// defaults. The functions must be safe for concurrent use.
type Options struct {
	// Open returns the parts of a new conversation. It may return [ErrUnknownModel]
	// together with parts without a model, and [ErrBusy].
	Open func(ctx context.Context, from Caller) (Parts, error)
	// Authorize returns the owner of a key and whether the key is valid. If Authorize
	// is nil, no key is required.
	Authorize func(r *http.Request, key string) (owner string, ok bool)

	// Models returns the names of the models shown to clients, in this order. If it is
	// nil, there are none.
	Models func() []string

	// Vouches reports whether client secrets created by an owner are still valid. If it
	// is nil, they are.
	Vouches func(owner string) bool

	// Linger is how long a conversation waits for a client whose connection was lost; 0
	// ends it with the connection. A conversation does not wait for a client that
	// closed the connection on purpose (close code 1000 or none) or never sent an
	// event.
	Linger time.Duration
	// Resume returns the parts of a conversation that does not run on this server, with
	// its ID and its snapshot in Session.Restore. It returns [ErrUnknownToken] if no
	// conversation of this caller has the token, and may return [ErrBusy] or
	// [ErrAgain]. The token stays valid until Issue is called. If Resume is nil, only
	// conversations of this server can be resumed.
	Resume func(ctx context.Context, from Caller, token string) (Parts, error)

	// Secrets stores client secrets. If it is nil, they are kept in memory.
	Secrets tokens.Keeper

	// Answer answers a WebRTC offer and returns the call, whose rate must be 24 kHz.
	// Its errors are reported as errors of the offer, except for [ErrBusy]. If Answer
	// is nil, calls over WebRTC are refused.
	Answer func(ctx context.Context, offer string) (Call, string, error)

	// Lifetime is the maximum duration of a conversation; default 60 minutes.
	Lifetime time.Duration
	// WriteTimeout limits how long a write to a client may block; default 10 s.
	WriteTimeout time.Duration
	// PingEvery is the interval between pings; default 30 s.
	PingEvery time.Duration
	// Responses and Tokens limit the responses and tokens of a conversation per minute;
	// default 600 and 1,000,000. Clients receive them in rate_limits.updated.
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

// Validate returns an error if an option is invalid.
func (o Options) Validate() error {
	switch {
	case o.Open == nil:
		return errors.New("realtime: Open is nil: expected what makes a conversation")
	case min(o.Lifetime, o.WriteTimeout, o.Linger, o.PingEvery) < 0:
		return errors.New("realtime: lifetime, write timeout, linger and the time between pings are expected to be 0 or more")
	case o.Responses < 0 || o.Tokens < 0:
		return errors.New("realtime: responses and tokens are counts: expected 0 or more")
	}
	return nil
}
