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

// clientTokenFor is how long a client token is good.
const clientTokenFor = time.Minute

// accessPrefix begins the tokens that are good for one conversation, clientPrefix those
// with which a browser may begin one.
const (
	accessPrefix = "at_"
	clientPrefix = "ct_"
)

// MaxClientTokens bounds the client tokens that wait to be used.
const MaxClientTokens = 10_000

// tokenTable holds the tokens of the conversations of this server. It is safe for concurrent use.
type tokenTable struct {
	mu     sync.Mutex
	access map[tokenDigest]string // conversations by tokens that are good for them alone
	resume map[tokenDigest]string // conversations by tokens with which one comes back to them
	held   map[string]*held       // what was given for a conversation
}

// tokenDigest is what is kept of a token; its zero value: there is none.
type tokenDigest [sha256.Size]byte

// pair is what a client is given.
type pair struct{ access, resume tokenDigest }

// held are the tokens of a conversation: those that its client was given last, and those
// that it had before. Until it shows that it has the answer, by using what that gave it,
// it may come again: an answer is lost as a line is.
type held struct {
	now, before pair
	keeping     sync.Mutex // orders what the store is told
}

func newTokens() *tokenTable {
	return &tokenTable{access: make(map[tokenDigest]string), resume: make(map[tokenDigest]string), held: make(map[string]*held)}
}

// newSecret makes a secret with a prefix that says what it is.
func newSecret(prefix string) string {
	var b [24]byte
	rand.Read(b[:]) // never fails
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// forConversation makes the tokens of a conversation: one that is good for it alone, and
// one with which it is resumed. Those with which its client has come back, by the resume
// token among them, stay good until it has used one of these; all others are no longer.
func (t *tokenTable) forConversation(id, used string) (access, resume string) {
	access, resume = newSecret(accessPrefix), newSecret("rt_")
	next := pair{sha256.Sum256([]byte(access)), sha256.Sum256([]byte(resume))}
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.held[id]
	if g == nil {
		g = &held{}
		t.held[id] = g
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

// add makes tokens good. It is called with mu held.
func (t *tokenTable) add(id string, p pair) {
	if p.access != (tokenDigest{}) {
		t.access[p.access] = id
	}
	if p.resume != (tokenDigest{}) {
		t.resume[p.resume] = id
	}
}

// drop forgets tokens. It is called with mu held.
func (t *tokenTable) drop(p pair) {
	delete(t.access, p.access)
	delete(t.resume, p.resume)
}

// resumes says to which conversation one comes back with a token.
func (t *tokenTable) resumes(token string) (id string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	id, ok = t.resume[sha256.Sum256([]byte(token))]
	return id, ok
}

// has reports whether tokens for a conversation were given here.
func (t *tokenTable) has(id string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.held[id] != nil
}

// revoke takes a resume token back.
func (t *tokenTable) revoke(id, token string) {
	digest := tokenDigest(sha256.Sum256([]byte(token)))
	t.mu.Lock()
	defer t.mu.Unlock()
	if g := t.held[id]; g != nil {
		delete(t.resume, digest)
		for _, p := range []*pair{&g.now, &g.before} {
			if p.resume == digest {
				p.resume = tokenDigest{}
			}
		}
	}
}

// keep tells a store of the tokens of a conversation, in the order in which they change.
func (t *tokenTable) keep(id string, tell func(port.Grant) error) error {
	t.mu.Lock()
	g := t.held[id]
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

// digests are those of a store.
func (p pair) digests() (d port.Tokens) {
	if p.access != (tokenDigest{}) {
		d.Access = p.access[:]
	}
	if p.resume != (tokenDigest{}) {
		d.Resume = p.resume[:]
	}
	return d
}

// forget drops the tokens of conversations that are no longer remembered.
func (t *tokenTable) forget(remembered func(id string) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, g := range t.held {
		if !remembered(id) {
			t.drop(g.now)
			t.drop(g.before)
			delete(t.held, id)
		}
	}
}

// use says which conversation an access token is good for. arrived says that it is the
// first use of what its client was given last: what it had before is no longer good.
func (t *tokenTable) use(secret string) (p who, arrived, ok bool) {
	digest := tokenDigest(sha256.Sum256([]byte(secret)))
	t.mu.Lock()
	defer t.mu.Unlock()
	id, ok := t.access[digest]
	if !ok {
		return who{}, false, false
	}
	if g := t.held[id]; g.now.access == digest && g.before != (pair{}) {
		t.drop(g.before)
		g.before, arrived = pair{}, true
	}
	return who{only: id}, arrived, true
}

// clientToken is what a client token is good for: to begin a conversation, in the name of
// who has made it.
type clientToken struct {
	Owner  string `json:"owner,omitempty"`
	Caller string `json:"caller,omitempty"`
	All    bool   `json:"all,omitempty"`
}

// forClient makes a client token.
func (s *Server) forClient(ctx context.Context, p who, caller string) (token string, err error) {
	b, err := json.Marshal(clientToken{p.owner, caller, p.all})
	if err != nil {
		return "", err
	}
	token = newSecret(clientPrefix)
	err = s.o.ClientTokens.Keep(ctx, token, b, clientTokenFor)
	if errors.Is(err, port.ErrTickets) {
		return "", fail(http.StatusTooManyRequests, "too_many_tokens", "too many client tokens wait to be used")
	}
	return token, err
}

// client says who comes with a client token. It is used up when they begin: see spend.
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

// spend uses the client token up of one who has it. Nobody else may have, meanwhile.
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
