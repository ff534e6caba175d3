package api

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Keys are the accepted API keys. They may be replaced at any time. It is safe for
// concurrent use. A nil Keys has no keys.
type Keys struct {
	mu   sync.RWMutex
	keys []apiKey
}

// apiKey contains a digest, so that the key does not stay in memory.
type apiKey struct {
	digest [sha256.Size]byte
	owner  string
}

// shortestKey is the minimum length of a key in bytes.
const shortestKey = 16

// ParseKeys parses keys, separated by line ends or commas. Each is a key, or a
// name, a space and a key ("phone 9f8e..."). Lines that begin with # are comments.
// A key without a name is named after its digest. Keys with the same name have
// access to the same conversations; a key is replaced by adding another with its
// name.
func ParseKeys(text string) (*Keys, error) {
	k := &Keys{}
	text = strings.TrimPrefix(text, "\ufeff") // written by some editors on Windows
	for i, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == ',' }) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) > 2 {
			return nil, fmt.Errorf("key %d has %d words: expected KEY, or NAME KEY", i+1, len(fields))
		}
		secret := fields[len(fields)-1]
		if len(secret) < shortestKey {
			return nil, fmt.Errorf("key %d has %d characters: expected at least %d", i+1, len(secret), shortestKey)
		}
		key := apiKey{digest: sha256.Sum256([]byte(secret))}
		key.owner = "key:" + hex.EncodeToString(key.digest[:4])
		if len(fields) == 2 {
			key.owner = fields[0]
		}
		k.keys = append(k.keys, key)
	}
	if len(k.keys) == 0 {
		return nil, errors.New("no keys found: expected one per line")
	}
	return k, nil
}

// Replace replaces the keys by those of others.
func (k *Keys) Replace(others *Keys) {
	others.mu.RLock()
	keys := others.keys
	others.mu.RUnlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys = keys
}

// None reports whether there are no keys.
func (k *Keys) None() bool {
	if k == nil {
		return true
	}
	k.mu.RLock()
	defer k.mu.RUnlock()
	return len(k.keys) == 0
}

// Vouches reports whether tokens issued to an owner are still valid: there is a key
// of that name, or there are no keys at all.
func (k *Keys) Vouches(owner string) bool {
	if k.None() {
		return true
	}
	k.mu.RLock()
	defer k.mu.RUnlock()
	return slices.ContainsFunc(k.keys, func(key apiKey) bool { return key.owner == owner })
}

// Owner returns the owner of a key. Its running time does not depend on how much of
// a key is correct.
func (k *Keys) Owner(secret string) (owner string, ok bool) {
	digest := sha256.Sum256([]byte(secret))
	k.mu.RLock()
	defer k.mu.RUnlock()
	for i := range k.keys {
		if subtle.ConstantTimeCompare(digest[:], k.keys[i].digest[:]) == 1 {
			owner, ok = k.keys[i].owner, true
		}
	}
	return owner, ok
}
