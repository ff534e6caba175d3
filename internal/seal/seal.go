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

// KeySize is the length of a key in bytes.
const KeySize = 32

// magic is the prefix of everything that is sealed. Its last character is the
// version.
const magic = "hksl1"

// idSize is the number of bytes of a key's hash that identify it.
const idSize = 8

// Box encrypts and decrypts. It is safe for concurrent use.
type Box struct{ keys []key }

type key struct {
	id     []byte // a part of its hash
	aead   cipher.AEAD
	digest []byte // the key for digests
}

// New returns a box with keys of [KeySize] bytes, at least one. The first encrypts,
// all decrypt. Errors do not contain keys.
func New(keys [][]byte) (*Box, error) {
	if len(keys) == 0 {
		return nil, errors.New("at least one key is required")
	}
	b := &Box{}
	for i, k := range keys {
		if len(k) != KeySize {
			return nil, fmt.Errorf("key %d has %d bytes: expected %d", i+1, len(k), KeySize)
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

// Seal encrypts plain with the first key. The same name is needed to open it.
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

// Open decrypts bytes that were sealed for a name. It returns an error if they were
// not sealed or none of the keys can decrypt them.
func (b *Box) Open(name string, sealed []byte) ([]byte, error) {
	rest, ok := bytes.CutPrefix(sealed, []byte(magic))
	if !ok || len(rest) < idSize {
		return nil, errors.New("not encrypted")
	}
	for _, k := range b.keys {
		body, ok := bytes.CutPrefix(rest, k.id)
		if !ok {
			continue
		}
		if len(body) < k.aead.NonceSize() {
			return nil, errors.New("truncated")
		}
		nonce, body := body[:k.aead.NonceSize()], body[k.aead.NonceSize():]
		plain, err := k.aead.Open([]byte{}, nonce, body, []byte(name))
		if err != nil {
			return nil, errors.New("it was modified, or belongs to another name")
		}
		return plain, nil
	}
	return nil, fmt.Errorf("it was sealed with the key %s, which is not among the keys", hex.EncodeToString(rest[:idSize]))
}

// Sealed reports whether b has the form of sealed bytes.
func Sealed(b []byte) bool { return bytes.HasPrefix(b, []byte(magic)) }

// Digests returns digests of a text, for looking it up without storing it in
// readable form, one for each key. Store the first; look for all.
func (b *Box) Digests(text string) [][]byte {
	var all [][]byte
	for _, k := range b.keys {
		all = append(all, mac(k.digest, text))
	}
	return all
}

// Marks returns digests as [Box.Digests] does, each behind the name of its key, and these
// names: a mark that begins with none of them was made with a key that the box does not have.
func (b *Box) Marks(text string) (marks, names [][]byte) {
	for _, k := range b.keys {
		marks, names = append(marks, append(bytes.Clone(k.id), mac(k.digest, text)...)), append(names, k.id)
	}
	return marks, names
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// ParseKey parses a key in an environment variable: [KeySize] bytes in base64.
func ParseKey(text string) ([]byte, error) {
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
		if key, err := encoding.DecodeString(text); err == nil && len(key) == KeySize {
			return key, nil
		}
	}
	return nil, fmt.Errorf("expected %d bytes in base64, for example from openssl rand -base64 %d", KeySize, KeySize)
}
