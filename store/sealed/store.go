package sealed

import (
	"context"
	"errors"
	"fmt"

	"github.com/hocketvoice/hocket/internal/seal"
	"github.com/hocketvoice/hocket/port"
)

// Store encrypts what it writes to the wrapped stores. It is safe for concurrent use.
type Store struct {
	store    port.Store
	journal  *pieces       // nil: there is none
	sound    *pieces       // nil: there is none
	tickets  port.Tickets  // nil: there are none
	versions port.Versions // nil: there are none
	box      *seal.Box
}

var (
	_ port.Store      = (*Store)(nil)
	_ port.Journal    = (*Store)(nil)
	_ port.Recordings = (*Store)(nil)
	_ port.Tickets    = (*Store)(nil)
	_ port.Versions   = (*Store)(nil)
)

// New wraps a store.
func New(o Options) (*Store, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	box, err := seal.New(o.Keys)
	if err != nil {
		return nil, fmt.Errorf("sealed store: %w", err)
	}
	s := &Store{store: o.Store, tickets: o.Tickets, versions: o.Versions, box: box}
	if o.Journal != nil {
		s.journal = &pieces{o.Journal, box, "journal"}
	}
	if o.Recordings != nil {
		s.sound = &pieces{o.Recordings.Recordings(), box, "recording"}
	}
	return s, nil
}

// Save encrypts a snapshot with the first key and saves it.
func (s *Store) Save(ctx context.Context, h port.Hold, snapshot []byte) error {
	sealed, err := s.box.Seal(h.ID, snapshot)
	if err != nil {
		return fmt.Errorf("seal %q: %w", h.ID, err)
	}
	return s.store.Save(ctx, h, sealed)
}

// Load loads a snapshot and decrypts it. It returns an error if the snapshot is not
// encrypted or if no key opens it.
func (s *Store) Load(ctx context.Context, id string) (snapshot []byte, ok bool, err error) {
	sealed, ok, err := s.store.Load(ctx, id)
	if err != nil || !ok {
		return nil, ok, err
	}
	if snapshot, err = s.box.Open(id, sealed); err != nil {
		return nil, false, fmt.Errorf("%w of %q: %w", ErrOpen, id, err)
	}
	return snapshot, true, nil
}

// ErrOpen reports that stored data cannot be decrypted with the keys.
var ErrOpen = errors.New("open the snapshot")

// Sealed reports whether b was written by a Store of this package.
func Sealed(b []byte) bool { return seal.Sealed(b) }

// Delete deletes a conversation.
func (s *Store) Delete(ctx context.Context, id string) error { return s.store.Delete(ctx, id) }
