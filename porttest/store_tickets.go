package porttest

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/hocketvoice/hocket/port"
)

// This file implements short-lived secrets.

// ticket is valid until a time, unless it was spent.
type ticket struct {
	kind  string
	value []byte
	until time.Time
	spent bool
}

// KeepTicket stores a ticket.
func (s *Store) KeepTicket(ctx context.Context, kind string, digest, value []byte, ttl time.Duration, most int) error {
	if len(digest) == 0 || ttl <= 0 {
		return fmt.Errorf("ticket digest has %d bytes and ttl is %v: expected more than 0 for both", len(digest), ttl)
	}
	now, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	if _, ok := s.tickets[kind+string(digest)]; ok {
		return nil
	}
	n := 0
	for _, t := range s.tickets {
		if t.kind == kind && !t.spent && t.until.After(now) {
			n++
		}
	}
	if n >= most {
		return port.ErrTickets
	}
	s.tickets[kind+string(digest)] = ticket{kind: kind, value: append([]byte{}, value...), until: now.Add(ttl)}
	return nil
}

// FindTicket returns a copy of the ticket's value.
func (s *Store) FindTicket(ctx context.Context, kind string, digest []byte) (value []byte, ok bool, err error) {
	return s.ticket(ctx, kind, digest, false)
}

// SpendTicket returns the ticket's value and invalidates the ticket.
func (s *Store) SpendTicket(ctx context.Context, kind string, digest []byte) (value []byte, ok bool, err error) {
	return s.ticket(ctx, kind, digest, true)
}

func (s *Store) ticket(ctx context.Context, kind string, digest []byte, spend bool) (value []byte, ok bool, err error) {
	now, err := s.begin(ctx)
	if err != nil {
		return nil, false, err
	}
	defer s.mu.Unlock()
	t, ok := s.tickets[kind+string(digest)]
	if !ok || t.spent || !t.until.After(now) {
		return nil, false, nil
	}
	if spend {
		t.spent = true
		s.tickets[kind+string(digest)] = t
	}
	return bytes.Clone(t.value), true, nil
}
