package sealed

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/hocketvoice/hocket/internal/seal"
	"github.com/hocketvoice/hocket/port"
)

// pieces encrypts the pieces of a journal or of recordings. All calls of a nil pieces fail.
type pieces struct {
	in   port.Journal
	box  *seal.Box
	kind string // part of the name of each piece
}

// place returns the name for which a piece is encrypted: its kind, its number and the
// conversation. No id of a conversation begins like it.
func (p *pieces) place(id string, number int) string {
	b := append([]byte{0}, p.kind...)
	return string(append(binary.BigEndian.AppendUint64(b, uint64(number)), id...))
}

var errNoJournal = errors.New("sealed store: there is no journal")

// Append encrypts a piece with the first key and appends it.
func (s *Store) Append(ctx context.Context, h port.Hold, number int, records []byte) error {
	return s.journal.Append(ctx, h, number, records)
}

// Read decrypts the pieces. It returns an error at the first piece that is not encrypted
// or that no key opens.
func (s *Store) Read(ctx context.Context, id string, each func(number int, records []byte) error) error {
	return s.journal.Read(ctx, id, each)
}

// Recordings returns the encrypted recordings.
func (s *Store) Recordings() port.Journal { return s.sound }

// Append encrypts a piece with the first key and appends it.
func (p *pieces) Append(ctx context.Context, h port.Hold, number int, records []byte) error {
	if p == nil {
		return errNoJournal
	}
	b, err := p.box.Seal(p.place(h.ID, number), records)
	if err != nil {
		return fmt.Errorf("seal piece %d of %q: %w", number, h.ID, err)
	}
	return p.in.Append(ctx, h, number, b)
}

// Read opens the pieces.
func (p *pieces) Read(ctx context.Context, id string, each func(number int, records []byte) error) error {
	if p == nil {
		return errNoJournal
	}
	return p.in.Read(ctx, id, func(number int, sealed []byte) error {
		records, err := p.box.Open(p.place(id, number), sealed)
		if err != nil {
			return fmt.Errorf("open piece %d of %q: %w", number, id, err)
		}
		return each(number, records)
	})
}
