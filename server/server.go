package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/hocketvoice/hocket"
	"github.com/hocketvoice/hocket/leg/text"
	"github.com/hocketvoice/hocket/leg/webrtc"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/api"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/server/panel"
	"github.com/hocketvoice/hocket/session"
)

// Options configures a [Server]. Agents is required; other zero fields select the
// defaults.
type Options struct {
	Agents []*hocket.Agent // their names must differ

	// Recognizer and Synthesizer are the speech services. If both are nil,
	// conversations are by text only. Detector detects speech; if it is nil, the
	// energy of the sound does.
	Recognizer  port.Recognizer
	Synthesizer port.Synthesizer
	Detector    port.Detector

	// Addr is the UDP address of all calls. The default "127.0.0.1:0" is any port
	// of the loopback interface. PublicIPs are announced to browsers in place of
	// the machine's own addresses.
	Addr      string
	PublicIPs []string
	// ICEServices are the STUN and TURN servers that browsers are told of.
	ICEServices []webrtc.ICEService

	// Keys are the accepted API keys. Without keys, only requests to localhost from
	// this machine are served, unless Open is set: then everyone who reaches the
	// server may hold conversations.
	Keys *api.Keys
	Open bool
	// Path is where clients reach the server ("/voice/"); empty means the root. The handler
	// serves requests with it and without it.
	Path string
	// Origins are the origins of web pages that may use the API, in addition to the
	// server's own ("https://app.example.com").
	Origins []string

	MaxConversations int           // concurrent conversations; default 100
	Resume           time.Duration // how long a conversation waits for a browser to reconnect; default 5 minutes

	// Log receives messages for operators; nil discards them. They contain neither
	// transcripts nor secrets.
	Log *slog.Logger
}

// Server is an [http.Handler] that holds conversations. It is safe for concurrent
// use.
type Server struct {
	hub     *hub.Hub
	webrtc  *webrtc.Server
	handler http.Handler
}

// grace is the time for conversations to say goodbye at shutdown.
const grace = 3 * time.Second

// New returns a server and opens its UDP port; [Server.Shutdown] closes it. It
// returns an error if an agent is incomplete, for example if a tool is missing.
func New(o Options) (*Server, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	o.MaxConversations = cmp.Or(o.MaxConversations, 100)
	o.Resume = cmp.Or(o.Resume, 5*time.Minute)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	calls, err := hub.New(hub.Options{Most: o.MaxConversations, Log: o.Log, Pace: hub.NewPace(0, o.Log)})
	if err != nil {
		return nil, fmt.Errorf("server: %w", err)
	}
	s := &Server{hub: calls}
	if s.webrtc, err = webrtc.NewServer(webrtc.Options{
		Addr: o.Addr, PublicIPs: o.PublicIPs, Linger: o.Resume, MaxLegs: o.MaxConversations, Logger: o.Log,
	}); err != nil {
		return nil, fmt.Errorf("server: open the UDP port of the calls: %w", err)
	}
	if s.handler, err = s.api(o); err != nil {
		return nil, fmt.Errorf("server: %w", errors.Join(err, s.webrtc.Close()))
	}
	return s, nil
}

func (o Options) validate() error {
	if len(o.Agents) == 0 {
		return errors.New("server: Agents must not be empty")
	}
	if o.MaxConversations < 0 || o.Resume < 0 {
		return errors.New("server: MaxConversations and Resume must not be negative")
	}
	for i, s := range o.ICEServices {
		if err := s.Validate(); err != nil {
			return fmt.Errorf("server: ICEServices[%d]: %w", i, err)
		}
	}
	for i, a := range o.Agents {
		if a == nil || a.Name == "" {
			return fmt.Errorf("server: Agents[%d] must have a name", i)
		}
		if slices.ContainsFunc(o.Agents[:i], func(b *hocket.Agent) bool { return b.Name == a.Name }) {
			return fmt.Errorf("server: two agents have the name %q: names must differ", a.Name)
		}
		if _, err := o.call(a, "text").Options(); err != nil {
			return fmt.Errorf("server: %w", err)
		}
	}
	return nil
}

// call returns a conversation over a transport, without its leg.
func (o Options) call(a *hocket.Agent, transport string) hocket.Call {
	return hocket.Call{
		Agent: a, Text: transport == "text",
		Recognizer: o.Recognizer, Synthesizer: o.Synthesizer, Detector: o.Detector,
	}
}

// api returns the handler of all routes.
func (s *Server) api(o Options) (http.Handler, error) {
	routes := api.Options{
		Hub: s.hub, WebRTC: Accept(s.webrtc), Connecting: s.webrtc.Connecting, ICEServices: o.ICEServices, Panel: panel.Files(), Log: o.Log,
		Text: func() port.Leg { return text.New(text.Options{Linger: o.Resume}) },
		Call: o.hubCall,
		Keys: o.Keys, Open: o.Open, Path: o.Path, Origins: o.Origins,
	}
	agents := make([]api.Agent, len(o.Agents))
	for i, a := range o.Agents {
		agents[i] = api.Agent{Name: a.Name, Language: a.Language(), Speech: o.Recognizer != nil && o.Synthesizer != nil}
	}
	routes.Agents = func() []api.Agent { return agents }
	return api.New(routes)
}

// hubCall returns the description of a conversation for the hub.
func (o Options) hubCall(agent, transport string) (hub.Call, error) {
	i := slices.IndexFunc(o.Agents, func(a *hocket.Agent) bool { return a.Name == agent })
	if i < 0 {
		return hub.Call{}, fmt.Errorf("unknown agent %q", agent)
	}
	parts, err := o.call(o.Agents[i], transport).Options()
	if err != nil {
		return hub.Call{}, err
	}
	parts.Conv.Limits.Reconnect, parts.Conv.Retry.Reconnect = hub.Patient(o.Resume)
	return hub.Call{
		Agent: agent, Transport: transport, Privacy: parts.Conv.Privacy,
		Session: func(c *hub.Conversation) (*session.Session, error) {
			parts.Late, parts.Hearing = c.Pace().Sent, c.Pace().Heard
			parts.ID, parts.Leg, parts.Trace, parts.TraceLive = c.ID(), c.Leg(), c.Recorder(), true
			return session.New(parts)
		},
	}, nil
}

// Accept returns a function for [api.Options.WebRTC] that answers browsers' offers
// with legs of w.
func Accept(w *webrtc.Server) func(ctx context.Context, offer string) (port.Leg, string, error) {
	return func(ctx context.Context, offer string) (port.Leg, string, error) {
		leg, answer, err := w.Accept(ctx, offer)
		switch {
		case errors.Is(err, webrtc.ErrFull):
			return nil, "", hub.ErrFull
		case err != nil:
			return nil, "", err
		}
		return leg, answer, nil
	}
}

// ServeHTTP serves the panel, the API, /healthz and /readyz.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Shutdown stops the server. It refuses new conversations and waits for running
// ones until ctx ends; then it ends them politely. When it returns, all goroutines
// of the server have ended. Call it before the HTTP server's own Shutdown, which
// waits for the conversations' event streams.
func (s *Server) Shutdown(ctx context.Context) error {
	s.hub.Drain(ctx, grace)
	return s.webrtc.Close()
}
