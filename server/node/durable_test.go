package node

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// slow is a store that takes a time for each grant, and then grants or fails.
type slow struct {
	*porttest.Store
	takes time.Duration

	mu   sync.Mutex // guards fail
	fail []error    // what the next grants fail with; nil: with nothing
}

func (s *slow) Grant(ctx context.Context, hold port.Hold, g port.Grant) error {
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.fail) > 0 {
		err := s.fail[0]
		if s.fail = s.fail[1:]; err != nil {
			return err
		}
	}
	return s.Store.Grant(ctx, hold, g)
}

func granted(name string) port.Grant {
	return port.Grant{Now: port.Tokens{Access: []byte("a" + name), Resume: []byte("r" + name)}}
}

// TestGrantReturnsBeforeTheStoreHasIt: a Grant during the write of earlier tokens does not
// return before the store has its own tokens. If the process died then, its client would
// have tokens that nobody knows.
func TestGrantReturnsBeforeTheStoreHasIt(t *testing.T) {
	for _, fail := range [][]error{nil, {errNoRoute}} {
		synctest.Test(t, func(t *testing.T) {
			store := &slow{Store: &porttest.Store{}, takes: time.Second, fail: fail}
			h, err := open(t, store, "a")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.Claim(t.Context(), "one"); err != nil {
				t.Fatal(err)
			}
			var all sync.WaitGroup
			all.Go(func() {
				if err := h.Grant(t.Context(), "one", granted("1")); (err != nil) != (fail != nil) {
					t.Error(err)
				}
			})
			time.Sleep(time.Second / 2)
			all.Go(func() {
				err := h.Grant(t.Context(), "one", granted("2"))
				if id, ok, _ := store.Resume(t.Context(), []byte("r2")); err != nil || !ok || id != "one" {
					t.Errorf("granted with error %v, and the token is good for %q", err, id)
				}
			})
			all.Wait()
		})
	}
}

// TestTokensOfAConversationThatMovesOn: tokens that are not stored when their conversation
// stops here and continues elsewhere are stored later.
func TestTokensOfAConversationThatMovesOn(t *testing.T) {
	mem := &porttest.Store{}
	away := &unreachable{Store: mem}
	h, err := open(t, away, "a")
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"moves", "ends"} {
		if _, err := h.Claim(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		if err := h.Grant(t.Context(), id, granted("1"+id)); err != nil {
			t.Fatal(err)
		}
	}
	away.down = true
	for _, id := range []string{"moves", "ends"} {
		if err := h.Grant(t.Context(), id, granted("2"+id)); err == nil {
			t.Error("an unavailable store has stored a token")
		}
		h.Over(id, id == "ends")
	}
	away.down = false
	h.beat(t.Context())
	for token, want := range map[string]string{"r2moves": "moves", "r1ends": "", "r2ends": ""} {
		if id, _, err := mem.Resume(t.Context(), []byte(token)); err != nil || id != want {
			t.Errorf("%s is good for %q, error %v; expected %q", token, id, err, want)
		}
	}
	if n, held, err := mem.Holder(t.Context(), "moves"); err != nil || held {
		t.Errorf("it is held by %v, error %v", n, err)
	}
}

// TestGrantOfAnotherProcessesConversation: a Grant that fails because another process holds
// the conversation reports the conversation as lost.
func TestGrantOfAnotherProcessesConversation(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	mem := &porttest.Store{Now: func() time.Time { return now }}
	var nodes []*Home
	for _, name := range []string{"a", "b"} {
		h, err := open(t, mem, name)
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, h)
	}
	lost := ""
	nodes[0].Lost = func(id string) { lost = id }
	if _, err := nodes[0].Claim(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	now = now.Add(2 * TTL) // a is held up
	nodes[1].beat(t.Context())
	if _, err := nodes[1].Claim(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	if err := nodes[0].Grant(t.Context(), "one", granted("1")); !errors.Is(err, port.ErrFenced) || lost != "one" {
		t.Errorf("error %v, lost is %q", err, lost)
	}
}

// TestTokensUnknownToANewServer: a server that has just started on a shared store cannot
// reject an unknown token: the store may have been unavailable until recently, so that the
// holder of the conversation has not stored it yet.
func TestTokensUnknownToANewServer(t *testing.T) {
	for _, shared := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			h, err := open(t, &porttest.Store{}, "a")
			if err != nil {
				t.Fatal(err)
			}
			h.o.Shared = shared
			_, _, err = h.Resume(t.Context(), []byte("r"))
			_, _, err2 := h.Access(t.Context(), []byte("a"))
			if errors.Is(err, ErrUnsure) != shared || errors.Is(err2, ErrUnsure) != shared {
				t.Errorf("shared %v: errors %v, %v", shared, err, err2)
			}
			time.Sleep(TTL)
			if _, ok, err := h.Resume(t.Context(), []byte("r")); ok || err != nil {
				t.Errorf("shared %v, later: %v, error %v", shared, ok, err)
			}
		})
	}
}

// forgetful is a store that makes the next claims but loses its answers to them.
type forgetful struct {
	*porttest.Store
	answers int
}

func (f *forgetful) Claim(ctx context.Context, id, node string) (port.Hold, error) {
	hold, err := f.Store.Claim(ctx, id, node)
	if f.answers--; err == nil && f.answers >= 0 {
		return port.Hold{}, errNoRoute
	}
	return hold, err
}

// TestClaimWhoseAnswerIsLost: a claim whose answer was lost does not prevent the next one,
// for a new conversation and for a stored one.
func TestClaimWhoseAnswerIsLost(t *testing.T) {
	for lost := range 4 {
		synctest.Test(t, func(t *testing.T) {
			store := &forgetful{Store: &porttest.Store{}}
			h, err := open(t, store, "a")
			if err != nil {
				t.Fatal(err)
			}
			var token int64
			claimed := func(do func() error) {
				t.Helper()
				store.answers, token = lost, 0
				for try := 0; token == 0; try++ {
					if try > lost {
						t.Fatalf("%d answers are lost, and it is not claimed: %v", lost, err)
					}
					err = do()
					time.Sleep(TTL)
				}
			}
			claimed(func() (err error) {
				token, err = h.Claim(t.Context(), "one")
				return err
			})
			b, err := journal.Checkpoint{ID: "one", Snapshot: []byte(`{}`)}.Marshal()
			if err != nil {
				t.Fatal(err)
			}
			h.beat(t.Context())
			if err := store.Save(t.Context(), port.Hold{ID: "one", Token: token}, b); err != nil {
				t.Errorf("%d answers are lost: %v", lost, err)
			}
			h.Over("one", false)
			claimed(func() error {
				_, hold, err := h.Take(t.Context(), "one")
				token = hold.Token
				return err
			})
			h.beat(t.Context())
			if err := store.Save(t.Context(), port.Hold{ID: "one", Token: token}, b); err != nil {
				t.Errorf("%d answers are lost: %v", lost, err)
			}
		})
	}
}
