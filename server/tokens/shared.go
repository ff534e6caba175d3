package tokens

import (
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"time"

	"github.com/hocketvoice/hocket/port"
)

// SharedOptions configure a [Shared].
type SharedOptions struct {
	Store port.Tickets
	Kind  string // of the tickets
	Most  int    // tickets that may wait to be used, of this kind
	// Limit bounds one question to the store.
	Limit time.Duration
	// Away, if set, reports that the store does not answer at the moment: then it is not
	// asked.
	Away func() bool
}

// Shared is the [Keeper] of all processes that share a store. What the store does not
// take is good in this process alone until [Shared.Flush] has given it to the store.
type Shared struct {
	o    SharedOptions
	here *Memory // what the store has not taken
}

// NewShared makes one.
func NewShared(o SharedOptions) *Shared { return &Shared{o: o, here: NewMemory(o.Most)} }

var errAway = errors.New("the store does not answer")

// ask asks the store.
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

// Find implements [Keeper]. It fails where only the store could tell.
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

// Spend implements [Keeper]. It fails where only the store could tell.
func (s *Shared) Spend(ctx context.Context, secret string) (value []byte, ok bool, err error) {
	d := sha256.Sum256([]byte(secret))
	if value, ok := s.here.spend(d); ok {
		spent := true
		err := s.ask(ctx, func(ctx context.Context) error {
			spent, err = s.give(ctx, d)
			return err
		})
		return value, err != nil || spent, nil // a store that is away learns of it later
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

// Flush gives the store what it has not taken yet, and that what was spent is. What it
// does not take now is tried again by the next call, until its time is over.
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

// give hands one to the store that is here, and reports whether it was spent by this
// process: nobody knows of a store that did not answer whether it has it, and others may
// have been faster then.
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
	if s.here.list[d].spent == e.spent { // else it was spent meanwhile
		delete(s.here.list, d)
	}
	return spent, nil
}
