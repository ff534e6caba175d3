package porttest

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/hocketvoice/hocket/port"
)

// This file: secrets of a short life.

// ticket is good until a time, unless it was spent.
type ticket struct {
	kind  string
	value []byte
	until time.Time
	spent bool
}

// KeepTicket keeps a ticket.
func (s *Store) KeepTicket(ctx context.Context, kind string, digest, value []byte, ttl time.Duration, most int) error {
	if len(digest) == 0 || ttl <= 0 {
		return fmt.Errorf("a ticket has a digest of %d bytes and a time of %v, expected more than 0", len(digest), ttl)
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

// FindTicket returns a copy of what a ticket is good for.
func (s *Store) FindTicket(ctx context.Context, kind string, digest []byte) (value []byte, ok bool, err error) {
	return s.ticket(ctx, kind, digest, false)
}

// SpendTicket does so for the last time.
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
