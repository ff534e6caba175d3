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
	"github.com/hocketvoice/hocket/server/hub"
)

// Home is where conversations are that do not run in this process: kept, or held by
// another node. Its methods are called by many goroutines. Tokens are known by their
// SHA-256 digests.
type Home interface {
	// Grant replaces the tokens of a conversation that runs here. Where it fails they are
	// kept as soon as that is possible.
	Grant(ctx context.Context, id string, g port.Grant) error
	// Access and Resume are the conversations that tokens are good for.
	Access(ctx context.Context, digest []byte) (id string, ok bool, err error)
	Resume(ctx context.Context, digest []byte) (id string, ok bool, err error)
	// Redeem takes a resume token back: of several calls one gets true.
	Redeem(ctx context.Context, digest []byte) (ok bool, err error)
	// Restore takes a conversation over, and describes how it goes on here; the leg is
	// filled in by the caller, who calls Over of one that does not begin. It fails with
	// a [port.HeldError] while somebody else holds the conversation, with [ErrGone], and
	// with [ErrUnsure].
	Restore(ctx context.Context, id string) (hub.Call, error)
	// Holder is where another node that holds a conversation is reached; ok is false
	// where none is.
	Holder(ctx context.Context, id string) (url string, ok bool, err error)
}

// ErrGone says that there is nothing to go on with.
var ErrGone = errors.New("the conversation is not kept, or has ended")

// ErrUnsure says that nobody can tell at the moment: the client is to try again.
var ErrUnsure = errors.New("nobody can tell at the moment")

// forwarded marks a request that another node has sent on: it is not sent further.
const forwarded = "Hocket-Forwarded"

// elsewhere is the answer to a request whose conversation another node holds.
type elsewhere struct{ url string }

func (e *elsewhere) Error() string { return "another node holds the conversation" }

// tryAgain is the code of what is over in a moment.
const tryAgain = "try_again"

// errAway asks a client to try again: the node that holds its conversation does not
// answer, and may be dead.
var errAway = fail(http.StatusServiceUnavailable, tryAgain, "the server that holds the conversation does not answer: try again in a second")

// known is what a token is good for that this process has not given, or has forgotten.
func (s *Server) known(r *http.Request, token string) (who, bool, error) {
	if s.o.Home == nil || !strings.HasPrefix(token, accessPrefix) {
		return who{}, false, nil
	}
	digest := sha256.Sum256([]byte(token))
	id, ok, err := s.o.Home.Access(r.Context(), digest[:])
	if err != nil {
		return who{}, false, errStore // it may be good: the client must not throw it away
	}
	return who{only: id}, ok, nil
}

// keptLimit bounds how long an answer waits for the conversation's first checkpoint.
const keptLimit = 500 * time.Millisecond

// grant makes tokens for a conversation, and keeps them where they outlive this
// process. used is the resume token with which its client has come back, if it has.
func (s *Server) grant(ctx context.Context, c *hub.Conversation, used string) (access, resume string) {
	id := c.ID()
	access, resume = s.tokens.forConversation(id, used)
	if s.o.Home == nil {
		return access, resume
	}
	kept, cancel := context.WithTimeout(ctx, keptLimit)
	defer cancel()
	c.Kept(kept) // a token is good for something that is there; a store that is away delays nobody for long
	s.keep(ctx, id)
	return access, resume
}

// keep has the store keep the tokens of a conversation as they are now.
func (s *Server) keep(ctx context.Context, id string) {
	if s.o.Home == nil {
		return
	}
	err := s.tokens.keep(id, func(g port.Grant) error { return s.o.Home.Grant(context.WithoutCancel(ctx), id, g) })
	if err != nil {
		s.o.Log.Warn("the tokens of a conversation are good in this process alone until the store has them", "conversation", id, "error", err)
	}
}

// busy are the conversations that are being restored. It is safe for concurrent use.
type busy struct {
	mu  sync.Mutex
	ids map[string]bool
}

// begin reports false where somebody else has begun.
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

// errNoResume refuses a token.
var errNoResume = fail(http.StatusNotFound, "no_such_conversation", "the resume token is not known, was used, or its conversation has ended")

// restore goes on with a conversation whose token this process has not given.
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
		return s.back(w, r, p, o, c) // another request was faster
	}
	call, err := s.o.Home.Restore(r.Context(), id)
	if held, ok := errors.AsType[*port.HeldError](err); ok {
		return sentOn(r, o, held.Node.URL)
	}
	if errors.Is(err, ErrGone) {
		return errNoResume
	}
	if errors.Is(err, ErrUnsure) {
		return errStore
	}
	if err != nil {
		s.o.Log.Error("a conversation cannot go on", "conversation", id, "error", err)
		return errStore
	}
	begun := false
	defer func() {
		if !begun && call.Over != nil {
			call.Over(id, false)
		}
	}()
	if !p.all && p.only != id && (p.only != "" || p.owner != call.Owner) {
		return errors.Join(errNoResume, s.stolen(r.Context(), id, o.Resume))
	}
	if !s.o.Keys.Vouches(call.Owner) {
		return errNoResume
	}
	if err := fits(o, call.Agent, call.Transport); err != nil {
		return err
	}
	o.Transport, call.Caller = call.Transport, callerNow(call.Owner, call.Caller)
	var answer string
	if call.Leg, answer, err = s.connect(r, o); err != nil {
		return err
	}
	// The conversation is this process's: nobody else gives tokens for it meanwhile.
	err = s.stillGood(r.Context(), digest, id)
	if err == nil {
		err = s.spend(r.Context(), p)
	}
	if err != nil {
		return errors.Join(err, closeLeg(call.Leg))
	}
	begun = true                  // from here on the hub gives it up
	c, err := s.o.Hub.Start(call) //nolint:contextcheck // it outlives the request
	if err != nil {
		return err
	}
	s.o.Log.Info("conversation goes on", "conversation", id)
	s.created(w, r, c, answer, o.Resume)
	return nil
}

// stolen takes a resume token back: whoever has one and no right to it may have stolen it.
func (s *Server) stolen(ctx context.Context, id, token string) error {
	s.tokens.revoke(id, token)
	if s.o.Home == nil {
		return nil
	}
	digest := sha256.Sum256([]byte(token))
	_, err := s.o.Home.Redeem(ctx, digest[:])
	return err
}

// sentOn prepares a request that was read for the node that it belongs to.
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

// resumed is the conversation that a resume token of the store's is good for.
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

// stillGood says why a resume token is not that of a conversation any more.
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

// heldElsewhere is where a client of the OpenAI Realtime protocol comes back to whose
// conversation another node holds.
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

// errStore says that nobody can tell at the moment.
var errStore = fail(http.StatusServiceUnavailable, tryAgain, "the store does not answer: try again in a second")

// forward sends a request on to the node that holds its conversation.
func (s *Server) forward(w http.ResponseWriter, r *http.Request, to string) {
	target, err := url.Parse(to)
	if err != nil || r.Header.Get(forwarded) != "" {
		s.tell(w, r, errAway)
		return
	}
	// Event streams take as long as they take: the other node has their limits.
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{})  // a test's writer has none
	_ = control.SetWriteDeadline(time.Time{}) // as above
	proxy := httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(target)
			p.SetXForwarded()
			p.Out.Host = p.In.Host // with which the other node compares the page's origin
			p.Out.Header.Set(forwarded, "1")
		},
		FlushInterval: -1,
		ErrorHandler:  func(w http.ResponseWriter, r *http.Request, _ error) { s.tell(w, r, errAway) },
		ModifyResponse: func(answer *http.Response) error {
			for _, name := range []string{"Access-Control-Allow-Origin", "Vary", "X-Content-Type-Options"} {
				answer.Header.Del(name) // ServeHTTP has set them
			}
			return nil
		},
	}
	proxy.ServeHTTP(w, r)
}
