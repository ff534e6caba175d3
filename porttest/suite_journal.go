package porttest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/hocketvoice/hocket/port"
)

func (s Stores) append(t *testing.T, h port.Hold, number int, records string) {
	t.Helper()
	if err := s.Journal.Append(t.Context(), h, number, []byte(records)); err != nil {
		t.Fatalf("Append(%+v, %d): %v", h, number, err)
	}
}

// pieces returns the pieces of a conversation as "number:records", separated by
// spaces.
func (s Stores) pieces(t *testing.T, id string) string {
	t.Helper()
	var list []string
	if err := s.Journal.Read(t.Context(), id, func(number int, records []byte) error {
		list = append(list, fmt.Sprintf("%d:%s", number, records))
		clear(records) // they are valid only during the call
		return nil
	}); err != nil {
		t.Fatalf("Read(%q): %v", id, err)
	}
	return strings.Join(list, " ")
}

func (s Stores) wantPieces(t *testing.T, id, want string) {
	t.Helper()
	if got := s.pieces(t, id); got != want {
		t.Fatalf("the journal of %q is %q, expected %q", id, got, want)
	}
}

// Recordings are stores whose journal is that of the recordings, for [TestJournal].
func Recordings(open func(*testing.T) Stores) func(*testing.T) Stores {
	return func(t *testing.T) Stores {
		s := open(t)
		of, ok := s.Journal.(port.Recordings)
		if !ok {
			t.Fatal("the store has no recordings")
		}
		s.Journal = of.Recordings()
		return s
	}
}

// TestJournal is the conformance suite of port.Journal. open must return an empty
// store for each rule.
func TestJournal(t *testing.T, open func(*testing.T) Stores) {
	t.Run("pieces come in the order of their numbers", func(t *testing.T) {
		s := open(t)
		s.wantPieces(t, "nobody", "")
		for _, id := range ids() {
			for _, n := range []int{2, 1, 10, 3} {
				s.append(t, port.Hold{ID: id}, n, fmt.Sprint("piece ", n, " of ", id))
			}
		}
		for _, id := range ids() {
			s.wantPieces(t, id, fmt.Sprintf("1:piece 1 of %[1]s 2:piece 2 of %[1]s 3:piece 3 of %[1]s 10:piece 10 of %[1]s", id))
		}
	})
	t.Run("a number that is there stays as it is", func(t *testing.T) {
		s := open(t)
		s.append(t, port.Hold{ID: "a"}, 1, "first")
		s.append(t, port.Hold{ID: "a"}, 1, "another")
		s.append(t, port.Hold{ID: "a"}, 2, "")
		s.append(t, port.Hold{ID: "a"}, 2, "another")
		s.wantPieces(t, "a", "1:first 2:")
		if err := s.Journal.Append(t.Context(), port.Hold{ID: "a"}, 0, []byte("x")); err == nil {
			t.Error("a piece with number 0 was accepted")
		}
	})
	t.Run("pieces are copies", func(t *testing.T) {
		s := open(t)
		records := []byte("first")
		if err := s.Journal.Append(t.Context(), port.Hold{ID: "a"}, 1, records); err != nil {
			t.Fatal(err)
		}
		clear(records)
		s.wantPieces(t, "a", "1:first")
		s.wantPieces(t, "a", "1:first")
	})
	t.Run("the error of each ends the reading and is returned", func(t *testing.T) {
		s := open(t)
		for n := range 100 {
			s.append(t, port.Hold{ID: "a"}, n+1, "x")
		}
		enough := errors.New("enough")
		calls := 0
		err := s.Journal.Read(t.Context(), "a", func(number int, _ []byte) error {
			calls++
			// The callback may use the store.
			if _, _, err := s.Store.Load(t.Context(), "a"); err != nil {
				t.Error(err)
			}
			s.append(t, port.Hold{ID: "b"}, number, "x")
			if number == 70 {
				return enough
			}
			return nil
		})
		if !errors.Is(err, enough) || calls != 70 {
			t.Errorf("%d calls, error %v", calls, err)
		}
	})
	t.Run("an ended context ends a call", func(t *testing.T) {
		s := open(t)
		s.append(t, port.Hold{ID: "a"}, 1, "x")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		for _, err := range []error{
			s.Journal.Append(ctx, port.Hold{ID: "a"}, 2, nil),
			s.Journal.Read(ctx, "a", func(int, []byte) error { return nil }),
		} {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		}
		s.wantPieces(t, "a", "1:x")
	})
	t.Run("a later claim fences, for numbers that are there too", func(t *testing.T) {
		s := open(t)
		s.beat(t, "n1")
		s.append(t, port.Hold{ID: "a"}, 1, "alone")
		first := s.claim(t, "a", "n1")
		wantFenced(t, "without a token", s.Journal.Append(t.Context(), port.Hold{ID: "a"}, 2, []byte("late")))
		s.append(t, first, 2, "first")
		s.append(t, first, 1, "first")
		second := s.claim(t, "a", "n1")
		wantFenced(t, "the first hold", s.Journal.Append(t.Context(), first, 3, []byte("late")))
		wantFenced(t, "the first hold again", s.Journal.Append(t.Context(), first, 2, []byte("late")))
		s.append(t, second, 3, "second")
		s.wantPieces(t, "a", "1:alone 2:first 3:second")
	})
	t.Run("it is deleted with the conversation", func(t *testing.T) {
		s := open(t)
		s.beat(t, "n1")
		h := s.claim(t, "a", "n1")
		s.append(t, h, 1, "x")
		s.append(t, port.Hold{ID: "b"}, 1, "y")
		if err := s.Store.Delete(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		wantFenced(t, "after the deletion", s.Journal.Append(t.Context(), h, 2, []byte("late")))
		s.wantPieces(t, "a", "")
		s.wantPieces(t, "b", "1:y")
	})
	t.Run("many at once", func(t *testing.T) {
		s := open(t)
		var all sync.WaitGroup
		for range 4 { // each piece is written by all; the first write counts
			all.Go(func() {
				for n := range 20 {
					if err := s.Journal.Append(t.Context(), port.Hold{ID: "a"}, n+1, []byte("x")); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if n := strings.Count(s.pieces(t, "a"), ":x"); n != 20 {
			t.Errorf("%d pieces, expected 20", n)
		}
	})
}
