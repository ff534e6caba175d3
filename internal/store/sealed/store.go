package sealed

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/hocketvoice/hocket/port"
)

// magic begins every sealed snapshot; the last letter is its version.
var magic = []byte("hksl1") //nolint:gochecknoglobals // a constant that Go has no word for

// idSize is how much of a key's hash names it.
const idSize = 8

// Store seals what it saves. It is safe for concurrent use.
type Store struct {
	store port.Store
	keys  []key
}

type key struct {
	id   []byte // a part of its hash
	aead cipher.AEAD
}

var _ port.Store = (*Store)(nil)

// New wraps a store.
func New(o Options) (*Store, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	s := &Store{store: o.Store}
	for _, k := range o.Keys {
		block, err := aes.NewCipher(k)
		if err != nil {
			return nil, fmt.Errorf("sealed store: %w", err)
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return nil, fmt.Errorf("sealed store: %w", err)
		}
		sum := sha256.Sum256(append([]byte("hocket store key"), k...))
		s.keys = append(s.keys, key{sum[:idSize], aead})
	}
	return s, nil
}

// Save seals a snapshot with the first key and saves it.
func (s *Store) Save(ctx context.Context, id string, snapshot []byte) error {
	k := s.keys[0]
	sealed := make([]byte, 0, len(magic)+idSize+k.aead.NonceSize()+len(snapshot)+k.aead.Overhead())
	sealed = append(append(sealed, magic...), k.id...)
	nonce := make([]byte, k.aead.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return fmt.Errorf("seal %q: %w", id, err)
	}
	sealed = append(sealed, nonce...)
	return s.store.Save(ctx, id, k.aead.Seal(sealed, nonce, snapshot, []byte(id)))
}

// Load loads a snapshot and opens it. One that none of the keys opens is an error,
// and so is one that was never sealed.
func (s *Store) Load(ctx context.Context, id string) (snapshot []byte, ok bool, err error) {
	sealed, ok, err := s.store.Load(ctx, id)
	if err != nil || !ok {
		return nil, ok, err
	}
	if snapshot, err = s.open(id, sealed); err != nil {
		return nil, false, fmt.Errorf("open the snapshot of %q: %w", id, err)
	}
	return snapshot, true, nil
}

func (s *Store) open(id string, sealed []byte) ([]byte, error) {
	rest, ok := bytes.CutPrefix(sealed, magic)
	if !ok || len(rest) < idSize {
		return nil, errors.New("it is not encrypted: expected one that is")
	}
	for _, k := range s.keys {
		body, ok := bytes.CutPrefix(rest, k.id)
		if !ok {
			continue
		}
		if len(body) < k.aead.NonceSize() {
			return nil, errors.New("it is cut")
		}
		nonce, body := body[:k.aead.NonceSize()], body[k.aead.NonceSize():]
		snapshot, err := k.aead.Open([]byte{}, nonce, body, []byte(id))
		if err != nil {
			return nil, errors.New("it was changed, or belongs to another conversation")
		}
		return snapshot, nil
	}
	return nil, fmt.Errorf("it was sealed with the key %s, which is not among the keys", hex.EncodeToString(rest[:idSize]))
}

// Sealed reports whether a snapshot was saved by such a store.
func Sealed(snapshot []byte) bool { return bytes.HasPrefix(snapshot, magic) }

// Delete removes a snapshot.
func (s *Store) Delete(ctx context.Context, id string) error { return s.store.Delete(ctx, id) }
