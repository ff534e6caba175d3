package api

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/gate"
	"github.com/hocketvoice/hocket/server/hub"
)

// Home gives access to conversations that do not run in this process: stored ones,
// and those of other nodes. It is safe for concurrent use. Tokens are identified by
// their SHA-256 digests.
type Home interface {
	// Grant replaces the tokens of a conversation that runs here. If it fails, the
	// tokens are stored as soon as possible. If it fails with [port.ErrFenced],
	// another process has taken the conversation over, and with [ErrUnclaimed] the store
	// does not have the conversation yet.
	Grant(ctx context.Context, id string, g port.Grant) error
	// Access and Resume return the conversation that a token is valid for.
	Access(ctx context.Context, digest []byte) (id string, ok bool, err error)
	Resume(ctx context.Context, digest []byte) (id string, ok bool, err error)
	// Redeem invalidates a resume token. Of several calls with the same token, one
	// returns true.
	Redeem(ctx context.Context, digest []byte) (ok bool, err error)
	// Restore takes over a conversation and returns the description with which it
	// continues here. The caller sets the leg, and must call Over if the
	// conversation does not begin. Restore fails with a [port.HeldError] while
	// another node holds the conversation, with [ErrGone], [ErrChanged] and [ErrUnsure].
	Restore(ctx context.Context, id string) (hub.Call, error)
	// Holder returns the URL of another node that holds a conversation. ok is false
	// if there is none.
	Holder(ctx context.Context, id string) (url string, ok bool, err error)
}

// ErrGone reports that a conversation does not exist or has ended.
var ErrGone = errors.New("the conversation does not exist or has ended")

// ErrUnclaimed reports that the store does not have a conversation yet because it has
// failed, which was logged.
var ErrUnclaimed = errors.New("the conversation is not claimed yet")

// ErrChanged reports that a conversation cannot continue because its agent has changed and
// the version with which it began is not available.
var ErrChanged = errors.New("the agent has changed, and the conversation cannot continue with it")

// ErrUnsure reports that the state of the conversation is currently unknown. The
// client should try again.
var ErrUnsure = errors.New("the state of the conversation is temporarily unknown")

// forwarded marks a request from another node, which is not forwarded again.
const forwarded = "Hocket-Forwarded"

// elsewhere is the error for a request whose conversation another node holds.
type elsewhere struct{ url string }

func (e *elsewhere) Error() string { return "another node holds the conversation" }

// tryAgain is the code of temporary failures.
const tryAgain = "try_again"

// errAway asks a client to try again: the node that holds its conversation does not
// answer and may have died.
var errAway = fail(http.StatusServiceUnavailable, tryAgain, "the server that holds the conversation does not answer: try again in a second")

// known looks up a token that this process has not issued, or has forgotten.
func (s *Server) known(r *http.Request, token string) (who, bool, error) {
	if s.o.Home == nil || !strings.HasPrefix(token, accessPrefix) {
		return who{}, false, nil
	}
	digest := sha256.Sum256([]byte(token))
	id, ok, err := s.o.Home.Access(r.Context(), digest[:])
	if err != nil {
		return who{}, false, errStore // the token may be valid: the client must keep it
	}
	return who{only: id}, ok, nil
}

// keptLimit bounds how long a response waits for the conversation's first
// checkpoint. The session gives up an unavailable store earlier.
const keptLimit = 5 * time.Second

// grant creates tokens for a conversation and stores them if there is a store. used
// is the resume token with which the client has returned, if any: if the new tokens
// cannot be stored it stays the client's resume token, since the new one would be
// lost with this process. grant returns errAway if another process has taken the
// conversation over.
func (s *Server) grant(ctx context.Context, c *hub.Conversation, used string) (access, resume string, err error) {
	id := c.ID()
	access, resume = s.tokens.forConversation(id, used)
	if s.o.Home == nil {
		return access, resume, nil
	}
	kept, cancel := context.WithTimeout(ctx, keptLimit)
	defer cancel()
	c.Kept(kept) // store the conversation before its tokens
	switch err := s.keep(ctx, id); {
	case errors.Is(err, port.ErrFenced):
		return "", "", errAway
	case err != nil && used != "":
		s.tokens.stay(id, used)
		resume = used
	}
	return access, resume, nil
}

// keep writes the current tokens of a conversation to the store. It fails with
// [port.ErrFenced] if another process has taken the conversation over; the tokens
// are then no longer valid here.
func (s *Server) keep(ctx context.Context, id string) error {
	if s.o.Home == nil {
		return nil
	}
	err := s.tokens.keep(id, func(g port.Grant) error { return s.o.Home.Grant(context.WithoutCancel(ctx), id, g) })
	if errors.Is(err, port.ErrFenced) {
		s.tokens.forgetOne(id) // only the store knows which are valid
	}
	if err != nil && !errors.Is(err, ErrUnclaimed) {
		s.o.Log.Warn("the tokens of a conversation were not stored: they are valid in this process only", "conversation", id, "error", err)
	}
	return err
}

// busy is the set of conversations that are being restored. It is safe for
// concurrent use.
type busy struct {
	mu  sync.Mutex
	ids map[string]bool
}

// begin adds a conversation. It returns false if the conversation is in the set.
func (b *busy) begin(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ids[id] {
		return false
	}
	if b.ids == nil {
		b.ids = make(map[string]bool)
	}
	b.ids[id] = true
	return true
}

func (b *busy) end(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.ids, id)
}

// errNoResume refuses a resume token.
var errNoResume = fail(http.StatusNotFound, "no_such_conversation", "the resume token is invalid or was used, or its conversation has ended")

// errChanged refuses the resume token of a conversation that cannot continue.
var errChanged = fail(http.StatusGone, "agent_changed", "the agent has changed, and the conversation cannot continue with it: begin a new one")

// notRestored returns the answer for an error of [Home.Restore], or nil if it is an
// unexpected one.
func notRestored(err error) error {
	switch {
	case errors.Is(err, ErrGone):
		return errNoResume
	case errors.Is(err, ErrChanged):
		return errChanged
	case errors.Is(err, ErrUnsure):
		return errStore
	default:
		return nil
	}
}

// restore continues a conversation whose token this process has not issued.
func (s *Server) restore(w http.ResponseWriter, r *http.Request, p who, o NewConversation) (err error) {
	if s.o.Home == nil {
		return errNoResume
	}
	digest := sha256.Sum256([]byte(o.Resume))
	id, err := s.resumed(r.Context(), digest)
	if err != nil {
		return err
	}
	if !s.restoring.begin(id) {
		return errAway
	}
	defer s.restoring.end(id)
	if c, runs := s.o.Hub.Find(id); runs && !c.Over() {
		return s.back(w, r, p, o, c) // another request has restored it
	}
	call, err := s.takeOver(r, o, id)
	if err != nil {
		return err
	}
	begun := false
	defer func() {
		if !begun && call.Over != nil {
			call.Over(id, false)
		}
	}()
	if err := s.mayReturn(r.Context(), p, o, place{id, call.Owner, call.Agent, call.Transport}); err != nil {
		return err
	}
	o.Transport, call.Caller = call.Transport, callerNow(call.Owner, call.Caller)
	var answer string
	if call.Leg, answer, err = s.reconnect(r, p, o, digest, id); err != nil {
		return err
	}
	c, err := s.o.Hub.Start(call) //nolint:contextcheck // it outlives the request
	if errors.Is(err, hub.ErrRuns) {
		return errAway // its end here is not complete
	}
	begun = true // the hub releases it
	if err != nil {
		return err
	}
	s.o.Log.Info("conversation continued", "conversation", id)
	return s.created(w, r, c, answer, o.Resume)
}

// takeOver claims a conversation for this process and returns how it goes on. If another node
// holds it, the error sends the client there.
func (s *Server) takeOver(r *http.Request, o NewConversation, id string) (call hub.Call, err error) {
	if s.o.Hub.Draining() {
		// This process must not take it over: another node can.
		if url, ok, err := s.o.Home.Holder(r.Context(), id); ok && err == nil {
			return call, sentOn(r, o, url)
		}
		return call, hub.ErrDraining
	}
	call, err = s.o.Home.Restore(r.Context(), id)
	if held, ok := errors.AsType[*port.HeldError](err); ok {
		return call, sentOn(r, o, held.Node.URL)
	}
	if refused := notRestored(err); refused != nil {
		return call, refused
	}
	if err != nil {
		s.o.Log.Error("a conversation could not be continued", "conversation", id, "error", err)
		return call, errStore
	}
	return call, nil
}

// reconnect returns the leg of a client that returns to a conversation that this process now
// holds, so that no other issues tokens for it.
func (s *Server) reconnect(r *http.Request, p who, o NewConversation, digest [sha256.Size]byte, id string) (leg port.Leg, answer string, err error) {
	if leg, answer, err = s.connect(r, o); err != nil {
		return nil, "", err
	}
	if back, ok := leg.(port.Returner); ok {
		back.Returning()
	}
	err = s.stillGood(r.Context(), digest, id)
	if err == nil {
		err = s.spend(r.Context(), p)
	}
	if err != nil {
		return nil, "", errors.Join(err, closeLeg(leg))
	}
	return leg, answer, nil
}

// stolen invalidates a resume token that was used without permission, since it may
// have been stolen.
func (s *Server) stolen(ctx context.Context, id, token string) error {
	s.tokens.revoke(id, token)
	if s.o.Home == nil {
		return nil
	}
	digest := sha256.Sum256([]byte(token))
	_, err := s.o.Home.Redeem(ctx, digest[:])
	return err
}

// sentOn prepares a request, whose body was read, for forwarding.
func sentOn(r *http.Request, o NewConversation, url string) error {
	if url == "" {
		return errAway
	}
	body, err := json.Marshal(o)
	if err != nil {
		return err
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return &elsewhere{url}
}

// resumed returns the conversation that a resume token in the store is valid for.
func (s *Server) resumed(ctx context.Context, digest [sha256.Size]byte) (id string, err error) {
	id, ok, err := s.o.Home.Resume(ctx, digest[:])
	switch {
	case err != nil:
		return "", errStore
	case !ok:
		return "", errNoResume
	}
	return id, nil
}

// stillGood returns an error if a resume token is no longer valid for a
// conversation.
func (s *Server) stillGood(ctx context.Context, digest [sha256.Size]byte, id string) error {
	now, err := s.resumed(ctx, digest)
	if err == nil && now != id {
		err = errNoResume
	}
	return err
}

func closeLeg(leg port.Leg) error {
	if c, ok := leg.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// heldElsewhere returns the URL of the node that holds the conversation of a
// returning client of the OpenAI Realtime protocol.
func (s *Server) heldElsewhere(r *http.Request) (url string, ok bool) {
	token := cmp.Or(r.Header.Get("Hocket-Resume-Token"), r.URL.Query().Get("resume"))
	if s.o.Home == nil || token == "" {
		return "", false
	}
	digest := sha256.Sum256([]byte(token))
	id, ok, err := s.o.Home.Resume(r.Context(), digest[:])
	if err != nil || !ok {
		return "", false
	}
	url, ok, err = s.o.Home.Holder(r.Context(), id)
	return url, ok && err == nil
}

// errStore reports that the store is temporarily unavailable.
var errStore = fail(http.StatusServiceUnavailable, tryAgain, "the store does not answer: try again in a second")

// forward forwards a request to the node that holds its conversation.
func (s *Server) forward(w http.ResponseWriter, r *http.Request, to string) {
	target, err := url.Parse(to)
	if err != nil || r.Header.Get(forwarded) != "" {
		s.tell(w, r, errAway)
		return
	}
	// Event streams have no time limit here; the other node enforces its own.
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{})  // a test's writer does not support it
	_ = control.SetWriteDeadline(time.Time{}) // as above
	proxy := httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(target)
			p.SetXForwarded()
			route := gate.RouteOf(p.In)
			p.Out.Host = route.Host // the other node compares it with the page's origin
			p.Out.Header.Set("X-Forwarded-Host", route.Host)
			p.Out.Header.Set("X-Forwarded-For", hostOf(p.In.RemoteAddr)) // without a port behind a proxy
			if route.Scheme != "" {
				p.Out.Header.Set("X-Forwarded-Proto", route.Scheme)
			}
			p.Out.Header.Set(forwarded, "1")
		},
		FlushInterval: -1,
		ErrorHandler:  func(w http.ResponseWriter, r *http.Request, _ error) { s.tell(w, r, errAway) },
		ModifyResponse: func(answer *http.Response) error {
			for _, name := range []string{"Access-Control-Allow-Origin", "Vary", "X-Content-Type-Options"} {
				answer.Header.Del(name) // ServeHTTP has set it already
			}
			return nil
		},
	}
	proxy.ServeHTTP(w, r)
}
