package api

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hocketvoice/hocket/internal/explore"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/session"
	"github.com/hocketvoice/hocket/store"
)

// AgentList is the answer of GET /v1/agents.
type AgentList struct {
	Agents []Agent `json:"agents"`
}

// NewConversation is the request of POST /v1/conversations.
type NewConversation struct {
	Agent     string `json:"agent,omitempty"`     // the first one if absent
	Transport string `json:"transport,omitempty"` // "text", "webrtc" (with an offer in sdp)
	SDP       string `json:"sdp,omitempty"`
	// Caller is who holds the conversation, in the words of the program that has the
	// key: what is left of an earlier one of theirs is told in this one.
	Caller string `json:"caller,omitempty"`
	// Resume is the token of a conversation that is to go on.
	Resume string `json:"resume,omitempty"`
}

// NewClientToken is the request of POST /v1/client_tokens, which may be empty.
type NewClientToken struct {
	// Caller is who will hold the conversation: see [NewConversation].
	Caller string `json:"caller,omitempty"`
}

// Created is the answer to it.
type Created struct {
	ID  string `json:"id"`
	SDP string `json:"sdp,omitempty"` // the answer to the offer
	// ResumeToken is good for coming back to the conversation, until a token of the
	// answer to that is used.
	ResumeToken string `json:"resume_token"`
	// AccessToken is a bearer token for this conversation alone.
	AccessToken string `json:"access_token"`
}

// ConversationList is the answer of GET /v1/conversations.
type ConversationList struct {
	Conversations []hub.Info `json:"conversations"`
}

// Description is an SDP, both ways.
type Description struct {
	SDP string `json:"sdp"`
}

// Empty is the answer to what has none.
type Empty struct{}

// ClientToken is the answer of POST /v1/client_tokens.
type ClientToken struct {
	Token     string    `json:"token"`
	ExpiresAt time.Time `json:"expires_at"`
}

func (s *Server) listAgents(w http.ResponseWriter, _ *http.Request, _ who) error {
	writeJSON(w, http.StatusOK, AgentList{s.o.Agents})
	return nil
}

// create begins a conversation.
func (s *Server) create(w http.ResponseWriter, r *http.Request, p who) error {
	var o NewConversation
	if err := s.read(w, r, &o); err != nil {
		return err
	}
	if o.Resume != "" {
		return s.resume(w, r, p, o)
	}
	if p.only != "" {
		return fail(http.StatusForbidden, "forbidden", "this token is good for one conversation alone")
	}
	agent, err := s.agent(o)
	if err != nil {
		return err
	}
	call, err := s.o.Call(agent.Name, o.Transport)
	if err != nil {
		return err
	}
	call.Owner = p.owner
	if call.Caller, err = p.calls(o.Caller); err != nil {
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
	s.created(w, r, c, answer, "")
	return nil
}

// created answers with a conversation and new tokens for it. used is the resume token with
// which its client has come back, if it has.
func (s *Server) created(w http.ResponseWriter, r *http.Request, c *hub.Conversation, answer, used string) {
	access, resume := s.grant(r.Context(), c, used)
	w.Header().Set("Location", "/v1/conversations/"+c.ID())
	writeJSON(w, http.StatusCreated, Created{ID: c.ID(), SDP: answer, ResumeToken: resume, AccessToken: access})
}

// resume goes on with a conversation whose client had gone, or with another client in its
// place. The tokens that were given before are good until the client has used its new
// ones: the answer may be lost.
func (s *Server) resume(w http.ResponseWriter, r *http.Request, p who, o NewConversation) error {
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

// back gives a conversation that runs here to its client that has come back.
func (s *Server) back(w http.ResponseWriter, r *http.Request, p who, o NewConversation, c *hub.Conversation) (err error) {
	id, known := s.tokens.resumes(o.Resume)
	if given := s.tokens.has(c.ID()); given && (!known || id != c.ID()) {
		return errNoResume // the client has used what it got for it
	} else if !given {
		if err := s.stillGood(r.Context(), sha256.Sum256([]byte(o.Resume)), c.ID()); err != nil {
			return err
		}
	}
	if !p.resumes(c) {
		return errors.Join(errNoResume, s.stolen(r.Context(), c.ID(), o.Resume))
	}
	if !s.o.Keys.Vouches(c.Owner()) {
		return errNoResume
	}
	if err := fits(o, c.Agent(), c.Transport()); err != nil {
		return err
	}
	leg, negotiates := c.Leg().(Restarter)
	switch {
	case c.Over():
		return session.ErrEnded
	case negotiates && o.SDP == "":
		return fail(http.StatusBadRequest, "bad_request", "field sdp is missing: expected an offer")
	case !negotiates && o.SDP != "":
		return fail(http.StatusBadRequest, "bad_request", "field sdp belongs to transport webrtc")
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
	s.created(w, r, c, answer, o.Resume)
	return nil
}

// fits refuses to go on with another agent, or over another transport.
func fits(o NewConversation, agent, transport string) error {
	if o.Transport != "" && o.Transport != transport || o.Agent != "" && o.Agent != agent {
		return fail(http.StatusConflict, "other_transport", "this conversation is held with %s over %s: expected the same, or neither agent nor transport", agent, transport)
	}
	return nil
}

// maxCaller bounds the name of a caller, in bytes.
const maxCaller = 200

// calls is who holds the conversation that they begin, told apart from the callers of
// others. Who has a client token is who its maker says.
func (p who) calls(caller string) (string, error) {
	switch {
	case p.start && caller != "" && caller != p.caller:
		return "", fail(http.StatusForbidden, "forbidden", "field caller: a client token says itself who calls")
	case p.start:
		caller = p.caller
	}
	if len(caller) > maxCaller {
		return "", fail(http.StatusBadRequest, "bad_request", "field caller has %d bytes: expected at most %d", len(caller), maxCaller)
	}
	if caller == "" {
		return "", nil
	}
	return callerOf(p.owner, caller), nil
}

// callerOf names a caller of an owner's as nobody else's is named: the slash between the
// two is the only one.
func callerOf(owner, caller string) string {
	escape := strings.NewReplacer("%", "%25", "/", "%2F")
	return escape.Replace(owner) + "/" + escape.Replace(caller)
}

// callerNow is the name of a caller that was kept with a conversation. Versions before
// this one wrote slashes of owners and callers as they were.
func callerNow(owner, kept string) string {
	caller, ok := strings.CutPrefix(kept, owner+"/")
	if ok && (strings.ContainsAny(owner, "/%") || strings.Contains(caller, "/")) {
		return callerOf(owner, caller)
	}
	return kept
}

// resumes reports whether a conversation is theirs to resume.
func (p who) resumes(c *hub.Conversation) bool {
	return p.all || p.only == c.ID() || p.only == "" && p.owner == c.Owner()
}

// agent finds the agent of a new conversation, and whether it can be reached by
// the transport.
func (s *Server) agent(o NewConversation) (Agent, error) {
	if len(s.o.Agents) == 0 {
		return Agent{}, fail(http.StatusNotFound, "no_such_agent", "this server has no agents")
	}
	agent := s.o.Agents[0]
	if o.Agent != "" {
		i := slices.IndexFunc(s.o.Agents, func(a Agent) bool { return a.Name == o.Agent })
		if i < 0 {
			return Agent{}, fail(http.StatusNotFound, "no_such_agent", "there is no agent %q: GET /v1/agents lists them", o.Agent)
		}
		agent = s.o.Agents[i]
	}
	if o.Transport == "webrtc" && !agent.Speech {
		return Agent{}, fail(http.StatusNotImplemented, "no_speech", "this server has no recognizer or no voice: expected transport text")
	}
	return agent, nil
}

// connect makes the leg of a new conversation.
func (s *Server) connect(r *http.Request, o NewConversation) (leg port.Leg, answer string, err error) {
	switch o.Transport {
	case "text":
		if o.SDP != "" {
			return nil, "", fail(http.StatusBadRequest, "bad_request", "field sdp belongs to transport webrtc")
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

// conversationID is the id that a request names. One that no conversation can have, which
// stores refuse, is not found.
func conversationID(r *http.Request) (string, error) {
	id := r.PathValue("id")
	if store.CheckID(id) != nil || !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl) {
		return "", fail(http.StatusNotFound, "no_such_conversation", "there is no conversation %s", store.Quote(id))
	}
	return id, nil
}

// find is the conversation that a request names, if it is theirs.
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
		return c, nil // it has ended here, and is nowhere else
	}
	return nil, fail(http.StatusNotFound, "no_such_conversation", "there is no conversation %q, or no longer", id)
}

func (s *Server) show(w http.ResponseWriter, r *http.Request, p who) error {
	c, err := s.find(r, p)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, c.Details())
	return nil
}

// restart answers another offer of a conversation's client.
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
		return fail(http.StatusConflict, "no_webrtc", "this conversation is held over %s: there is nothing to negotiate", c.Transport())
	}
	answer, err := leg.Restart(r.Context(), o.SDP)
	if err != nil {
		return fail(http.StatusBadRequest, "bad_offer", "the offer cannot be answered: %v", err)
	}
	writeJSON(w, http.StatusOK, Description{answer})
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

// trace answers with the trace so far. Who has the conversation's access token alone is
// a client, and the agent's files are none of its business.
func (s *Server) trace(w http.ResponseWriter, r *http.Request, p who) error {
	c, err := s.find(r, p)
	if err != nil {
		return err
	}
	t, ok := c.Trace()
	if !ok {
		return fail(http.StatusForbidden, "private", "the agent's privacy is none: there is no trace")
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
			return nil //nolint:nilerr // the client has gone: nobody is left to tell
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

// clientToken makes a token for a browser.
func (s *Server) clientToken(w http.ResponseWriter, r *http.Request, p who) error {
	var o NewClientToken
	if r.ContentLength != 0 {
		if err := s.read(w, r, &o); err != nil {
			return err
		}
	}
	if len(o.Caller) > maxCaller {
		return fail(http.StatusBadRequest, "bad_request", "field caller has %d bytes: expected at most %d", len(o.Caller), maxCaller)
	}
	expires := time.Now().Add(clientTokenFor)
	token, err := s.forClient(r.Context(), p, o.Caller)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, ClientToken{token, expires})
	return nil
}
