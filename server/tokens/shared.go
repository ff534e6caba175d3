package tokens

import (
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"time"

	"github.com/hocketvoice/hocket/port"
)

// SharedOptions configures a [Shared].
type SharedOptions struct {
	Store port.Tickets
	Kind  string // of the tickets
	Most  int    // limit of waiting tickets of this kind
	// Limit is the timeout of one request to the store.
	Limit time.Duration
	// Away, if not nil, reports whether the store is currently unavailable. It is
	// then not asked.
	Away func() bool
}

// Shared is a [Keeper] for all processes that share a store. Secrets that could not
// be stored are valid in this process only, until [Shared.Flush] has stored them.
type Shared struct {
	o    SharedOptions
	here *Memory // not yet in the store
}

// NewShared returns a Shared.
func NewShared(o SharedOptions) *Shared { return &Shared{o: o, here: NewMemory(o.Most)} }

var errAway = errors.New("the store does not answer")

// ask calls the store with the timeout.
func (s *Shared) ask(ctx context.Context, question func(context.Context) error) error {
	if s.o.Away != nil && s.o.Away() {
		return errAway
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.Limit)
	defer cancel()
	return question(ctx)
}

// Keep implements [Keeper].
func (s *Shared) Keep(ctx context.Context, secret string, value []byte, ttl time.Duration) error {
	d := sha256.Sum256([]byte(secret))
	err := s.ask(ctx, func(ctx context.Context) error {
		return s.o.Store.KeepTicket(ctx, s.o.Kind, d[:], value, ttl, s.o.Most)
	})
	if err == nil || errors.Is(err, port.ErrTickets) {
		return err
	}
	return s.here.Keep(ctx, secret, value, ttl)
}

// Find implements [Keeper]. It returns an error if the store is needed and
// unavailable.
func (s *Shared) Find(ctx context.Context, secret string) (value []byte, ok bool, err error) {
	if value, ok, err = s.here.Find(ctx, secret); ok {
		return value, ok, err
	}
	d := sha256.Sum256([]byte(secret))
	err = s.ask(ctx, func(ctx context.Context) error {
		value, ok, err = s.o.Store.FindTicket(ctx, s.o.Kind, d[:])
		return err
	})
	return value, ok && err == nil, err
}

// Spend implements [Keeper]. It returns an error if the store is needed and
// unavailable.
func (s *Shared) Spend(ctx context.Context, secret string) (value []byte, ok bool, err error) {
	d := sha256.Sum256([]byte(secret))
	if value, ok := s.here.spend(d); ok {
		spent := true
		err := s.ask(ctx, func(ctx context.Context) error {
			spent, err = s.give(ctx, d)
			return err
		})
		return value, err != nil || spent, nil // an unavailable store is updated later
	}
	if _, here := s.here.entry(d); here {
		return nil, false, nil
	}
	err = s.ask(ctx, func(ctx context.Context) error {
		value, ok, err = s.o.Store.SpendTicket(ctx, s.o.Kind, d[:])
		return err
	})
	return value, ok && err == nil, err
}

// Flush writes the pending secrets, and the fact that they were spent, to the
// store. Those that fail are retried by the next call until they expire.
func (s *Shared) Flush(ctx context.Context) error {
	s.here.mu.Lock()
	list := maps.Clone(s.here.list)
	s.here.mu.Unlock()
	for d := range list {
		if _, err := s.give(ctx, d); err != nil && !errors.Is(err, port.ErrTickets) {
			return err
		}
	}
	return nil
}

// give writes one pending secret to the store. It returns whether this process has
// spent it: if the store did not answer, it may or may not have the secret, and
// another process may have spent it first.
func (s *Shared) give(ctx context.Context, d digest) (spent bool, err error) {
	e, ok := s.here.entry(d)
	ttl := time.Until(e.until)
	if ok && ttl >= time.Millisecond {
		if err := s.o.Store.KeepTicket(ctx, s.o.Kind, d[:], e.value, ttl, s.o.Most); err != nil {
			return false, err
		}
		if e.spent {
			if _, spent, err = s.o.Store.SpendTicket(ctx, s.o.Kind, d[:]); err != nil {
				return false, err
			}
		}
	}
	s.here.mu.Lock()
	defer s.here.mu.Unlock()
	if s.here.list[d].spent == e.spent { // otherwise it was spent meanwhile
		delete(s.here.list, d)
	}
	return spent, nil
}
