package api

import (
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/internal/explore"
	"github.com/hocketvoice/hocket/internal/hub"
	"github.com/hocketvoice/hocket/port"
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
	// Resume is the token of a conversation that is to go on.
	Resume string `json:"resume,omitempty"`
}

// Created is the answer to it.
type Created struct {
	ID  string `json:"id"`
	SDP string `json:"sdp,omitempty"` // the answer to the offer
	// ResumeToken is good for one resumption of the conversation.
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
	var answer string
	if call.Leg, answer, err = s.connect(r, o); err != nil {
		return err
	}
	call.Owner = p.owner
	c, err := s.o.Hub.Start(call)
	if err != nil {
		return err
	}
	s.tokens.forget(func(id string) bool { _, ok := s.o.Hub.Find(id); return ok })
	s.created(w, c, answer)
	return nil
}

// created answers with a conversation and new tokens for it.
func (s *Server) created(w http.ResponseWriter, c *hub.Conversation, answer string) {
	access, resume := s.tokens.forConversation(c.ID())
	w.Header().Set("Location", "/v1/conversations/"+c.ID())
	writeJSON(w, http.StatusCreated, Created{ID: c.ID(), SDP: answer, ResumeToken: resume, AccessToken: access})
}

// resume goes on with a conversation whose client had gone, or with another
// client in its place: the tokens that were given before are no longer good.
func (s *Server) resume(w http.ResponseWriter, r *http.Request, p who, o NewConversation) (err error) {
	id, keep, ok := s.tokens.take(o.Resume)
	c, found := s.o.Hub.Find(id)
	if !ok || !found || c.Over() || !p.resumes(c) {
		return fail(http.StatusNotFound, "no_such_conversation", "the resume token is not known, was used, or its conversation has ended")
	}
	defer func() {
		if err != nil {
			keep()
		}
	}()
	if o.Transport != "" && o.Transport != c.Transport() || o.Agent != "" && o.Agent != c.Agent() {
		return fail(http.StatusConflict, "other_transport", "this conversation is held with %s over %s: expected the same, or neither agent nor transport", c.Agent(), c.Transport())
	}
	leg, negotiates := c.Leg().(Restarter)
	answer := ""
	switch {
	case negotiates && o.SDP == "":
		return fail(http.StatusBadRequest, "bad_request", "field sdp is missing: expected an offer")
	case !negotiates && o.SDP != "":
		return fail(http.StatusBadRequest, "bad_request", "field sdp belongs to transport webrtc")
	case negotiates:
		if answer, err = leg.Restart(r.Context(), o.SDP); err != nil {
			return fail(http.StatusBadRequest, "bad_offer", "the offer cannot be answered: %v", err)
		}
	}
	c.Return()
	s.created(w, c, answer)
	return nil
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

// find is the conversation that a request names, if it is theirs.
func (s *Server) find(r *http.Request, p who) (*hub.Conversation, error) {
	id := r.PathValue("id")
	if c, ok := s.o.Hub.Find(id); ok && p.sees(c.Owner(), id) {
		return c, nil
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
	if !ok {
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

// trace answers with the trace so far.
func (s *Server) trace(w http.ResponseWriter, r *http.Request, p who) error {
	c, err := s.find(r, p)
	if err != nil {
		return err
	}
	t, ok := c.Trace()
	if !ok {
		return fail(http.StatusForbidden, "private", "the agent's privacy is none: there is no trace")
	}
	h := w.Header()
	h.Set("Content-Type", "application/jsonl")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Disposition", `attachment; filename="`+c.ID()+`.jsonl"`)
	if t.Cut {
		h.Set("Hocket-Trace-Cut", "true")
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
func (s *Server) clientToken(w http.ResponseWriter, _ *http.Request, p who) error {
	token, expires, err := s.tokens.forClient(p, time.Now())
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, ClientToken{token, expires})
	return nil
}
