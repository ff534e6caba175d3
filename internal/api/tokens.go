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

// maxTokens bounds the client tokens that wait to be used.
const maxTokens = 10_000

// tokens are the short-lived secrets that this server hands out. It is safe for
// concurrent use.
type tokens struct {
	mu     sync.Mutex
	client map[[sha256.Size]byte]clientToken // one use: a browser may begin a conversation
	access map[[sha256.Size]byte]string      // by conversation: good for it alone
	ids    map[string][sha256.Size]byte      // of access tokens by conversation
}

type clientToken struct {
	owner   string
	all     bool
	expires time.Time
}

func newTokens() *tokens {
	return &tokens{
		client: make(map[[sha256.Size]byte]clientToken),
		access: make(map[[sha256.Size]byte]string), ids: make(map[string][sha256.Size]byte),
	}
}

// newSecret makes a secret with a prefix that says what it is.
func newSecret(prefix string) string {
	var b [24]byte
	rand.Read(b[:]) // never fails
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// forClient makes a client token for one who may begin conversations.
func (t *tokens) forClient(p who, now time.Time) (token string, expires time.Time, err error) {
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
	t.client[sha256.Sum256([]byte(token))] = clientToken{p.owner, p.all, expires}
	return token, expires, nil
}

// forConversation makes the token that is good for one conversation.
func (t *tokens) forConversation(id string) string {
	token := newSecret("at_")
	digest := sha256.Sum256([]byte(token))
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.access, t.ids[id])
	t.access[digest], t.ids[id] = id, digest
	return token
}

// forget drops the token of a conversation that is no longer remembered.
func (t *tokens) forget(remembered func(id string) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, digest := range t.ids {
		if !remembered(id) {
			delete(t.access, digest)
			delete(t.ids, id)
		}
	}
}

// use says what a token is good for. A client token is used up by it.
func (t *tokens) use(secret string, r *http.Request) (who, bool) {
	digest := sha256.Sum256([]byte(secret))
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case strings.HasPrefix(secret, "at_"):
		id, ok := t.access[digest]
		return who{only: id}, ok
	case strings.HasPrefix(secret, "ct_"):
		c, ok := t.client[digest]
		if !ok || time.Now().After(c.expires) || r.Method != http.MethodPost || r.URL.Path != "/v1/conversations" {
			return who{}, false
		}
		delete(t.client, digest)
		return who{owner: c.owner, all: c.all, start: true}, true
	default:
		return who{}, false
	}
}
