package api

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/server/tokens"
)

// Agent is an agent that may be talked to.
type Agent struct {
	Name     string `json:"name"`
	Title    string `json:"title"` // for people; made of the name if empty
	Language string `json:"language"`
	Speech   bool   `json:"speech"` // it hears and speaks; else there is only text
}

// Options wire a [Server].
type Options struct {
	Hub    *hub.Hub
	Agents []Agent
	// Call describes a conversation with an agent of the list over a transport;
	// leg and owner are filled in here.
	Call func(agent, transport string) (hub.Call, error)
	// Text makes the leg of a conversation by text.
	Text func() port.Leg
	// WebRTC answers an offer with a leg; nil: this server has no WebRTC. The leg
	// may be a [Restarter].
	WebRTC  func(ctx context.Context, offer string) (leg port.Leg, answer string, err error)
	Panel   fs.FS        // the panel's files; nil: there is none
	Metrics http.Handler // nil: there is none

	// Stored are the conversations that are kept; nil: none are.
	Stored Stored

	// Realtime serves the paths of the OpenAI Realtime protocol; nil: there are
	// none. It asks for keys by itself.
	Realtime http.Handler

	// Home is where conversations are that do not run in this process; nil: nowhere.
	Home Home

	// ClientTokens keeps what client tokens are good for; nil: this process does, for
	// itself.
	ClientTokens tokens.Keeper

	// Ready are what has to hold beside that the server is not shutting down, for
	// /readyz. They have two seconds together.
	Ready []Check
	// Requests, if set, counts requests.
	Requests RequestWatcher
	// Access, if set, takes a line for each request when it has ended: method, route,
	// status, bytes, seconds, owner, remote address, request id.
	Access *slog.Logger

	// Keys give access; nil or empty: there are none, and only this machine is
	// served, by its own names.
	Keys *Keys
	// Open serves whoever reaches the server, where there are no keys.
	Open bool
	// Vouch, if set, is told of each request that has shown a good key or token.
	Vouch func(ctx context.Context)
	// Origins are the origins of web pages, beside the server's own, that may use
	// the API ("https://app.example.com").
	Origins []string

	MaxBody    int64         // bytes of a request: 256 KB
	MaxStreams int           // event streams of one owner: 100
	WriteWait  time.Duration // for a client to take what it is sent: 10 s
	KeepAlive  time.Duration // between signs of life on a stream: 15 s

	// Log takes what operators want to know; nothing if nil. Neither transcripts
	// nor secrets get into it.
	Log *slog.Logger
}

// Check is something without which no conversation may begin. It is called from
// many goroutines.
type Check struct {
	Name  string // what /readyz says, to whoever asks: "store"
	Check func(ctx context.Context) error
}

// Restarter is a leg that can be negotiated anew while it runs, when the
// client's network has changed.
type Restarter interface {
	// Restart answers another offer.
	Restart(ctx context.Context, offer string) (answer string, err error)
}

// Validate reports what is missing or makes no sense.
func (o Options) Validate() error {
	switch {
	case o.Hub == nil || o.Call == nil || o.Text == nil:
		return errors.New("api options: Hub, Call and Text are needed")
	case o.MaxBody < 0 || o.MaxStreams < 0 || o.WriteWait < 0 || o.KeepAlive < 0:
		return errors.New("api options: expected numbers of 0 (the default) or more")
	}
	return nil
}

func (o Options) withDefaults() Options {
	o.MaxBody = cmp.Or(o.MaxBody, 256<<10)
	o.MaxStreams = cmp.Or(o.MaxStreams, 100)
	o.WriteWait = cmp.Or(o.WriteWait, 10*time.Second)
	o.KeepAlive = cmp.Or(o.KeepAlive, 15*time.Second)
	o.Agents = slices.Clone(o.Agents)
	for i := range o.Agents {
		o.Agents[i].Title = cmp.Or(o.Agents[i].Title, title(o.Agents[i].Name))
	}
	if o.Vouch == nil {
		o.Vouch = func(context.Context) {}
	}
	if o.ClientTokens == nil {
		o.ClientTokens = tokens.NewMemory(MaxClientTokens)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// title is a name as a heading.
func title(name string) string {
	text := strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || r == ' ' }), " ")
	if text == "" {
		return name
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
