package porttest

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/port"
)

// TestTickets is the conformance suite of port.Tickets. open must return an empty
// store for each rule.
func TestTickets(t *testing.T, open func(*testing.T) Stores) {
	const most = 100
	keep := func(t *testing.T, s Stores, kind, digest, value string, ttl time.Duration) {
		t.Helper()
		if err := s.Tickets.KeepTicket(t.Context(), kind, []byte(digest), []byte(value), ttl, most); err != nil {
			t.Fatal(err)
		}
	}
	want := func(t *testing.T, s Stores, kind, digest, value string, good bool) {
		t.Helper()
		got, ok, err := s.Tickets.FindTicket(t.Context(), kind, []byte(digest))
		if err != nil || ok != good || string(got) != value {
			t.Errorf("FindTicket(%s, %s) = %q, %v, error %v; expected %q, %v", kind, digest, got, ok, err, value, good)
		}
	}
	spend := func(t *testing.T, s Stores, digest, value string, good bool) {
		t.Helper()
		got, ok, err := s.Tickets.SpendTicket(t.Context(), "one", []byte(digest))
		if err != nil || ok != good || string(got) != value {
			t.Errorf("SpendTicket(%s) = %q, %v, error %v; expected %q, %v", digest, got, ok, err, value, good)
		}
	}
	t.Run("it is found until it is spent", func(t *testing.T) {
		s := open(t)
		want(t, s, "one", "a", "", false)
		keep(t, s, "one", "a", "value", time.Hour)
		keep(t, s, "one", "b", "", time.Hour)
		want(t, s, "one", "a", "value", true)
		want(t, s, "two", "a", "", false)
		want(t, s, "one", "b", "", true)
		spend(t, s, "a", "value", true)
		spend(t, s, "a", "", false)
		want(t, s, "one", "a", "", false)
		want(t, s, "one", "b", "", true)
	})
	t.Run("one that was kept or spent stays so", func(t *testing.T) {
		s := open(t)
		keep(t, s, "one", "a", "value", time.Hour)
		keep(t, s, "one", "a", "another", time.Hour)
		want(t, s, "one", "a", "value", true)
		spend(t, s, "a", "value", true)
		keep(t, s, "one", "a", "value", time.Hour)
		spend(t, s, "a", "", false)
	})
	t.Run("its time is over", func(t *testing.T) {
		s := open(t)
		keep(t, s, "one", "a", "value", time.Millisecond)
		until(t, "the end of its time", func() bool {
			_, ok, err := s.Tickets.FindTicket(t.Context(), "one", []byte("a"))
			return err == nil && !ok
		})
		spend(t, s, "a", "", false)
		s.beat(t, "n1") // which deletes expired tickets
		want(t, s, "one", "a", "", false)
		if err := s.Tickets.KeepTicket(t.Context(), "one", []byte("b"), nil, 0, most); err == nil {
			t.Error("a ticket with a ttl of 0 was accepted")
		}
		if err := s.Tickets.KeepTicket(t.Context(), "one", nil, nil, time.Hour, most); err == nil {
			t.Error("a ticket without a digest was accepted")
		}
	})
	t.Run("there is room for so many of a kind", func(t *testing.T) {
		s := open(t)
		add := func(kind, digest string) error {
			return s.Tickets.KeepTicket(t.Context(), kind, []byte(digest), []byte("value"), time.Hour, 2)
		}
		if err := errors.Join(add("one", "a"), add("one", "b")); err != nil {
			t.Fatal(err)
		}
		if err := add("one", "c"); !errors.Is(err, port.ErrTickets) {
			t.Errorf("error %v", err)
		}
		if err := errors.Join(add("two", "d"), add("one", "a")); err != nil {
			t.Error(err)
		}
		spend(t, s, "a", "value", true)
		if err := add("one", "c"); err != nil {
			t.Error(err)
		}
	})
	t.Run("of fifty one spends", func(t *testing.T) {
		s := open(t)
		keep(t, s, "one", "a", "value", time.Hour)
		var mu sync.Mutex
		spent := 0
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				_, ok, err := s.Tickets.SpendTicket(t.Context(), "one", []byte("a"))
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				if ok {
					spent++
				}
			})
		}
		all.Wait()
		if spent != 1 {
			t.Errorf("%d calls have spent the ticket, expected one", spent)
		}
	})
}
