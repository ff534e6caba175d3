package sealed

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/hocketvoice/hocket/port"
)

// KeySize is the length of a key, in bytes.
const KeySize = 32

// Options configure a [Store].
type Options struct {
	Store port.Store
	// Keys are the keys, of [KeySize] bytes: the first seals, all open.
	Keys [][]byte
}

// Validate reports the first setting that makes no sense. No key is in its error.
func (o Options) Validate() error {
	if o.Store == nil {
		return errors.New("sealed store: Store is nil, expected one")
	}
	if len(o.Keys) == 0 {
		return errors.New("sealed store: there is no key, expected at least one")
	}
	for i, k := range o.Keys {
		if len(k) != KeySize {
			return fmt.Errorf("sealed store: key %d has %d bytes, expected %d", i+1, len(k), KeySize)
		}
	}
	return nil
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
