package sealed

import (
	"errors"
	"fmt"

	"github.com/hocketvoice/hocket/internal/seal"
	"github.com/hocketvoice/hocket/port"
)

// KeySize is the length of a key, in bytes.
const KeySize = seal.KeySize

// Options configures a [Store]. Store and Keys must be set.
type Options struct {
	Store port.Store
	// Journal, if set, is wrapped too.
	Journal port.Journal
	// Recordings, if set, are wrapped too.
	Recordings port.Recordings
	// Tickets, if set, are wrapped too.
	Tickets port.Tickets
	// Versions, if set, are wrapped too.
	Versions port.Versions
	// Keys are the keys, each of [KeySize] bytes. The first encrypts; all can decrypt.
	Keys [][]byte
}

// Validate returns an error if a setting is missing or invalid. The error contains no key.
func (o Options) Validate() error {
	if o.Store == nil {
		return errors.New("sealed store: Store must be set")
	}
	if _, err := seal.New(o.Keys); err != nil {
		return fmt.Errorf("sealed store: %w", err)
	}
	return nil
}

// ParseKey parses a key: [KeySize] bytes in base64.
func ParseKey(text string) ([]byte, error) { return seal.ParseKey(text) }
