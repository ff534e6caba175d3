package sealed

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/hocketvoice/hocket/internal/seal"
	"github.com/hocketvoice/hocket/port"
)

// pieces seals the pieces of a journal or of recordings. A nil pieces refuses all calls.
type pieces struct {
	in   port.Journal
	box  *seal.Box
	kind string // part of the name that each piece is sealed for
}

// place is the name that a piece is sealed for: its kind, its number, and then the
// conversation. No id that this program makes begins like it.
func (p *pieces) place(id string, number int) string {
	b := append([]byte{0}, p.kind...)
	return string(append(binary.BigEndian.AppendUint64(b, uint64(number)), id...))
}

var errNoJournal = errors.New("sealed store: there is no journal")

// Append seals a piece with the first key and appends it.
func (s *Store) Append(ctx context.Context, h port.Hold, number int, records []byte) error {
	return s.journal.Append(ctx, h, number, records)
}

// Read opens the pieces. One that none of the keys opens ends it with an error, and so
// does one that was never sealed.
func (s *Store) Read(ctx context.Context, id string, each func(number int, records []byte) error) error {
	return s.journal.Read(ctx, id, each)
}

// Recordings is one of [port.Recordings]: it seals and opens as the journal does.
func (s *Store) Recordings() port.Journal { return s.sound }

// Append seals a piece with the first key and appends it.
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
