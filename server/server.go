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

// Options set up a [Server]. Agents are needed; other zero fields take the defaults named.
type Options struct {
	Agents []*hocket.Agent // each with a name of its own

	// Recognizer and Synthesizer hear and speak; without both there is text alone.
	// Detector finds speech; if nil, the level does.
	Recognizer  port.Recognizer
	Synthesizer port.Synthesizer
	Detector    port.Detector

	// Addr is the UDP address of all calls: "127.0.0.1:0", any port of this machine
	// alone. PublicIPs are told to browsers in place of the machine's own addresses.
	Addr      string
	PublicIPs []string

	// Keys give access. Without keys only this machine is served, by its own names,
	// unless Open is set: then whoever reaches the server holds conversations.
	Keys *api.Keys
	Open bool
	// Origins are the origins of web pages, beside the server's own, that may use the
	// API ("https://app.example.com").
	Origins []string

	MaxConversations int           // at once: 100
	Resume           time.Duration // how long a conversation waits for a browser that has gone: 5 min

	// Log takes what operators want to know; nothing if nil. Neither transcripts nor
	// secrets get into it.
	Log *slog.Logger
}

// Server is an [http.Handler] that holds conversations. It is safe for concurrent use.
type Server struct {
	hub     *hub.Hub
	webrtc  *webrtc.Server
	handler http.Handler
}

// grace is what conversations have to say goodbye when their time is over.
const grace = 3 * time.Second

// New makes a server and opens its UDP port; [Server.Shutdown] closes it. It fails where
// an agent lacks something, a tool for example.
func New(o Options) (*Server, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	o.MaxConversations = cmp.Or(o.MaxConversations, 100)
	o.Resume = cmp.Or(o.Resume, 5*time.Minute)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	calls, err := hub.New(hub.Options{Most: o.MaxConversations, Log: o.Log})
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
		return errors.New("server: Agents must hold at least one")
	}
	if o.MaxConversations < 0 || o.Resume < 0 {
		return errors.New("server: MaxConversations and Resume must be 0 (the default) or more")
	}
	for i, a := range o.Agents {
		if a == nil || a.Name == "" {
			return fmt.Errorf("server: Agents[%d] must have a name", i)
		}
		if slices.ContainsFunc(o.Agents[:i], func(b *hocket.Agent) bool { return b.Name == a.Name }) {
			return fmt.Errorf("server: two agents have the name %q: expected different ones", a.Name)
		}
		if _, err := o.call(a, "text").Options(); err != nil {
			return fmt.Errorf("server: %w", err)
		}
	}
	return nil
}

// call is a conversation over a transport, without its leg.
func (o Options) call(a *hocket.Agent, transport string) hocket.Call {
	return hocket.Call{
		Agent: a, Text: transport == "text",
		Recognizer: o.Recognizer, Synthesizer: o.Synthesizer, Detector: o.Detector,
	}
}

// api wires the routes to what they serve.
func (s *Server) api(o Options) (http.Handler, error) {
	routes := api.Options{
		Hub: s.hub, WebRTC: Accept(s.webrtc), Panel: panel.Files(), Log: o.Log,
		Text: func() port.Leg { return text.New(text.Options{Linger: o.Resume}) },
		Call: o.hubCall,
		Keys: o.Keys, Open: o.Open, Origins: o.Origins,
	}
	for _, a := range o.Agents {
		routes.Agents = append(routes.Agents, api.Agent{
			Name: a.Name, Language: a.Language(), Speech: o.Recognizer != nil && o.Synthesizer != nil,
		})
	}
	return api.New(routes)
}

// hubCall describes a conversation to the hub.
func (o Options) hubCall(agent, transport string) (hub.Call, error) {
	i := slices.IndexFunc(o.Agents, func(a *hocket.Agent) bool { return a.Name == agent })
	if i < 0 {
		return hub.Call{}, fmt.Errorf("there is no agent %q", agent)
	}
	parts, err := o.call(o.Agents[i], transport).Options()
	if err != nil {
		return hub.Call{}, err
	}
	parts.Conv.Limits.Reconnect, parts.Conv.Retry.Reconnect = hub.Patient(o.Resume)
	return hub.Call{
		Agent: agent, Transport: transport, Privacy: parts.Conv.Privacy,
		Session: func(c *hub.Conversation) (*session.Session, error) {
			parts.ID, parts.Leg, parts.Trace, parts.TraceLive = c.ID(), c.Leg(), c.Recorder(), true
			return session.New(parts)
		},
	}, nil
}

// Accept answers browsers' offers with legs of w, for [api.Options.WebRTC].
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

// ServeHTTP answers a request: the panel, the API, /healthz, /readyz.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Shutdown ends the server: no new conversation begins, those that run may come to their
// end until ctx ends, and are then ended politely. It returns when nothing of the server runs
// any more. It is called before the HTTP server's own Shutdown, which waits for the event
// streams of conversations.
func (s *Server) Shutdown(ctx context.Context) error {
	s.hub.Drain(ctx, grace)
	return s.webrtc.Close()
}
