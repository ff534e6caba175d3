package porttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/port"
)

// Stores are the interfaces of one store, for the suites.
type Stores struct {
	Store    port.Store
	Journal  port.Journal
	Registry port.Registry
	Archive  port.Archive  // used by TestArchive only
	Tickets  port.Tickets  // used by TestTickets only
	Versions port.Versions // used by TestVersions only
	Callers  port.Callers  // used by TestCallers only
}

// alive is the ttl of a node that does not die during a test.
const alive = time.Hour

// until waits for a condition that depends on the store's clock.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for n := 1; !done(); n++ {
		if n%5000 == 0 {
			t.Logf("still waiting: %s", what)
		}
		<-tick.C
	}
}

func (s Stores) beat(t testing.TB, node string) {
	t.Helper()
	if err := s.Registry.Beat(t.Context(), port.Node{ID: node, URL: "http://" + node}, alive); err != nil {
		t.Fatal(err)
	}
}

// dies lets the ttl of a node expire.
func (s Stores) dies(t *testing.T, node string) {
	t.Helper()
	if err := s.Registry.Beat(t.Context(), port.Node{ID: node}, time.Millisecond); err != nil {
		t.Fatal(err)
	}
	until(t, node+" is dead", func() bool {
		nodes, err := s.Registry.Nodes(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range nodes {
			if n.ID == node {
				return false
			}
		}
		return true
	})
}

func (s Stores) claim(t testing.TB, id, node string) port.Hold {
	t.Helper()
	h, err := s.Registry.Claim(t.Context(), id, node)
	if err != nil || h.ID != id || h.Token <= 0 {
		t.Fatalf("Claim(%q, %q): %+v, error %v", id, node, h, err)
	}
	return h
}

// wantHeld checks that a node cannot claim a conversation that another node holds.
func (s Stores) wantHeld(t *testing.T, id, node, by string) {
	t.Helper()
	h, err := s.Registry.Claim(t.Context(), id, node)
	held, ok := errors.AsType[*port.HeldError](err)
	if !ok || held.Node.ID != by || held.Node.URL != "http://"+by {
		t.Fatalf("Claim(%q, %q): %+v, error %v; expected that %s holds it", id, node, h, err, by)
	}
}

func (s Stores) save(t *testing.T, h port.Hold, snapshot string) {
	t.Helper()
	if err := s.Store.Save(t.Context(), h, []byte(snapshot)); err != nil {
		t.Fatalf("Save(%+v): %v", h, err)
	}
}

func (s Stores) wantSaved(t *testing.T, id, want string) {
	t.Helper()
	b, ok, err := s.Store.Load(t.Context(), id)
	if err != nil || !ok || string(b) != want {
		t.Fatalf("Load(%q): %q, there %v, error %v; expected %q", id, b, ok, err, want)
	}
}

func wantFenced(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, port.ErrFenced) {
		t.Errorf("%s: error %v, expected that it is fenced", what, err)
	}
}

// ids returns examples of conversation ids.
func ids() []string {
	return []string{"a", "A", "a/b", "../a", "a b", "a%", "ä\x00", "\xff\xfe", "'; --", strings.Repeat("long", 50)}
}

// TestStore is the conformance suite of port.Store. open must return an empty store
// for each rule.
func TestStore(t *testing.T, open func(*testing.T) Stores) {
	t.Run("what is not there is not there", func(t *testing.T) {
		s := open(t).Store
		if b, ok, err := s.Load(t.Context(), "nobody"); ok || err != nil || len(b) > 0 {
			t.Errorf("Load: %q, there %v, error %v", b, ok, err)
		}
		if err := s.Delete(t.Context(), "nobody"); err != nil {
			t.Errorf("Delete: %v", err)
		}
	})
	t.Run("save, replace, delete", func(t *testing.T) {
		s := open(t)
		for _, id := range ids() {
			for _, snapshot := range []string{"one", "another, longer one", "\x00\xff", ""} {
				s.save(t, port.Hold{ID: id}, snapshot)
				s.wantSaved(t, id, snapshot)
			}
			s.save(t, port.Hold{ID: id}, "of "+id)
		}
		for _, id := range ids() {
			s.wantSaved(t, id, "of "+id)
		}
		if err := s.Store.Delete(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := s.Store.Load(t.Context(), "a"); ok || err != nil {
			t.Errorf("after Delete: there %v, error %v", ok, err)
		}
		for _, id := range ids()[1:] {
			s.wantSaved(t, id, "of "+id)
		}
	})
	t.Run("snapshots are copies", func(t *testing.T) {
		s := open(t)
		snapshot := []byte("one")
		if err := s.Store.Save(t.Context(), port.Hold{ID: "a"}, snapshot); err != nil {
			t.Fatal(err)
		}
		snapshot[0] = 'X'
		got, _, err := s.Store.Load(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		got[1] = 'X'
		s.wantSaved(t, "a", "one")
	})
	t.Run("an ended context ends a call", func(t *testing.T) {
		s := open(t).Store
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, err := s.Load(ctx, "a")
		for _, err := range []error{err, s.Save(ctx, port.Hold{ID: "a"}, nil), s.Delete(ctx, "a")} {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		}
	})
	t.Run("many at once", func(t *testing.T) {
		s := open(t).Store
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				id := fmt.Sprint(i % 4)
				for n := range 20 {
					if err := s.Save(t.Context(), port.Hold{ID: id}, []byte(id+fmt.Sprint(n))); err != nil {
						t.Error(err)
					}
					b, ok, err := s.Load(t.Context(), id)
					if err != nil || !ok || !strings.HasPrefix(string(b), id) {
						t.Errorf("%q, there %v, error %v", b, ok, err)
					}
				}
			})
		}
		all.Wait()
	})
	t.Run("fencing", func(t *testing.T) { testFencing(t, open) })
}

// testFencing checks Save against the claims of the registry.
func testFencing(t *testing.T, open func(*testing.T) Stores) {
	t.Run("a hold without a token, until somebody claims", func(t *testing.T) {
		s := open(t)
		s.beat(t, "n1")
		s.save(t, port.Hold{ID: "a"}, "alone")
		h := s.claim(t, "a", "n1")
		wantFenced(t, "without a token", s.Store.Save(t.Context(), port.Hold{ID: "a"}, []byte("late")))
		s.wantSaved(t, "a", "alone")
		s.save(t, h, "claimed")
		s.wantSaved(t, "a", "claimed")
		s.save(t, port.Hold{ID: "b"}, "another conversation")
	})
	t.Run("a later claim fences", func(t *testing.T) {
		s := open(t)
		s.beat(t, "n1")
		s.beat(t, "n2")
		first := s.claim(t, "a", "n1")
		s.save(t, first, "one")
		s.dies(t, "n1")
		s.save(t, first, "two") // no other node has claimed it
		second := s.claim(t, "a", "n2")
		wantFenced(t, "the first hold", s.Store.Save(t.Context(), first, []byte("late")))
		s.wantSaved(t, "a", "two")
		s.save(t, second, "three")
		s.beat(t, "n1") // the node is alive again, but no longer holds it
		wantFenced(t, "the first hold", s.Store.Save(t.Context(), first, []byte("late")))
		wantFenced(t, "a hold of tomorrow", s.Store.Save(t.Context(), port.Hold{ID: "a", Token: second.Token + 1}, []byte("late")))
		s.wantSaved(t, "a", "three")
		third := s.claim(t, "a", "n2") // a node fences its own earlier hold
		wantFenced(t, "the second hold", s.Store.Save(t.Context(), second, []byte("late")))
		s.save(t, third, "four")
	})
	t.Run("who holds what was deleted writes no more", func(t *testing.T) {
		s := open(t)
		s.beat(t, "n1")
		h := s.claim(t, "a", "n1")
		s.save(t, h, "one")
		if err := s.Store.Delete(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		wantFenced(t, "Save", s.Store.Save(t.Context(), h, []byte("late")))
		if _, ok, err := s.Store.Load(t.Context(), "a"); ok || err != nil {
			t.Errorf("the deleted conversation exists again: %v, error %v", ok, err)
		}
		if again := s.claim(t, "a", "n1"); again.Token <= h.Token {
			t.Errorf("token %d after %d", again.Token, h.Token)
		}
	})
	t.Run("no save that began before a claim ends behind it", func(t *testing.T) {
		s := open(t)
		s.beat(t, "n1")
		h := s.claim(t, "a", "n1")
		for round := range 20 {
			var all sync.WaitGroup
			for i := range 4 {
				all.Go(func() {
					for n := range 5 {
						err := s.Store.Save(t.Context(), h, fmt.Appendf(nil, "%d.%d.%d", round, i, n))
						if err != nil && !errors.Is(err, port.ErrFenced) {
							t.Error(err)
						}
					}
				})
			}
			h2 := s.claim(t, "a", "n1")
			before, _, err := s.Store.Load(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			all.Wait()
			after, _, err := s.Store.Load(t.Context(), "a")
			if err != nil || !bytes.Equal(after, before) {
				t.Fatalf("%q when it was claimed, %q later; error %v", before, after, err)
			}
			h = h2
		}
	})
}

// Save saves a snapshot of a conversation that nobody holds.
func Save(t testing.TB, s port.Store, id, snapshot string) {
	t.Helper()
	if err := s.Save(t.Context(), port.Hold{ID: id}, []byte(snapshot)); err != nil {
		t.Fatal(err)
	}
}

// WantLoaded checks that a conversation has a snapshot.
func WantLoaded(t testing.TB, s port.Store, id, want string) {
	t.Helper()
	got, ok, err := s.Load(t.Context(), id)
	if err != nil || !ok || string(got) != want {
		t.Fatalf("load %q: %d bytes, there %v, error %v; expected %d bytes", id, len(got), ok, err, len(want))
	}
}

// WantError checks that an error contains each of the words.
func WantError(t testing.TB, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, expected one with %q", words)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q does not contain %q", err, w)
		}
	}
}
