package sealed

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ticketPlace is the name that what a ticket is good for is sealed for. No id that this
// program makes begins like it.
func ticketPlace(kind string, digest []byte) string {
	return "\x00ticket\x00" + kind + "\x00" + string(digest)
}

var errNoTickets = errors.New("sealed store: there are no tickets")

// KeepTicket seals what a ticket is good for with the first key and keeps it.
func (s *Store) KeepTicket(ctx context.Context, kind string, digest, value []byte, ttl time.Duration, most int) error {
	if s.tickets == nil {
		return errNoTickets
	}
	b, err := s.box.Seal(ticketPlace(kind, digest), value)
	if err != nil {
		return fmt.Errorf("seal a ticket: %w", err)
	}
	return s.tickets.KeepTicket(ctx, kind, digest, b, ttl, most)
}

// FindTicket opens what a ticket is good for. What none of the keys opens is an error,
// and so is what was never sealed.
func (s *Store) FindTicket(ctx context.Context, kind string, digest []byte) (value []byte, ok bool, err error) {
	if s.tickets == nil {
		return nil, false, errNoTickets
	}
	b, ok, err := s.tickets.FindTicket(ctx, kind, digest)
	return s.openTicket(kind, digest, b, ok, err)
}

// SpendTicket is FindTicket for the last time.
func (s *Store) SpendTicket(ctx context.Context, kind string, digest []byte) (value []byte, ok bool, err error) {
	if s.tickets == nil {
		return nil, false, errNoTickets
	}
	b, ok, err := s.tickets.SpendTicket(ctx, kind, digest)
	return s.openTicket(kind, digest, b, ok, err)
}

func (s *Store) openTicket(kind string, digest, b []byte, ok bool, err error) ([]byte, bool, error) {
	if err != nil || !ok {
		return nil, false, err
	}
	value, err := s.box.Open(ticketPlace(kind, digest), b)
	if err != nil {
		return nil, false, fmt.Errorf("open a ticket: %w", err)
	}
	return value, true, nil
}
