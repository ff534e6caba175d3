package sealed

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ticketPlace returns the name for which the value of a ticket is encrypted. No id of a
// conversation begins like it.
func ticketPlace(kind string, digest []byte) string {
	return "\x00ticket\x00" + kind + "\x00" + string(digest)
}

var errNoTickets = errors.New("sealed store: there are no tickets")

// KeepTicket encrypts the value of a ticket with the first key and stores it.
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

// FindTicket returns the decrypted value of a ticket. It returns an error if the value is
// not encrypted or if no key opens it.
func (s *Store) FindTicket(ctx context.Context, kind string, digest []byte) (value []byte, ok bool, err error) {
	if s.tickets == nil {
		return nil, false, errNoTickets
	}
	b, ok, err := s.tickets.FindTicket(ctx, kind, digest)
	return s.openTicket(kind, digest, b, ok, err)
}

// SpendTicket is like FindTicket and invalidates the ticket.
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
