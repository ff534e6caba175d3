package api

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hocketvoice/hocket/internal/explore"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/leg/webrtc"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/session"
	"github.com/hocketvoice/hocket/store"
)

// AgentList is the response of GET /v1/agents.
type AgentList struct {
	Agents []Agent `json:"agents"`
}

// NewConversation is the request of POST /v1/conversations.
type NewConversation struct {
	Agent     string `json:"agent,omitempty"`     // the first agent if empty
	Transport string `json:"transport,omitempty"` // "text", or "webrtc" with an offer in sdp
	SDP       string `json:"sdp,omitempty"`
	// Caller identifies the person, as named by the program that has the key.
	// Results left over from the person's earlier conversations are told in this
	// one.
	Caller string `json:"caller,omitempty"`
	// Timezone is the person's time zone, a name of the IANA database, which decides what
	// "tomorrow" is; that of the agent if empty. A resumed conversation keeps its own.
	Timezone string `json:"timezone,omitempty"`
	// Context is the context with which a new conversation begins, in the form that PATCH
	// takes: see [conv.Context.With].
	Context json.RawMessage `json:"context,omitempty"`
	// Resume is the resume token of a conversation to continue.
	Resume string `json:"resume,omitempty"`
	// Changes are those of the agent for this conversation alone. They need the key of a
	// developer.
	Changes *Changes `json:"changes,omitempty"`
}

// NewClientToken is the request of POST /v1/client_tokens. The body may be empty.
type NewClientToken struct {
	// Caller identifies the person of the conversation: see [NewConversation].
	Caller string `json:"caller,omitempty"`
}

// Created is the response of POST /v1/conversations.
type Created struct {
	ID  string `json:"id"`
	SDP string `json:"sdp,omitempty"` // answer to the offer
	// ICEServers are the STUN and TURN servers for the connection, with credentials for
	// this client.
	ICEServers []webrtc.ICEServer `json:"ice_servers,omitempty"`
	// ResumeToken allows the client to return to the conversation. It is valid until the
	// client uses a token of a later response. If the store could not store a new one, it
	// is the token with which the client has returned.
	ResumeToken string `json:"resume_token"`
	// AccessToken is a bearer token for this conversation only.
	AccessToken string `json:"access_token"`
	// Recording reports that the sound of the conversation is recorded.
	Recording bool `json:"recording,omitempty"`
}

// ConversationList is the response of GET /v1/conversations.
type ConversationList struct {
	Conversations []hub.Info `json:"conversations"`
}

// Description is an SDP offer.
type Description struct {
	SDP string `json:"sdp"`
}

// Empty is the response of requests without a result.
type Empty struct{}

// ClientToken is the response of POST /v1/client_tokens.
type ClientToken struct {
	Token     string    `json:"token"`
	ExpiresAt time.Time `json:"expires_at"`
}

func (s *Server) listAgents(w http.ResponseWriter, _ *http.Request, p who) error {
	list := s.o.Agents()
	if s.develops(p) {
		list = slices.Clone(list)
		for i := range list {
			settings := s.o.Workbench.Settings(list[i].Name)
			list[i].Settings = &settings
		}
	}
	writeJSON(w, http.StatusOK, AgentList{list})
	return nil
}

// create starts a conversation.
func (s *Server) create(w http.ResponseWriter, r *http.Request, p who) error {
	var o NewConversation
	if err := s.read(w, r, &o); err != nil {
		return err
	}
	if o.Resume != "" {
		return s.resume(w, r, p, o)
	}
	if p.only != "" {
		return fail(http.StatusForbidden, "forbidden", "this token is valid for one conversation only")
	}
	agent, err := s.agent(o)
	if err != nil {
		return err
	}
	call, err := s.callWith(p, agent.Name, o)
	if err != nil {
		return err
	}
	call.Owner = p.owner
	if call.Caller, err = p.calls(o.Caller); err != nil {
		return err
	}
	if call.Location, err = o.location(); err != nil {
		return err
	}
	if call.Session, err = o.withContext(call.Session); err != nil {
		return err
	}
	var answer string
	if call.Leg, answer, err = s.connect(r, o); err != nil {
		return err
	}
	if err := s.spend(r.Context(), p); err != nil {
		return errors.Join(err, closeLeg(call.Leg))
	}
	c, err := s.o.Hub.Start(call) //nolint:contextcheck // it outlives the request
	if err != nil {
		return err
	}
	s.tokens.forget(func(id string) bool { _, ok := s.o.Hub.Find(id); return ok })
	return s.created(w, r, c, answer, "")
}

// created answers with a conversation and new tokens for it. used is the resume
// token with which the client has returned, if any.
func (s *Server) created(w http.ResponseWriter, r *http.Request, c *hub.Conversation, answer, used string) error {
	access, resume, err := s.grant(r.Context(), c, used)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/v1/conversations/"+c.ID())
	writeJSON(w, http.StatusCreated, Created{ID: c.ID(), SDP: answer, ICEServers: s.iceServers(c, answer), ResumeToken: resume, AccessToken: access, Recording: c.Info().Recording})
	return nil
}

// resume continues a conversation whose client was gone, or replaces its client.
// The earlier tokens stay valid until the client uses the new ones, since the
// response may be lost.
func (s *Server) resume(w http.ResponseWriter, r *http.Request, p who, o NewConversation) error {
	switch {
	case o.Context != nil:
		return fail(http.StatusBadRequest, "bad_request", "field context is valid for a new conversation only: change it with PATCH /v1/conversations/{id}/context")
	case o.Changes != nil:
		return fail(http.StatusBadRequest, "bad_request", "field changes is valid for a new conversation only")
	}
	id, known := s.tokens.resumes(o.Resume)
	c, found := s.o.Hub.Find(id)
	if !known || !found || c.Over() {
		return s.restore(w, r, p, o)
	}
	if !s.restoring.begin(id) {
		return errAway
	}
	defer s.restoring.end(id)
	return s.back(w, r, p, o, c)
}

// back connects a returning client to a conversation that runs here.
func (s *Server) back(w http.ResponseWriter, r *http.Request, p who, o NewConversation, c *hub.Conversation) (err error) {
	if err := s.leads(r.Context(), o.Resume, c.ID()); err != nil {
		return err
	}
	if err := s.mayReturn(r.Context(), p, o, place{c.ID(), c.Owner(), c.Agent(), c.Transport()}); err != nil {
		return err
	}
	leg, negotiates := c.Leg().(Restarter)
	switch {
	case c.Over():
		return session.ErrEnded
	case negotiates && o.SDP == "":
		return fail(http.StatusBadRequest, "bad_request", "field sdp is missing: expected an offer")
	case !negotiates && o.SDP != "":
		return fail(http.StatusBadRequest, "bad_request", "field sdp is valid for transport webrtc only")
	}
	if err := s.spend(r.Context(), p); err != nil {
		return err
	}
	answer := ""
	if negotiates {
		if answer, err = leg.Restart(r.Context(), o.SDP); err != nil {
			return fail(http.StatusBadRequest, "bad_offer", "the offer cannot be answered: %v", err)
		}
	}
	c.Return()
	return s.created(w, r, c, answer, o.Resume)
}

// leads returns an error unless a resume token is valid for a conversation that runs here.
func (s *Server) leads(ctx context.Context, token, id string) error {
	if !s.tokens.has(id) {
		return s.stillGood(ctx, sha256.Sum256([]byte(token)), id)
	}
	if of, known := s.tokens.resumes(token); known && of == id {
		return nil
	}
	// Either the client has used the tokens that replaced it, or another process has taken the
	// conversation over and issued the token.
	if err := s.keep(ctx, id); err != nil {
		return errAway
	}
	return errNoResume
}

// place is a conversation to which a client returns.
type place struct{ id, owner, agent, transport string }

// mayReturn returns an error unless the sender of a request may return to a conversation, and
// the request fits it. The resume token of somebody else is invalidated.
func (s *Server) mayReturn(ctx context.Context, p who, o NewConversation, to place) error {
	if !p.all && p.only != to.id && (p.only != "" || p.owner != to.owner) {
		return errors.Join(errNoResume, s.stolen(ctx, to.id, o.Resume))
	}
	if !s.o.Keys.Vouches(to.owner) {
		return errNoResume
	}
	if o.Transport != "" && o.Transport != to.transport || o.Agent != "" && o.Agent != to.agent {
		return fail(http.StatusConflict, "other_transport", "this conversation is with agent %s over transport %s: expected the same, or neither field", to.agent, to.transport)
	}
	return nil
}

// agent returns the agent of a new conversation, or an error if it does not support
// the transport.
func (s *Server) agent(o NewConversation) (Agent, error) {
	agents := s.o.Agents()
	if len(agents) == 0 {
		return Agent{}, fail(http.StatusNotFound, "no_such_agent", "this server has no agents")
	}
	agent := agents[0]
	if o.Agent != "" {
		i := slices.IndexFunc(agents, func(a Agent) bool { return a.Name == o.Agent })
		if i < 0 {
			return Agent{}, fail(http.StatusNotFound, "no_such_agent", "unknown agent %q: see GET /v1/agents", o.Agent)
		}
		agent = agents[i]
	}
	if o.Transport == "webrtc" && !agent.Speech {
		return Agent{}, fail(http.StatusNotImplemented, "no_speech", "this server has no recognizer or no voice for the language of the agent: expected transport text")
	}
	return agent, nil
}

// connect creates the leg of a new conversation.
func (s *Server) connect(r *http.Request, o NewConversation) (leg port.Leg, answer string, err error) {
	switch o.Transport {
	case "text":
		if o.SDP != "" {
			return nil, "", fail(http.StatusBadRequest, "bad_request", "field sdp is valid for transport webrtc only")
		}
		return s.o.Text(), "", nil
	case "webrtc":
		if s.o.WebRTC == nil {
			return nil, "", fail(http.StatusNotImplemented, "no_webrtc", "this server has no WebRTC: expected transport text")
		}
		if o.SDP == "" {
			return nil, "", fail(http.StatusBadRequest, "bad_request", "field sdp is missing: expected an offer")
		}
		if leg, answer, err = s.o.WebRTC(r.Context(), o.SDP); errors.Is(err, hub.ErrFull) {
			s.o.Hub.Refuse(err)
			return nil, "", err
		} else if err != nil {
			return nil, "", fail(http.StatusBadRequest, "bad_offer", "the offer cannot be answered: %v", err)
		}
		return leg, answer, nil
	case "":
		return nil, "", fail(http.StatusBadRequest, "bad_request", "field transport is missing: expected text or webrtc")
	default:
		return nil, "", fail(http.StatusBadRequest, "bad_request", "field transport is %q: expected text or webrtc", o.Transport)
	}
}

func (s *Server) listConversations(w http.ResponseWriter, _ *http.Request, p who) error {
	list := s.o.Hub.List(func(owner string) bool { return p.sees(owner, "") })
	writeJSON(w, http.StatusOK, ConversationList{list})
	return nil
}

// conversationID returns the id in a request. It returns a not-found error for an
// id that is invalid and would be refused by stores.
func conversationID(r *http.Request) (string, error) {
	id := r.PathValue("id")
	if store.CheckID(id) != nil || !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl) {
		return "", fail(http.StatusNotFound, "no_such_conversation", "unknown conversation %s", store.Quote(id))
	}
	return id, nil
}

// find returns the conversation of a request if the sender may see it.
func (s *Server) find(r *http.Request, p who) (*hub.Conversation, error) {
	id, err := conversationID(r)
	if err != nil {
		return nil, err
	}
	c, ok := s.o.Hub.Find(id)
	if ok = ok && p.sees(c.Owner(), id); ok && !c.Over() {
		return c, nil
	}
	if s.o.Home != nil && !p.start && (p.only == "" || p.only == id) {
		url, held, err := s.o.Home.Holder(r.Context(), id)
		switch {
		case held && err == nil:
			return nil, &elsewhere{url}
		case err != nil && !ok:
			return nil, errStore
		}
	}
	if ok {
		return c, nil // it has ended here and does not exist elsewhere
	}
	return nil, fail(http.StatusNotFound, "no_such_conversation", "conversation %q does not exist or was removed", id)
}

func (s *Server) show(w http.ResponseWriter, r *http.Request, p who) error {
	c, err := s.find(r, p)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, c.Details())
	return nil
}

// restart answers a new offer of a conversation's client.
func (s *Server) restart(w http.ResponseWriter, r *http.Request, p who) error {
	c, err := s.find(r, p)
	if err != nil {
		return err
	}
	var o Description
	if err := s.read(w, r, &o); err != nil {
		return err
	}
	if o.SDP == "" {
		return fail(http.StatusBadRequest, "bad_request", "field sdp is missing: expected an offer")
	}
	leg, ok := c.Leg().(Restarter)
	switch {
	case c.Over():
		return session.ErrEnded
	case !ok:
		return fail(http.StatusConflict, "no_webrtc", "this conversation uses transport %s: only webrtc can be renegotiated", c.Transport())
	}
	answer, err := leg.Restart(r.Context(), o.SDP)
	if err != nil {
		return fail(http.StatusBadRequest, "bad_offer", "the offer cannot be answered: %v", err)
	}
	writeJSON(w, http.StatusOK, Answered{answer, s.iceServers(c, answer)})
	return nil
}

func (s *Server) command(w http.ResponseWriter, r *http.Request, p who) error {
	c, err := s.find(r, p)
	if err != nil {
		return err
	}
	var m hub.Command
	if err := s.read(w, r, &m); err != nil {
		return err
	}
	if err := c.Command(m); err != nil {
		return err
	}
	writeJSON(w, http.StatusAccepted, Empty{})
	return nil
}

// trace answers with the trace so far. A client that has only the conversation's
// access token does not receive the agent's files.
func (s *Server) trace(w http.ResponseWriter, r *http.Request, p who) error {
	c, err := s.find(r, p)
	if err != nil {
		return err
	}
	t, ok := c.Trace()
	if !ok {
		return fail(http.StatusForbidden, "private", "no trace is available: the agent's privacy is \"none\"")
	}
	if p.only != "" && len(t.Lines) > 0 {
		if t.Lines[0], err = journal.WithoutAgent(t.Lines[0]); err != nil {
			return err
		}
	}
	traceHeader(w, c.ID())
	if t.Cut {
		w.Header().Set("Hocket-Trace-Cut", "true")
	}
	for _, line := range t.Lines {
		if _, err := w.Write(line); err != nil {
			return nil //nolint:nilerr // the client has disconnected
		}
	}
	return nil
}

func (s *Server) statechart(w http.ResponseWriter, r *http.Request, _ who) error {
	chart, err := explore.NewChart(r.URL.Query().Get("view"))
	if err != nil {
		return fail(http.StatusBadRequest, "bad_request", "%v", err)
	}
	writeJSON(w, http.StatusOK, chart)
	return nil
}

// clientToken creates a token for a browser.
func (s *Server) clientToken(w http.ResponseWriter, r *http.Request, p who) error {
	var o NewClientToken
	if r.ContentLength != 0 {
		if err := s.read(w, r, &o); err != nil {
			return err
		}
	}
	if err := checkCaller("field", o.Caller); err != nil {
		return err
	}
	expires := time.Now().Add(clientTokenFor)
	token, err := s.forClient(r.Context(), p, o.Caller)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, ClientToken{token, expires})
	return nil
}
