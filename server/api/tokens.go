package api

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/port"
)

// clientTokenFor is how long a client token is valid.
const clientTokenFor = time.Minute

// accessPrefix is the prefix of tokens for one conversation, clientPrefix that of
// tokens with which a browser may begin one.
const (
	accessPrefix = "at_"
	clientPrefix = "ct_"
)

// MaxClientTokens bounds the number of unused client tokens.
const MaxClientTokens = 10_000

// tokenTable contains the tokens of the conversations of this server. It is safe
// for concurrent use.
type tokenTable struct {
	mu     sync.Mutex
	access map[tokenDigest]string // conversations by access token
	resume map[tokenDigest]string // conversations by resume token
	issued map[string]*issued     // tokens by conversation
}

// tokenDigest is the digest of a token. The zero value means that there is no
// token.
type tokenDigest [sha256.Size]byte

// pair contains the tokens of one response.
type pair struct{ access, resume tokenDigest }

// issued contains the tokens of a conversation: the latest ones, and those before. Since
// a response may be lost, the client may return with the earlier tokens until it has
// used one of the new ones.
type issued struct {
	now, before pair
	keeping     sync.Mutex // serializes updates of the store
}

func newTokens() *tokenTable {
	return &tokenTable{access: make(map[tokenDigest]string), resume: make(map[tokenDigest]string), issued: make(map[string]*issued)}
}

// newSecret returns a new secret with a prefix that identifies its kind.
func newSecret(prefix string) string {
	var b [24]byte
	rand.Read(b[:]) // never fails
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// forConversation creates the access and resume token of a conversation. The tokens
// with which the client has returned, including the resume token used, stay valid
// until the client uses one of the new ones; all others become invalid.
func (t *tokenTable) forConversation(id, used string) (access, resume string) {
	access, resume = newSecret(accessPrefix), newSecret("rt_")
	next := pair{sha256.Sum256([]byte(access)), sha256.Sum256([]byte(resume))}
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.issued[id]
	if g == nil {
		g = &issued{}
		t.issued[id] = g
	}
	before := pair{}
	if used != "" {
		switch before.resume = sha256.Sum256([]byte(used)); before.resume {
		case g.now.resume:
			before = g.now
		case g.before.resume:
			before = g.before
		}
	}
	t.drop(g.now)
	t.drop(g.before)
	g.now, g.before = next, before
	t.add(id, before)
	t.add(id, next)
	return access, resume
}

// stay replaces the latest resume token, which was not sent to the client, by the one
// with which the client has returned.
func (t *tokenTable) stay(id, used string) {
	digest := tokenDigest(sha256.Sum256([]byte(used)))
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.issued[id]
	if g == nil || g.before.resume != digest {
		return // it was revoked meanwhile
	}
	delete(t.resume, g.now.resume)
	g.now.resume, g.before.resume = digest, tokenDigest{}
}

// forgetOne drops the tokens of a conversation.
func (t *tokenTable) forgetOne(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remove(id)
}

// remove requires mu.
func (t *tokenTable) remove(id string) {
	if g := t.issued[id]; g != nil {
		t.drop(g.now)
		t.drop(g.before)
		delete(t.issued, id)
	}
}

// add makes tokens valid. It requires mu.
func (t *tokenTable) add(id string, p pair) {
	if p.access != (tokenDigest{}) {
		t.access[p.access] = id
	}
	if p.resume != (tokenDigest{}) {
		t.resume[p.resume] = id
	}
}

// drop makes tokens invalid. It requires mu.
func (t *tokenTable) drop(p pair) {
	delete(t.access, p.access)
	delete(t.resume, p.resume)
}

// resumes returns the conversation of a resume token.
func (t *tokenTable) resumes(token string) (id string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	id, ok = t.resume[sha256.Sum256([]byte(token))]
	return id, ok
}

// has reports whether this process has issued tokens for a conversation.
func (t *tokenTable) has(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.issued[id] != nil
}

// revoke invalidates a resume token.
func (t *tokenTable) revoke(id, token string) {
	digest := tokenDigest(sha256.Sum256([]byte(token)))
	t.mu.Lock()
	defer t.mu.Unlock()
	if g := t.issued[id]; g != nil {
		delete(t.resume, digest)
		for _, p := range []*pair{&g.now, &g.before} {
			if p.resume == digest {
				p.resume = tokenDigest{}
			}
		}
	}
}

// keep reports the tokens of a conversation to a store, in the order of their
// changes.
func (t *tokenTable) keep(id string, tell func(port.Grant) error) error {
	t.mu.Lock()
	g := t.issued[id]
	t.mu.Unlock()
	if g == nil {
		return nil
	}
	g.keeping.Lock()
	defer g.keeping.Unlock()
	t.mu.Lock()
	now := port.Grant{Now: g.now.digests(), Before: g.before.digests()}
	t.mu.Unlock()
	return tell(now)
}

// digests converts a pair to the form of a store.
func (p pair) digests() (d port.Tokens) {
	if p.access != (tokenDigest{}) {
		d.Access = p.access[:]
	}
	if p.resume != (tokenDigest{}) {
		d.Resume = p.resume[:]
	}
	return d
}

// forget drops the tokens of conversations that are no longer known.
func (t *tokenTable) forget(remembered func(id string) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id := range t.issued {
		if !remembered(id) {
			t.remove(id)
		}
	}
}

// use returns the conversation of an access token. arrived reports the first use of
// the latest tokens, which invalidates the earlier ones.
func (t *tokenTable) use(secret string) (p who, arrived, ok bool) {
	digest := tokenDigest(sha256.Sum256([]byte(secret)))
	t.mu.Lock()
	defer t.mu.Unlock()
	id, ok := t.access[digest]
	if !ok {
		return who{}, false, false
	}
	if g := t.issued[id]; g.now.access == digest && g.before != (pair{}) {
		t.drop(g.before)
		g.before, arrived = pair{}, true
	}
	return who{only: id}, arrived, true
}

// clientToken is the value of a client token: the right to begin a conversation in
// the name of its creator.
type clientToken struct {
	Owner  string `json:"owner,omitempty"`
	Caller string `json:"caller,omitempty"`
	All    bool   `json:"all,omitempty"`
}

// forClient creates a client token.
func (s *Server) forClient(ctx context.Context, p who, caller string) (token string, err error) {
	b, err := json.Marshal(clientToken{p.owner, caller, p.all})
	if err != nil {
		return "", err
	}
	token = newSecret(clientPrefix)
	err = s.o.ClientTokens.Keep(ctx, token, b, clientTokenFor)
	if errors.Is(err, port.ErrTickets) {
		return "", fail(http.StatusTooManyRequests, "too_many_tokens", "too many unused client tokens")
	}
	return token, err
}

// NewClientToken returns a token with which a browser may begin one conversation within a minute,
// as POST /v1/client_tokens does for the key of an owner.
func (s *Server) NewClientToken(ctx context.Context, owner, caller string) (string, error) {
	return s.forClient(ctx, who{owner: owner}, caller)
}

// client returns the sender of a request with a client token. The token is spent
// when the conversation begins.
func (s *Server) client(r *http.Request, secret string) (p who, ok bool, err error) {
	if !strings.HasPrefix(secret, clientPrefix) || r.Method != http.MethodPost || r.URL.Path != "/v1/conversations" {
		return who{}, false, nil
	}
	b, ok, err := s.o.ClientTokens.Find(r.Context(), secret)
	if err != nil {
		return who{}, false, errStore
	}
	if !ok {
		return who{}, false, nil
	}
	var c clientToken
	if err := json.Unmarshal(b, &c); err != nil {
		return who{}, false, fmt.Errorf("a client token: %w", err)
	}
	if !s.o.Keys.Vouches(c.Owner) {
		return who{}, false, nil
	}
	return who{owner: c.Owner, caller: c.Caller, all: c.All, start: true, ticket: secret}, true, nil
}

// spend invalidates the client token of a request. It fails if another request has
// spent it.
func (s *Server) spend(ctx context.Context, p who) error {
	if p.ticket == "" {
		return nil
	}
	switch _, ok, err := s.o.ClientTokens.Spend(ctx, p.ticket); {
	case err != nil:
		return errStore
	case !ok:
		return errBadKey
	}
	return nil
}
