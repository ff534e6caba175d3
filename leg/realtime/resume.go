package realtime

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"

	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
)

// This file lets clients return to their conversation over another connection.

// The headers of a handshake's answer: the conversation's id, and the token with which
// the client may return once. The client sends the token in the same header or in the
// query.
const (
	headerConversation = "Hocket-Conversation"
	headerResume       = "Hocket-Resume-Token"
	resumeParameter    = "resume"
)

// digest is the SHA-256 digest of a token. Only digests are stored.
type digest [sha256.Size]byte

// grant is a token for a client.
type grant struct {
	token  string
	digest digest
}

func newGrant() grant {
	var b [24]byte
	rand.Read(b[:]) // never fails
	token := "rt_" + base64.RawURLEncoding.EncodeToString(b[:])
	return grant{token, sha256.Sum256([]byte(token))}
}

// resumeToken returns the resume token of a request, or "".
func resumeToken(r *http.Request) string {
	if token := r.Header.Get(headerResume); token != "" {
		return token
	}
	return r.URL.Query().Get(resumeParameter)
}

// arrival is a client that was admitted to a new conversation or back to its own. The
// token that it used stays valid until it is connected, so that an error before that
// does not lose it.
type arrival struct {
	c    *conn
	next grant // the token with which it may return; zero if it may not
	used grant // the token with which it has returned; zero for a new conversation
	// before is the digest of used if the conversation did not run on this server and
	// next is a different token.
	before digest
	back   bool   // the conversation runs on this server
	end    func() // releases resources if the connection fails
}

// returns reports whether the client returns to a conversation.
func (a *arrival) returns() bool { return a.used.token != "" }

// tell writes the conversation's id and the next token to the headers of the answer.
func (a *arrival) tell(h http.Header) {
	h.Set(headerConversation, a.c.id)
	if a.next.token != "" {
		h.Set(headerResume, a.next.token)
	}
}

var (
	errResume = wire.Invalid(wire.CodeResume, resumeParameter, "The resume token is not known, was used, or its conversation has ended.")
	errFull   = wire.Invalid(wire.CodeRateLimit, "", "There are too many conversations.")
	errAgain  = &wire.Error{Type: wire.ServerError, Code: "try_again", Message: "The server that holds the conversation does not answer: try again in a second."}
)

// comeBack admits a client to the conversation on this server that has the token. It
// returns nil if there is none. The token stays valid until the client is known to have
// the next one, since the answer may be lost.
func (s *Server) comeBack(from Caller, token string) (*arrival, *wire.Error) {
	used := digest(sha256.Sum256([]byte(token)))
	s.mu.Lock()
	c := s.resumes[used]
	s.mu.Unlock()
	switch {
	case c == nil:
		return nil, nil
	case c.owner != from.Owner:
		return nil, errResume
	}
	next := s.nextGrant()
	s.keep(c, next, used)
	return &arrival{c: c, used: grant{token, used}, back: true, next: next, end: func() { s.keep(c, grant{token, used}, digest{}) }}, nil
}

// restore continues a conversation that does not run on this server. call carries its
// sound; it is nil if events do.
func (s *Server) restore(ctx context.Context, from Caller, token string, call Call) (*arrival, *wire.Error) {
	if s.o.Resume == nil {
		return nil, errResume
	}
	parts, err := s.o.Resume(ctx, from, token)
	switch {
	case errors.Is(err, ErrUnknownToken):
		return nil, errResume
	case errors.Is(err, ErrBusy):
		return nil, errFull
	case errors.Is(err, ErrAgain):
		return nil, errAgain
	case err != nil:
		return nil, internalError
	}
	a, bad := s.make(begin{owner: from.Owner, session: defaults(from), parts: parts, call: call})
	if a != nil {
		a.before = sha256.Sum256([]byte(token))
		a.used = grant{token, a.before}
	}
	return a, bad
}

// nextGrant returns a new token, or a zero grant if clients may not return.
func (s *Server) nextGrant() grant {
	if s.o.Linger == 0 {
		return grant{}
	}
	return newGrant()
}

// promise stores the next token of a returning client, in addition to the one that it
// used, before the client receives it. Otherwise the client would have an unknown token
// if the program died in between. If the token cannot be stored, the client keeps the
// one that it used.
func (s *Server) promise(ctx context.Context, a *arrival) {
	switch {
	case a.back:
		if s.issue(ctx, a.c) != nil {
			a.next = a.used
			s.keep(a.c, a.used, digest{})
		}
	case a.returns(): // the conversation does not run on this server yet
		if s.issueOf(ctx, a.c, func() (now, before digest) { return a.next.digest, a.before }) != nil {
			a.next, a.before = a.used, digest{}
		}
	}
}

// issue stores the valid tokens of a conversation.
func (s *Server) issue(ctx context.Context, c *conn) error {
	return s.issueOf(ctx, c, func() (now, before digest) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return c.resume, c.before
	})
}

func (s *Server) issueOf(ctx context.Context, c *conn, tokens func() (now, before digest)) error {
	if c.issued == nil {
		return nil
	}
	c.issuing.Lock() // the newest tokens must be stored last
	defer c.issuing.Unlock()
	now, before := tokens()
	return c.issued(context.WithoutCancel(ctx), now.bytes(), before.bytes()) // must be stored even if the client disconnects
}

// arrived records that the client has its newest token. The previous one becomes
// invalid.
func (s *Server) arrived(ctx context.Context, c *conn) {
	s.mu.Lock()
	was := c.before
	if c.before = (digest{}); was != (digest{}) && was != c.resume && s.resumes[was] == c {
		delete(s.resumes, was)
	}
	s.mu.Unlock()
	if was != (digest{}) {
		_ = s.issue(ctx, c) // on failure the previous token stays valid, which does no harm
	}
}

// bytes returns the digest, or nil if it is zero.
func (d digest) bytes() []byte {
	if d == (digest{}) {
		return nil
	}
	return d[:]
}

// keep sets the valid tokens of a running conversation: g, and before if it is not
// zero.
func (s *Server) keep(c *conn, g grant, before digest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forget(c)
	c.resume, c.before = g.digest, before
	for _, d := range []digest{c.resume, c.before} {
		if d != (digest{}) && !c.gone {
			s.resumes[d] = c
		}
	}
}

// forget removes the tokens of a conversation. The caller must hold mu.
func (s *Server) forget(c *conn) {
	for _, d := range []digest{c.resume, c.before} {
		if s.resumes[d] == c {
			delete(s.resumes, d)
		}
	}
}

// Conversations returns the number of running conversations, including those that wait
// for their clients.
func (s *Server) Conversations() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}
