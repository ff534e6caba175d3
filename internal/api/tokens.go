package api

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"sync"
	"time"
)

// clientTokenFor is how long a client token is good.
const clientTokenFor = time.Minute

// accessPrefix begins the tokens that are good for one conversation.
const accessPrefix = "at_"

// maxTokens bounds the client tokens that wait to be used.
const maxTokens = 10_000

// tokens are the short-lived secrets that this server hands out. It is safe for
// concurrent use.
type tokens struct {
	mu     sync.Mutex
	client map[[sha256.Size]byte]clientToken // one use: a browser may begin a conversation
	access map[[sha256.Size]byte]string      // conversations by tokens that are good for them alone
	resume map[[sha256.Size]byte]string      // conversations by tokens that are good for one resumption
	held   map[string]grant                  // what was given for a conversation
	spent  map[string]spent                  // resume tokens by the conversations that they brought back
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

type clientToken struct {
	owner   string
	caller  string
	all     bool
	expires time.Time
}

func newTokens() *tokens {
	return &tokens{
		client: make(map[[sha256.Size]byte]clientToken),
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

// forClient makes a client token for one who may begin conversations.
func (t *tokens) forClient(p who, caller string, now time.Time) (token string, expires time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for digest, c := range t.client {
		if now.After(c.expires) {
			delete(t.client, digest)
		}
	}
	if len(t.client) >= maxTokens {
		return "", time.Time{}, fail(http.StatusTooManyRequests, "too_many_tokens", "%d client tokens wait to be used", maxTokens)
	}
	token, expires = newSecret("ct_"), now.Add(clientTokenFor)
	t.client[sha256.Sum256([]byte(token))] = clientToken{p.owner, caller, p.all, expires}
	return token, expires, nil
}

// forConversation makes the tokens of a conversation: one that is good for it
// alone, and one with which it is resumed. Those that were given before are no
// longer good.
func (t *tokens) forConversation(id string) (access, resume string) {
	access, resume = newSecret(accessPrefix), newSecret("rt_")
	g := grant{sha256.Sum256([]byte(access)), sha256.Sum256([]byte(resume))}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop(id)
	t.access[g.access], t.resume[g.resume], t.held[id] = id, id, g
	return access, resume
}

// drop forgets the tokens of a conversation. It is called with mu held.
func (t *tokens) drop(id string) {
	delete(t.access, t.held[id].access)
	delete(t.resume, t.held[id].resume)
	delete(t.held, id)
}

// take uses a resume token up. keep makes it good again, for a resumption that
// failed.
func (t *tokens) take(token string) (id string, keep func(), ok bool) {
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
func (t *tokens) spend(id string, digest [sha256.Size]byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.spent[id] = spent{digest, time.Now().Add(spentFor)}
}

// forget drops the tokens of conversations that are no longer remembered.
func (t *tokens) forget(remembered func(id string) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id := range t.held {
		if !remembered(id) {
			t.drop(id)
			delete(t.spent, id)
		}
	}
}

// use says what a token is good for. A client token is used up by it.
func (t *tokens) use(secret string, r *http.Request) (who, bool) {
	digest := sha256.Sum256([]byte(secret))
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case strings.HasPrefix(secret, accessPrefix):
		id, ok := t.access[digest]
		if ok {
			delete(t.spent, id) // the answer has arrived
		}
		return who{only: id}, ok
	case strings.HasPrefix(secret, "ct_"):
		c, ok := t.client[digest]
		if !ok || time.Now().After(c.expires) || r.Method != http.MethodPost || r.URL.Path != "/v1/conversations" {
			return who{}, false
		}
		delete(t.client, digest)
		return who{owner: c.owner, caller: c.caller, all: c.all, start: true}, true
	default:
		return who{}, false
	}
}
