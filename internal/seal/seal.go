package seal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
)

// KeySize is the length of a key, in bytes.
const KeySize = 32

// magic begins everything that is sealed; the last letter is its version.
const magic = "hksl1"

// idSize is how much of a key's hash names it.
const idSize = 8

// Box seals and opens. It is safe for concurrent use.
type Box struct{ keys []key }

type key struct {
	id     []byte // a part of its hash
	aead   cipher.AEAD
	digest []byte // the key of digests
}

// New makes a box of keys of [KeySize] bytes, at least one: the first seals, all
// open. No key is in its error.
func New(keys [][]byte) (*Box, error) {
	if len(keys) == 0 {
		return nil, errors.New("there is no key, expected at least one")
	}
	b := &Box{}
	for i, k := range keys {
		if len(k) != KeySize {
			return nil, fmt.Errorf("key %d has %d bytes, expected %d", i+1, len(k), KeySize)
		}
		block, err := aes.NewCipher(k)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(append([]byte("hocket store key"), k...))
		b.keys = append(b.keys, key{sum[:idSize], aead, mac(k, "hocket digest key")})
	}
	return b, nil
}

// Seal encrypts plain with the first key, for a name that opens it.
func (b *Box) Seal(name string, plain []byte) ([]byte, error) {
	k := b.keys[0]
	sealed := make([]byte, 0, len(magic)+idSize+k.aead.NonceSize()+len(plain)+k.aead.Overhead())
	sealed = append(append(sealed, magic...), k.id...)
	nonce := make([]byte, k.aead.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	sealed = append(sealed, nonce...)
	return k.aead.Seal(sealed, nonce, plain, []byte(name)), nil
}

// Open decrypts what was sealed for a name. What none of the keys opens is an
// error, and so is what was never sealed.
func (b *Box) Open(name string, sealed []byte) ([]byte, error) {
	rest, ok := bytes.CutPrefix(sealed, []byte(magic))
	if !ok || len(rest) < idSize {
		return nil, errors.New("it is not encrypted: expected one that is")
	}
	for _, k := range b.keys {
		body, ok := bytes.CutPrefix(rest, k.id)
		if !ok {
			continue
		}
		if len(body) < k.aead.NonceSize() {
			return nil, errors.New("it is cut")
		}
		nonce, body := body[:k.aead.NonceSize()], body[k.aead.NonceSize():]
		plain, err := k.aead.Open([]byte{}, nonce, body, []byte(name))
		if err != nil {
			return nil, errors.New("it was changed, or belongs to another name")
		}
		return plain, nil
	}
	return nil, fmt.Errorf("it was sealed with the key %s, which is not among the keys", hex.EncodeToString(rest[:idSize]))
}

// Sealed reports whether a box has sealed this.
func Sealed(b []byte) bool { return bytes.HasPrefix(b, []byte(magic)) }

// Digests stand for a text where it is looked for but must not be readable: the
// first is to be kept, and all are to be looked for, one for each key.
func (b *Box) Digests(text string) [][]byte {
	var all [][]byte
	for _, k := range b.keys {
		all = append(all, mac(k.digest, text))
	}
	return all
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// ParseKey reads a key as the environment has it: [KeySize] bytes in base64.
func ParseKey(text string) ([]byte, error) {
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		if key, err := encoding.DecodeString(text); err == nil && len(key) == KeySize {
			return key, nil
		}
	}
	return nil, fmt.Errorf("expected %d bytes in base64, as `openssl rand -base64 %d` makes them", KeySize, KeySize)
}
