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
	access map[[sha256.Size]byte]string // conversations by tokens that are good for them alone
	resume map[[sha256.Size]byte]string // conversations by tokens that are good for one resumption
	held   map[string]grant             // what was given for a conversation
	spent  map[string]spent             // resume tokens by the conversations that they brought back
}

// spent is a resume token that was used. Until its client shows that it has the answer,
// by using what that gave it, it may come again: an answer is lost as a line is.
type spent struct {
	digest [sha256.Size]byte
	until  time.Time
}

// spentFor bounds how long a used token may come again.
const spentFor = 30 * time.Second

// grant are the digests of the tokens of a conversation.
type grant struct{ access, resume [sha256.Size]byte }

func newTokens() *tokenTable {
	return &tokenTable{
		access: make(map[[sha256.Size]byte]string), resume: make(map[[sha256.Size]byte]string),
		held: make(map[string]grant), spent: make(map[string]spent),
	}
}

// newSecret makes a secret with a prefix that says what it is.
func newSecret(prefix string) string {
	var b [24]byte
	rand.Read(b[:]) // never fails
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// forConversation makes the tokens of a conversation: one that is good for it
// alone, and one with which it is resumed. Those that were given before are no
// longer good.
func (t *tokenTable) forConversation(id string) (access, resume string) {
	access, resume = newSecret(accessPrefix), newSecret("rt_")
	g := grant{sha256.Sum256([]byte(access)), sha256.Sum256([]byte(resume))}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(id)
	t.access[g.access], t.resume[g.resume], t.held[id] = id, id, g
	return access, resume
}

// drop forgets the tokens of a conversation. It is called with mu held.
func (t *tokenTable) drop(id string) {
	delete(t.access, t.held[id].access)
	delete(t.resume, t.held[id].resume)
	delete(t.held, id)
}

// take uses a resume token up. keep makes it good again, for a resumption that
// failed.
func (t *tokenTable) take(token string) (id string, keep func(), ok bool) {
	digest := sha256.Sum256([]byte(token))
	t.mu.Lock()
	defer t.mu.Unlock()
	id, ok = t.resume[digest]
	if !ok {
		for known, s := range t.spent {
			if s.digest == digest && time.Now().Before(s.until) {
				return known, func() {}, true
			}
		}
	}
	delete(t.resume, digest)
	return id, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.held[id].resume == digest {
			t.resume[digest] = id
		}
	}, ok
}

// spend notes that a token has brought a conversation back.
func (t *tokenTable) spend(id string, digest [sha256.Size]byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.spent[id] = spent{digest, time.Now().Add(spentFor)}
}

// forget drops the tokens of conversations that are no longer remembered.
func (t *tokenTable) forget(remembered func(id string) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id := range t.held {
		if !remembered(id) {
			t.drop(id)
			delete(t.spent, id)
		}
	}
}

// use says which conversation an access token is good for.
func (t *tokenTable) use(secret string) (who, bool) {
	digest := sha256.Sum256([]byte(secret))
	t.mu.Lock()
	defer t.mu.Unlock()
	id, ok := t.access[digest]
	if ok {
		delete(t.spent, id) // the answer has arrived
	}
	return who{only: id}, ok
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
