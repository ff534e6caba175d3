package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/leg/webrtc"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/server/tokens"
)

// Agent is an available agent.
type Agent struct {
	Name     string `json:"name"`
	Title    string `json:"title"` // for people; derived from the name if empty
	Language string `json:"language"`
	Speech   bool   `json:"speech"` // supports voice; otherwise text only
	// Description says what the agent does, for people.
	Description string `json:"description,omitempty"`
	// Recording reports that calls of browsers are recorded.
	Recording bool `json:"recording,omitempty"`
	// Version is the beginning of the digest of the agent's files. New conversations are
	// held with this version.
	Version string `json:"version,omitempty"`
	// Settings are what a developer may change; nil for others.
	Settings *AgentSettings `json:"settings,omitempty"`
	LoadedAt time.Time      `json:"loaded_at,omitzero"`
}

// Options configures a [Server]. Hub, Call and Text are required.
type Options struct {
	Hub *hub.Hub
	// Agents returns the available agents; nil means that there are none. The server
	// does not change the list.
	Agents func() []Agent
	// Call returns the description of a conversation with an agent of the list over
	// a transport. The server sets the leg and the owner.
	Call func(agent, transport string) (hub.Call, error)
	// Workbench lets developers change an agent for one conversation. Nil lets nobody.
	Workbench Workbench
	// Text creates the leg of a conversation by text.
	Text func() port.Leg
	// WebRTC answers an offer and returns the leg, which may be a [Restarter]. Nil
	// disables WebRTC.
	WebRTC func(ctx context.Context, offer string) (leg port.Leg, answer string, err error)
	// ICEServices are the STUN and TURN servers that clients of WebRTC are told of.
	ICEServices []webrtc.ICEService
	Panel       fs.FS        // the panel's files; nil disables the panel
	Metrics     http.Handler // nil disables /metrics

	// Stored gives access to the stored conversations. Nil disables it.
	Stored Stored

	// Realtime serves the paths of the OpenAI Realtime protocol and checks keys
	// itself. Nil disables them.
	Realtime http.Handler

	// Phones serve the paths below the name of each carrier, such as twilio, and check the
	// signatures of requests themselves.
	Phones map[string]http.Handler

	// Dialer places telephone calls. Nil places none.
	Dialer Dialer

	// Home gives access to conversations that do not run in this process. Nil means
	// that there are none.
	Home Home

	// ClientTokens stores client tokens. If it is nil, they are kept in this
	// process only.
	ClientTokens tokens.Keeper

	// Ready are the checks of /readyz, in addition to the server not shutting down.
	// Together they may take two seconds.
	Ready []Check
	// Connecting, if not nil, returns the number of calls whose connection is not
	// established yet.
	Connecting func() int
	// Requests, if not nil, counts requests.
	Requests RequestWatcher
	// Access, if not nil, receives a line for each finished request: method, route,
	// status, bytes, seconds, owner, remote address, request id.
	Access *slog.Logger

	// Keys are the accepted keys. If there are none, only requests to localhost
	// from this machine are served.
	Keys *Keys
	// Open serves everyone who reaches the server if there are no keys.
	Open bool
	// Vouch, if not nil, is called for each request with a valid key or token.
	Vouch func(ctx context.Context)
	// Path is where clients reach the server ("/voice/"). Requests are served with it and
	// without it, since a proxy may remove it. Empty means the root.
	Path string
	// Origins are the origins of web pages that may use the API, in addition to the
	// server's own ("https://app.example.com").
	Origins []string

	MaxBody    int64         // bytes of a request; default 256 KB
	MaxStreams int           // event streams of one owner; default 100
	WriteWait  time.Duration // timeout of a write to a client; default 10 s
	KeepAlive  time.Duration // interval of keep-alives on a stream; default 15 s

	// Log receives messages for operators; nil discards them. They contain neither
	// transcripts nor secrets.
	Log *slog.Logger
}

// Check is a condition for new conversations. It is safe for concurrent use.
type Check struct {
	Name  string // public name in /readyz, for example "store"
	Check func(ctx context.Context) error
	// Optional marks what conversations can do without: if it fails, /readyz still answers
	// 200 and lists the name in degraded.
	Optional bool
}

// Restarter is a leg that can be renegotiated while it runs, after the client's
// network has changed.
type Restarter interface {
	// Restart answers a new offer.
	Restart(ctx context.Context, offer string) (answer string, err error)
}

// Validate returns an error if an option is missing or invalid.
func (o Options) Validate() error {
	switch {
	case o.Hub == nil || o.Call == nil || o.Text == nil:
		return errors.New("api options: Hub, Call and Text must be set")
	case o.MaxBody < 0 || o.MaxStreams < 0 || o.WriteWait < 0 || o.KeepAlive < 0:
		return errors.New("api options: numbers must not be negative")
	}
	if _, err := ParsePath(o.Path); err != nil {
		return fmt.Errorf("api options: Path %w", err)
	}
	return nil
}

func (o Options) withDefaults() Options {
	o.Path, _ = ParsePath(o.Path) // it was validated
	o.MaxBody = cmp.Or(o.MaxBody, 256<<10)
	o.MaxStreams = cmp.Or(o.MaxStreams, 100)
	o.WriteWait = cmp.Or(o.WriteWait, 10*time.Second)
	o.KeepAlive = cmp.Or(o.KeepAlive, 15*time.Second)
	given := o.Agents
	o.Agents = func() []Agent {
		if given == nil {
			return nil
		}
		list := slices.Clone(given())
		for i := range list {
			list[i].Title = cmp.Or(list[i].Title, title(list[i].Name))
		}
		return list
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

// title converts a name to a heading.
func title(name string) string {
	text := strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || r == ' ' }), " ")
	if text == "" {
		return name
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
