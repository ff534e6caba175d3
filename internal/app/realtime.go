package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/internal/api"
	"github.com/hocketvoice/hocket/internal/hub"
	"github.com/hocketvoice/hocket/internal/leg/realtime"
	"github.com/hocketvoice/hocket/internal/leg/webrtc"
	"github.com/hocketvoice/hocket/session"
)

// realtimeTransport is the name of the OpenAI Realtime protocol in the list.
const realtimeTransport = "realtime"

// openRealtime makes the server of the OpenAI Realtime protocol, whose
// conversations are the hub's like all others.
func (s *Server) openRealtime(agents []*served, linger time.Duration) (err error) {
	o := realtime.Options{
		Linger: linger, Answer: s.answerRealtime,
		Open: func(ctx context.Context, from realtime.Caller) (realtime.Parts, error) {
			api.NoteOwner(ctx, from.Owner) // a client secret's is known only now
			return s.realtimeParts(agents, from), nil
		},
		Resume: s.resumeRealtime(agents),
	}
	if keys := s.secrets.keys; keys != nil {
		o.Authorize = func(r *http.Request, key string) (string, bool) {
			owner, ok := keys.Owner(key)
			api.NoteOwner(r.Context(), owner)
			return owner, ok
		}
	}
	s.realtime, err = realtime.New(o)
	return err
}

// serveRealtime is the handler of the protocol's paths. The request is noted under
// the protocol's own pattern.
func (s *Server) serveRealtime(w http.ResponseWriter, r *http.Request) {
	inner := r.WithContext(r.Context())
	defer func() {
		if inner.Pattern != "/" {
			r.Pattern = inner.Pattern
		}
	}()
	s.realtime.ServeHTTP(w, inner)
}

// realtimeParts are what a conversation of the protocol is held with.
func (s *Server) realtimeParts(agents []*served, from realtime.Caller) realtime.Parts {
	a, name := realtimeAgent(agents, from.Model)
	call := a.call(realtimeTransport)
	call.Agent, call.Owner = name, from.Owner
	return s.realtimeCall(a, call, nil)
}

// realtimeCall are the parts of a call, new or one that goes on, with what more its
// session has then.
func (s *Server) realtimeCall(a *served, call hub.Call, more func(*session.Options)) realtime.Parts {
	o := a.session(realtimeTransport)
	if call.Agent == realtimeModel {
		o.Conv.Agent, o.AgentFiles, o.Instructions, o.Tools = nil, nil, "", nil
	}
	c := s.hub.Prepare(call)
	a.kept(&o, c)
	if more != nil {
		more(&o)
	}
	issued := &issued{home: s.home}
	if claim := o.Checkpoints.Claim; claim != nil {
		o.Checkpoints.Claim = func(ctx context.Context, id string) (int64, error) {
			token, err := claim(ctx, id)
			issued.claimed(ctx, id)
			return token, err
		}
	} else {
		issued.id = call.ID
	}
	return realtime.Parts{
		Session: o, Issue: issued.issue,
		Hold: func(ctx context.Context, id string, held *session.Session) error {
			err := c.Hold(ctx, id, held)
			if errors.Is(err, hub.ErrFull) || errors.Is(err, hub.ErrUserFull) || errors.Is(err, hub.ErrDraining) {
				return fmt.Errorf("%w: %w", realtime.ErrBusy, err)
			}
			return err
		},
	}
}

// issued keeps the token of a conversation of the protocol, as soon as the
// conversation is this process's. It is safe for concurrent use.
type issued struct {
	home *home // nil: tokens are good in this process alone

	mu     sync.Mutex
	id     string // empty: not claimed yet
	digest []byte // waits for the claim
}

func (i *issued) issue(ctx context.Context, digest []byte) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.digest = digest; i.id != "" {
		i.grant(ctx)
	}
	return nil
}

func (i *issued) claimed(ctx context.Context, id string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.id = id; i.digest != nil {
		i.grant(ctx)
	}
}

// grant is called with mu held. A token that is not kept is good in this process.
func (i *issued) grant(ctx context.Context) {
	if i.home == nil {
		return
	}
	if err := i.home.Grant(ctx, i.id, nil, i.digest); err != nil { // the protocol has no tokens for one conversation
		i.home.log.Error("the token of a conversation is good in this process alone", "conversation", i.id, "error", err)
	}
}

// resumeRealtime goes on with a conversation of the protocol that does not run here.
func (s *Server) resumeRealtime(agents []*served) func(context.Context, realtime.Caller, string) (string, realtime.Parts, error) {
	if s.home == nil {
		return nil
	}
	return func(ctx context.Context, from realtime.Caller, token string) (string, realtime.Parts, error) {
		digest := sha256.Sum256([]byte(token))
		id, ok, err := s.home.Resume(ctx, digest[:])
		if err != nil || !ok {
			return "", realtime.Parts{}, errors.Join(err, realtime.ErrUnknownToken)
		}
		c, hold, err := s.home.take(ctx, id)
		if err != nil {
			return "", realtime.Parts{}, fmt.Errorf("%w: %w", realtime.ErrUnknownToken, err)
		}
		if c.Transport == realtimeTransport && c.Owner == from.Owner {
			if ok, err = s.home.Redeem(ctx, digest[:]); ok && err == nil {
				a, _ := realtimeAgent(agents, c.Agent)
				call := a.goesOn(c, hold)
				call.Agent = c.Agent
				return id, s.realtimeCall(a, call, func(o *session.Options) { a.restored(o, c, hold) }), nil
			}
		}
		s.home.over(id, false) //nolint:contextcheck // it is given up whatever becomes of the request
		return "", realtime.Parts{}, realtime.ErrUnknownToken
	}
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

// realtimeModel is what a conversation with the config's language model is listed
// under.
const realtimeModel = "model"

// realtimeAgent is who answers to a model of the protocol, and under what name: the
// agent of that name, else the language model of the config, under whatever name a
// client knows one; and where there is none, the first agent.
func realtimeAgent(agents []*served, model string) (a *served, name string) {
	first := agents[0]
	i := slices.IndexFunc(agents, func(a *served) bool { return a.name == model })
	switch {
	case i >= 0:
		return agents[i], agents[i].name
	case first.model == nil:
		return first, first.name
	}
	return first, realtimeModel
}
