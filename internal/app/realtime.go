package app

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/hocketvoice/hocket/internal/hub"
	"github.com/hocketvoice/hocket/internal/leg/realtime"
	"github.com/hocketvoice/hocket/internal/leg/webrtc"
	"github.com/hocketvoice/hocket/session"
)

// realtimeTransport is the name of the OpenAI Realtime protocol in the list.
const realtimeTransport = "realtime"

// realtimeCall is a connection on its way through the functions that the
// protocol's server calls, in this order: Authorize, Open, Hold. It travels in
// the request's context.
type realtimeCall struct {
	owner string
	c     *hub.Conversation
}

type realtimeKey struct{}

func realtimeCallOf(ctx context.Context) *realtimeCall {
	call, ok := ctx.Value(realtimeKey{}).(*realtimeCall)
	if !ok {
		panic("app: a Realtime connection came in by another way than its handler")
	}
	return call
}

// openRealtime makes the server of the OpenAI Realtime protocol, whose
// conversations are the hub's like all others.
func (s *Server) openRealtime(agents []*served) (err error) {
	o := realtime.Options{
		Open: func(ctx context.Context, model string) (session.Options, func() error, error) {
			parts := realtimeParts(agents, model)
			name := parts.name
			call := realtimeCallOf(ctx)
			call.c = s.hub.Prepare(hub.Call{
				Agent: name, Transport: realtimeTransport, Owner: call.owner, Privacy: parts.options.Conv.Privacy,
			})
			if trace := call.c.Recorder(); trace != nil {
				parts.options.Trace = trace
			}
			return parts.options, nil, nil
		},
		Hold: func(ctx context.Context, id, _ string, c *session.Session) error {
			return realtimeCallOf(ctx).c.Hold(ctx, id, c)
		},
		Answer: func(ctx context.Context, offer string) (realtime.Call, string, error) {
			leg, answer, err := s.webrtc.Accept(ctx, offer)
			switch {
			case errors.Is(err, webrtc.ErrFull):
				return nil, "", realtime.ErrBusy
			case err != nil:
				return nil, "", err
			}
			return leg, answer, nil
		},
	}
	if keys := s.secrets.keys; keys != nil {
		o.Authorize = func(r *http.Request, key string) bool {
			owner, ok := keys.Owner(key)
			realtimeCallOf(r.Context()).owner = owner
			return ok
		}
	}
	o.Answer = s.answerRealtime
	s.realtime, err = realtime.New(o)
	return err
}

// answerRealtime answers a browser that speaks the protocol over WebRTC.
func (s *Server) answerRealtime(ctx context.Context, offer string) (realtime.Call, string, error) {
	leg, answer, err := s.webrtc.Accept(ctx, offer)
	switch {
	case errors.Is(err, webrtc.ErrFull):
		return nil, "", realtime.ErrBusy
	case err != nil:
		return nil, "", err
	}
	return leg, answer, nil
}

// serveRealtime is the handler of its paths.
func (s *Server) serveRealtime(w http.ResponseWriter, r *http.Request) {
	ctx := context.WithValue(r.Context(), realtimeKey{}, &realtimeCall{})
	s.realtime.ServeHTTP(w, r.WithContext(ctx))
}

// namedOptions are the parts of a conversation and what it is listed under.
type namedOptions struct {
	name    string
	options session.Options
}

// realtimeParts are those of a conversation with a model of the protocol: the
// agent of that name, else the language model of the config, under whatever name
// a client knows one; and where there is none, the first agent.
func realtimeParts(agents []*served, model string) namedOptions {
	first := agents[0]
	i := slices.IndexFunc(agents, func(a *served) bool { return a.name == model })
	switch {
	case i >= 0:
		return namedOptions{agents[i].name, agents[i].session(realtimeTransport, "", nil, nil)}
	case first.model == nil:
		return namedOptions{first.name, first.session(realtimeTransport, "", nil, nil)}
	}
	o := first.session(realtimeTransport, "", nil, nil)
	o.Conv.Agent, o.AgentFiles, o.Instructions, o.Tools = nil, nil, "", nil
	return namedOptions{"model", o}
}
