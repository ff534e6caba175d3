package sealed

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/hocketvoice/hocket/port"
)

// place is the name that a piece is sealed for: its number, and then the conversation.
// No id that this program makes begins like it.
func place(id string, number int) string {
	b := append([]byte{0}, "journal"...)
	return string(append(binary.BigEndian.AppendUint64(b, uint64(number)), id...))
}

var errNoJournal = errors.New("sealed store: there is no journal")

// Append seals a piece with the first key and appends it.
func (s *Store) Append(ctx context.Context, h port.Hold, number int, records []byte) error {
	if s.journal == nil {
		return errNoJournal
	}
	b, err := s.box.Seal(place(h.ID, number), records)
	if err != nil {
		return fmt.Errorf("seal piece %d of %q: %w", number, h.ID, err)
	}
	return s.journal.Append(ctx, h, number, b)
}

// Read opens the pieces. One that none of the keys opens ends it with an error, and so
// does one that was never sealed.
func (s *Store) Read(ctx context.Context, id string, each func(number int, records []byte) error) error {
	if s.journal == nil {
		return errNoJournal
	}
	return s.journal.Read(ctx, id, func(number int, sealed []byte) error {
		records, err := s.box.Open(place(id, number), sealed)
		if err != nil {
			return fmt.Errorf("open piece %d of %q: %w", number, id, err)
		}
		return each(number, records)
	})
}
