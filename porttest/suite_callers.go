package porttest

import (
	"slices"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/port"
)

// TestCallers is the conformance suite of port.Callers. open must return an empty store for
// each rule.
func TestCallers(t *testing.T, open func(*testing.T) Stores) {
	// begin returns a store with a snapshot of each conversation.
	begin := func(t *testing.T, ids ...string) Stores {
		t.Helper()
		s := open(t)
		for _, id := range ids {
			s.save(t, port.Hold{ID: id}, id)
		}
		return s
	}
	mark := func(t *testing.T, s Stores, id, m string) {
		t.Helper()
		if err := s.Callers.Mark(t.Context(), id, []byte(m)); err != nil {
			t.Fatalf("Mark(%q, %q): %v", id, m, err)
		}
	}
	// find returns the ids in the order of the alphabet, with a ! behind those that are marked.
	find := func(t *testing.T, s Stores, marks, prefixes string) string {
		t.Helper()
		list := func(text string) (all [][]byte) {
			for f := range strings.FieldsSeq(text) {
				all = append(all, []byte(f))
			}
			return all
		}
		entries, err := s.Callers.Marked(t.Context(), list(marks), list(prefixes))
		if err != nil {
			t.Fatal(err)
		}
		found := make([]string, len(entries))
		for i, e := range entries {
			if e.Size != len(e.ID) || e.Saved.IsZero() || i > 0 && e.Saved.After(entries[i-1].Saved) {
				t.Errorf("entry %d: %+v", i, e)
			}
			if found[i] = e.ID; e.Marked {
				found[i] += "!"
			}
		}
		slices.Sort(found)
		return strings.Join(found, " ")
	}
	want := func(t *testing.T, s Stores, marks, prefixes, expected string) {
		t.Helper()
		if got := find(t, s, marks, prefixes); got != expected {
			t.Errorf("Marked(%q, %q): %q, expected %q", marks, prefixes, got, expected)
		}
	}
	t.Run("those of the mark are found and those that have none", func(t *testing.T) {
		s := begin(t, "a", "b", "c")
		want(t, s, "k1ada", "k1", "a b c")
		mark(t, s, "a", "k1ada")
		mark(t, s, "b", "k1bob")
		want(t, s, "k1ada", "k1", "a! c")
		want(t, s, "k1bob", "k1", "b! c")
		want(t, s, "k1eve", "k1", "c")
		want(t, s, "", "", "a b c")
	})
	t.Run("one with a prefix that is not known may be anybody's", func(t *testing.T) {
		s := begin(t, "a", "b", "c")
		mark(t, s, "a", "k1ada")
		mark(t, s, "b", "k2bob")
		mark(t, s, "c", "k3eve")
		want(t, s, "k1ada k2ada", "k1 k2", "a! c")
		want(t, s, "k3eve", "k3", "a b c!")
		want(t, s, "k1ada k2bob", "k1 k2 k3", "a! b!")
	})
	t.Run("a mark stays with each save and goes with the conversation", func(t *testing.T) {
		s := begin(t, "a")
		mark(t, s, "a", "k1ada")
		s.save(t, port.Hold{ID: "a"}, "b")
		entries, err := s.Callers.Marked(t.Context(), [][]byte{[]byte("k1ada")}, [][]byte{[]byte("k1")})
		if err != nil || len(entries) != 1 || !entries[0].Marked {
			t.Errorf("after a save: %+v, error %v", entries, err)
		}
		s.wantSaved(t, "a", "b")
		mark(t, s, "a", "k1bob")
		want(t, s, "k1ada", "k1", "")
		want(t, s, "k1bob", "k1", "a!")
		if err := s.Store.Delete(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		s.save(t, port.Hold{ID: "a"}, "a")
		want(t, s, "k1bob", "k1", "a")
	})
	t.Run("what is not there is not marked", func(t *testing.T) {
		s := begin(t)
		mark(t, s, "a", "k1ada")
		want(t, s, "k1ada", "k1", "")
		s.save(t, port.Hold{ID: "a"}, "a")
		want(t, s, "k1ada", "k1", "a")
	})
	t.Run("bytes of any kind", func(t *testing.T) {
		s := begin(t, "\x00a", "\xffb")
		odd := []byte("\x00\xff'%_")
		if err := s.Callers.Mark(t.Context(), "\x00a", odd); err != nil {
			t.Fatal(err)
		}
		entries, err := s.Callers.Marked(t.Context(), [][]byte{odd}, [][]byte{odd[:1]})
		if err != nil || len(entries) != 2 || entries[0].Marked == entries[1].Marked {
			t.Errorf("%+v, error %v", entries, err)
		}
	})
}
