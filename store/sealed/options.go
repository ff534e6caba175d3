package sealed

import (
	"errors"
	"fmt"

	"github.com/hocketvoice/hocket/internal/seal"
	"github.com/hocketvoice/hocket/port"
)

// KeySize is the length of a key, in bytes.
const KeySize = seal.KeySize

// Options configure a [Store].
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
	// Keys are the keys, of [KeySize] bytes: the first seals, all open.
	Keys [][]byte
}

// Validate reports the first setting that makes no sense. No key is in its error.
func (o Options) Validate() error {
	if o.Store == nil {
		return errors.New("sealed store: Store is nil, expected one")
	}
	if _, err := seal.New(o.Keys); err != nil {
		return fmt.Errorf("sealed store: %w", err)
	}
	return nil
}

// ParseKey reads a key as the environment has it: [KeySize] bytes in base64.
func ParseKey(text string) ([]byte, error) { return seal.ParseKey(text) }
