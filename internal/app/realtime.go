package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/leg/realtime"
	"github.com/hocketvoice/hocket/leg/webrtc"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/api"
	"github.com/hocketvoice/hocket/server/gate"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/server/node"
	"github.com/hocketvoice/hocket/session"
)

// realtimeTransport is the name of the OpenAI Realtime protocol in the list.
const realtimeTransport = "realtime"

// openRealtime creates the server of the OpenAI Realtime protocol. The hub runs its
// conversations like all others.
func (s *Server) openRealtime(linger time.Duration) (err error) {
	o := realtime.Options{
		Linger: linger, Answer: s.answerRealtime,
		Open: func(ctx context.Context, from realtime.Caller) (realtime.Parts, error) {
			api.NoteOwner(ctx, from.Owner) // with a client secret the owner is known only now
			parts, err := s.realtimeParts(s.roster.list(), from)
			if err == nil {
				gate.Vouch(ctx)
			}
			return parts, err
		},
		Resume: s.resumeRealtime(),
		Models: func() []string { return realtimeModels(s.roster.list()) },
	}
	if s.home != nil {
		o.Secrets = s.home.Tokens("client_secret", realtime.MaxSecrets)
	}
	if keys := s.secrets.keys; keys != nil {
		o.Vouches = keys.Vouches
		o.Authorize = func(r *http.Request, key string) (string, bool) {
			owner, ok := keys.Owner(key)
			api.NoteOwner(r.Context(), owner)
			if ok {
				gate.Vouch(r.Context())
			}
			return owner, ok
		}
	}
	s.realtime, err = realtime.New(o)
	return err
}

// serveRealtime handles the paths of the protocol. It sets the request's pattern to that
// of the protocol's own route, for metrics and the access log.
func (s *Server) serveRealtime(w http.ResponseWriter, r *http.Request) {
	inner := r.WithContext(r.Context())
	inner.Host = gate.RouteOf(r).Host // it is compared with the page's origin
	defer func() {
		if inner.Pattern != "/" {
			r.Pattern = inner.Pattern
		}
	}()
	s.realtime.ServeHTTP(w, inner)
}

// realtimeParts returns the parts of a new conversation of the protocol.
func (s *Server) realtimeParts(agents []*served, from realtime.Caller) (realtime.Parts, error) {
	a, name := realtimeAgent(agents, from.Model)
	call := a.call(realtimeTransport)
	call.Agent, call.Owner, call.Location = name, from.Owner, from.Location
	parts, err := s.realtimeCall(a, call, nil)
	parts.Model = name
	parts.Means = func(model string) bool {
		_, other := realtimeAgent(agents, model)
		return other == name
	}
	return parts, err
}

// realtimeCall reserves a place for a new or resumed conversation and returns its parts.
// more, if not nil, changes the options of the session.
func (s *Server) realtimeCall(a *served, call hub.Call, more func(*session.Options)) (realtime.Parts, error) {
	o := a.session(realtimeTransport)
	if call.Agent == realtimeModel {
		o.Conv.Agent, o.AgentFiles, o.Instructions, o.Tools = nil, nil, "", nil
		call.Version = ""
	}
	c, err := s.hub.Prepare(call)
	if err != nil {
		return realtime.Parts{}, refused(err)
	}
	a.attach(&o, c)
	if call.Agent == realtimeModel && o.Conv.Agent == nil {
		o.Checkpoints.AgentDigest = ""
		if a.home != nil {
			o.Checkpoints.Claim = a.home.Claim
		}
	}
	if more != nil {
		more(&o)
	}
	issued := &issued{home: s.home, log: s.o.Log}
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
		ID: c.ID(), Session: o, Issue: issued.issue,
		Hold:  func(ctx context.Context, held *session.Session) error { return refused(c.Hold(ctx, held)) },
		Close: func() error { c.Forgo(); return nil },
	}, nil
}

// refused converts an error of the hub to one of package realtime.
func refused(err error) error {
	switch {
	case errors.Is(err, hub.ErrFull), errors.Is(err, hub.ErrLate), errors.Is(err, hub.ErrUserFull), errors.Is(err, hub.ErrDraining):
		return fmt.Errorf("%w: %w", realtime.ErrBusy, err)
	case errors.Is(err, hub.ErrRuns):
		return fmt.Errorf("%w: %w", realtime.ErrAgain, err)
	default:
		return err
	}
}

// issued stores the resume token of a conversation of the protocol as soon as the
// conversation is claimed. It is safe for concurrent use.
type issued struct {
	home *node.Home // nil if tokens are valid in this process only
	log  *slog.Logger

	mu sync.Mutex  // guards the fields below
	id string      // empty until the conversation is claimed
	g  *port.Grant // the latest tokens; nil if none were issued
}

// issue stores a token, after the claim of the conversation if that is pending.
func (i *issued) issue(ctx context.Context, digest, before []byte) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.g = &port.Grant{Now: port.Tokens{Resume: digest}, Before: port.Tokens{Resume: before}} // the protocol has no tokens for one conversation
	if i.id == "" {
		return nil // claimed stores it
	}
	return i.grant(ctx)
}

// claimed records that the conversation is claimed, and stores a pending token.
func (i *issued) claimed(ctx context.Context, id string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.id = id; i.g != nil {
		_ = i.grant(ctx) // a heartbeat tries again
	}
}

// grant stores the token. It requires mu. A token that is not stored is valid in this
// process only.
func (i *issued) grant(ctx context.Context) error {
	if i.home == nil {
		return nil
	}
	err := i.home.Grant(ctx, i.id, *i.g)
	if err != nil && !errors.Is(err, node.ErrUnclaimed) {
		i.log.Warn("the token of a conversation was not stored: it is valid only in this process for now", "conversation", i.id, "error", err)
	}
	return err
}

// resumeRealtime returns a function that resumes a conversation of the protocol that does
// not run here, or nil if there is no store. The resume token stays valid until the next
// one is granted, also if the server refuses the conversation.
func (s *Server) resumeRealtime() func(context.Context, realtime.Caller, string) (realtime.Parts, error) {
	if s.home == nil {
		return nil
	}
	return func(ctx context.Context, from realtime.Caller, token string) (realtime.Parts, error) {
		digest := sha256.Sum256([]byte(token))
		id, ok, err := s.home.Resume(ctx, digest[:])
		switch {
		case err != nil:
			return realtime.Parts{}, fmt.Errorf("%w: %w", realtime.ErrAgain, err)
		case !ok:
			return realtime.Parts{}, realtime.ErrUnknownToken
		}
		c, hold, err := s.home.Take(ctx, id)
		_, held := errors.AsType[*port.HeldError](err)
		switch {
		case errors.Is(err, node.ErrGone):
			return realtime.Parts{}, realtime.ErrUnknownToken
		case err != nil:
			if !held && !errors.Is(err, node.ErrUnsure) {
				s.o.Log.Error("a conversation cannot be resumed", "conversation", id, "error", err)
			}
			return realtime.Parts{}, fmt.Errorf("%w: %w", realtime.ErrAgain, err)
		}
		parts, err := s.resumedParts(ctx, from, c, hold, digest[:])
		if err != nil {
			s.home.Over(id, false) //nolint:contextcheck // it is released even if the request is canceled
		}
		return parts, err
	}
}

// resumedParts returns the parts of a conversation that was claimed for the client with
// its token.
func (s *Server) resumedParts(
	ctx context.Context, from realtime.Caller, c journal.Checkpoint, hold port.Hold, token []byte,
) (realtime.Parts, error) {
	// This process holds the conversation now, so that no other can use up the token.
	now, ok, err := s.home.Resume(ctx, token)
	if err != nil {
		return realtime.Parts{}, fmt.Errorf("%w: %w", realtime.ErrAgain, err)
	}
	if !ok || now != c.ID || c.Transport != realtimeTransport || c.Owner != from.Owner {
		return realtime.Parts{}, realtime.ErrUnknownToken
	}
	a, name := realtimeAgent(s.roster.list(), c.Agent)
	if a.name == c.Agent {
		var err error
		if a, err = s.agentFor(ctx, c, hold); errors.Is(err, errNoAgent) {
			return realtime.Parts{}, realtime.ErrUnknownToken
		} else if err != nil {
			return realtime.Parts{}, fmt.Errorf("%w: %w", realtime.ErrAgain, err)
		}
	}
	if name != c.Agent {
		s.o.Log.Error("a conversation cannot be resumed: this server does not have its agent", "conversation", c.ID, "agent", c.Agent)
		return realtime.Parts{}, realtime.ErrUnknownToken
	}
	call := a.resumedCall(c, hold)
	call.Agent = c.Agent
	return s.realtimeCall(a, call, func(o *session.Options) { a.restore(o, c, hold) })
}

// answerRealtime answers the offer of a client that uses the protocol over WebRTC.
func (s *Server) answerRealtime(ctx context.Context, offer string) (realtime.Call, string, error) {
	leg, answer, err := s.webrtc.Accept(ctx, offer)
	switch {
	case errors.Is(err, webrtc.ErrFull):
		s.hub.Refuse(hub.ErrFull)
		return nil, "", realtime.ErrBusy
	case err != nil:
		return nil, "", err
	}
	return leg, answer, nil
}

// realtimeModel is the agent name of conversations with the config's language model.
const realtimeModel = "model"

// realtimeModels returns the names of the models of the protocol: the agents, and the
// language model of the config if there is one.
func realtimeModels(agents []*served) []string {
	names := make([]string, 0, len(agents)+1)
	for _, a := range agents {
		names = append(names, a.name)
	}
	if agents[0].model != nil && !slices.Contains(names, realtimeModel) {
		names = append(names, realtimeModel)
	}
	return names
}

// realtimeAgent returns the agent for a model name of the protocol, and its name: the
// agent of that name; otherwise the language model of the config, for any name; and if
// there is none, the first agent.
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
