package porttest

import (
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/port"
)

// TestArchive is the conformance suite of port.Archive. open must return an empty
// store for each rule.
func TestArchive(t *testing.T, open func(*testing.T) Stores) {
	list := func(t *testing.T, s Stores, limit int) string {
		t.Helper()
		entries, err := s.Archive.List(t.Context(), limit)
		if err != nil {
			t.Fatal(err)
		}
		ids := make([]string, len(entries))
		for i, e := range entries {
			ids[i] = e.ID
			if e.Size != len(e.ID) || e.Saved.IsZero() || e.Saved.Location() != time.UTC || i > 0 && e.Saved.After(entries[i-1].Saved) {
				t.Errorf("entry %d: %+v", i, e)
			}
		}
		return strings.Join(ids, " ")
	}
	// later saves a conversation and waits until the store's clock has advanced.
	later := func(t *testing.T, s Stores, h port.Hold) {
		t.Helper()
		s.save(t, h, h.ID)
		until(t, "the clock goes on", func() bool {
			s.save(t, port.Hold{ID: "clock"}, "clock")
			entries, err := s.Archive.List(t.Context(), 2)
			if err != nil {
				t.Fatal(err)
			}
			return len(entries) == 2 && entries[0].ID == "clock" && entries[0].Saved.After(entries[1].Saved)
		})
		if err := s.Store.Delete(t.Context(), "clock"); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("the newest first", func(t *testing.T) {
		s := open(t)
		if got := list(t, s, 10); got != "" {
			t.Errorf("a new store lists %q", got)
		}
		for _, id := range []string{"a", "bb", "ccc", "a"} {
			later(t, s, port.Hold{ID: id})
		}
		for limit, want := range map[int]string{1: "a", 2: "a ccc", 3: "a ccc bb", 10: "a ccc bb"} {
			if got := list(t, s, limit); got != want {
				t.Errorf("limit %d: %q, expected %q", limit, got, want)
			}
		}
		if _, err := s.Archive.List(t.Context(), 0); err == nil {
			t.Error("a limit of 0 was accepted")
		}
	})
	t.Run("what is old and held by nobody expires", func(t *testing.T) { testExpire(t, open(t)) })
}

func testExpire(t *testing.T, s Stores) {
	s.beat(t, "n1")
	held := s.claim(t, "held", "n1")
	s.save(t, held, "x")
	s.append(t, held, 1, "x")
	s.save(t, port.Hold{ID: "saved"}, "x")
	s.append(t, port.Hold{ID: "saved"}, 1, "x")
	s.append(t, port.Hold{ID: "a journal"}, 1, "x")
	released := s.claim(t, "a claim", "n1")
	if err := s.Registry.Grant(t.Context(), released, port.Grant{Now: port.Tokens{Access: []byte("access"), Resume: []byte("resume")}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Registry.Release(t.Context(), released, false); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Archive.Expire(t.Context(), time.Hour); n != 0 || err != nil {
		t.Errorf("%d were deleted, error %v, expected none", n, err)
	}
	deleted := 0
	expire := func(want int) {
		t.Helper()
		until(t, "all have expired", func() bool {
			n, err := s.Archive.Expire(t.Context(), time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			deleted += n
			return deleted >= want
		})
		if deleted != want {
			t.Errorf("%d were deleted, expected %d", deleted, want)
		}
	}
	expire(3)
	s.wantPieces(t, "saved", "")
	s.wantPieces(t, "a journal", "")
	if _, ok, err := s.Store.Load(t.Context(), "saved"); ok || err != nil {
		t.Errorf("the snapshot exists: %v, error %v", ok, err)
	}
	if _, ok, err := s.Registry.Resume(t.Context(), []byte("resume")); ok || err != nil {
		t.Errorf("the token is valid: %v, error %v", ok, err)
	}
	s.save(t, held, "y")
	s.wantPieces(t, "held", "1:x")
	s.dies(t, "n1")
	expire(4)
	wantFenced(t, "who held what has expired", s.Store.Save(t.Context(), held, []byte("late")))
	if _, err := s.Archive.Expire(t.Context(), 0); err == nil {
		t.Error("an age of 0 was accepted")
	}
}
