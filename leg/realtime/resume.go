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

// This file: clients that come back to their conversation by another connection.

// The headers of a handshake's answer: which conversation it is, and the token
// with which the client may come back to it, once. A client gives the token in the
// same header, or in the query.
const (
	headerConversation = "Hocket-Conversation"
	headerResume       = "Hocket-Resume-Token"
	resumeParameter    = "resume"
)

// digest is what is kept of a token.
type digest [sha256.Size]byte

// grant is a token that a client may get.
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

// resumeToken is what a request comes back with; empty: it does not.
func resumeToken(r *http.Request) string {
	if token := r.Header.Get(headerResume); token != "" {
		return token
	}
	return r.URL.Query().Get(resumeParameter)
}

// arrival is a client that has been let in: to a new conversation, or back to its
// own. The token that it came with is good again until it is connected: what fails
// before that must not lose it.
type arrival struct {
	c    *conn
	next grant // with which it may come back; its zero value: it may not
	used grant // with which it has come back; its zero value: it has not
	// before is its digest, where the conversation did not run here, and the next token is
	// another one.
	before digest
	back   bool   // the conversation runs here
	end    func() // gives up what was taken for a connection that does not come about
}

// returns reports whether the client comes back.
func (a *arrival) returns() bool { return a.used.token != "" }

// tell puts into the answer what the client needs to come back.
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

// comeBack takes a client back to the conversation here that its token stands for. The
// token stays good until the client is known to have the next one: the answer may be lost.
// nil: there is no such conversation.
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

// restore goes on with a conversation that does not run here. call is its sound,
// nil where the events carry it.
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

// nextGrant makes the token with which a client may come back, if it may.
func (s *Server) nextGrant() grant {
	if s.o.Linger == 0 {
		return grant{}
	}
	return newGrant()
}

// promise has the program keep the token that a client which comes back is about to get,
// beside the one that it came with: a program that died between the two would leave it with
// a token that nobody knows. Where the program cannot, the client keeps the one that it has.
func (s *Server) promise(ctx context.Context, a *arrival) {
	switch {
	case a.back:
		if s.issue(ctx, a.c) != nil {
			a.next = a.used
			s.keep(a.c, a.used, digest{})
		}
	case a.returns(): // it has not begun here
		if s.issueOf(ctx, a.c, func() (now, before digest) { return a.next.digest, a.before }) != nil {
			a.next, a.before = a.used, digest{}
		}
	}
}

// issue has the program keep the tokens that are good for a conversation.
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
	c.issuing.Lock() // the last token is told last
	defer c.issuing.Unlock()
	now, before := tokens()
	return c.issued(context.WithoutCancel(ctx), now.bytes(), before.bytes()) // the client may have gone again
}

// arrived notes that the client of a conversation has the token that it got last: what it
// had before is no longer good.
func (s *Server) arrived(ctx context.Context, c *conn) {
	s.mu.Lock()
	was := c.before
	if c.before = (digest{}); was != (digest{}) && was != c.resume && s.resumes[was] == c {
		delete(s.resumes, was)
	}
	s.mu.Unlock()
	if was != (digest{}) {
		_ = s.issue(ctx, c) // what the program keeps is good all the same
	}
}

// bytes are nil of no token.
func (d digest) bytes() []byte {
	if d == (digest{}) {
		return nil
	}
	return d[:]
}

// keep makes a token, and the one before it if it is not empty, those that are good for a
// conversation that runs.
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

// forget drops the tokens of a conversation. The caller holds the lock.
func (s *Server) forget(c *conn) {
	for _, d := range []digest{c.resume, c.before} {
		if s.resumes[d] == c {
			delete(s.resumes, d)
		}
	}
}

// Conversations is how many run, those included that wait for their clients.
func (s *Server) Conversations() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}
