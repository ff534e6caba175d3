package porttest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/port"
)

// TestRegistry is the conformance suite of port.Registry. open must return an empty
// store for each rule.
func TestRegistry(t *testing.T, open func(*testing.T) Stores) {
	t.Run("nodes", func(t *testing.T) { testNodes(t, open) })
	t.Run("claims", func(t *testing.T) { testClaims(t, open) })
	t.Run("abandoned", func(t *testing.T) { testAbandoned(t, open) })
	t.Run("tokens", func(t *testing.T) { testTokens(t, open) })
}

func testNodes(t *testing.T, open func(*testing.T) Stores) {
	want := func(t *testing.T, s Stores, nodes ...port.Node) {
		t.Helper()
		got, err := s.Registry.Nodes(t.Context())
		if err != nil || !slices.Equal(got, nodes) {
			t.Fatalf("nodes %v, expected %v, error %v", got, nodes, err)
		}
	}
	t.Run("those that beat are alive, in order", func(t *testing.T) {
		s := open(t)
		want(t, s)
		for _, id := range []string{"n2", "n10", "n1"} {
			s.beat(t, id)
			s.beat(t, id)
		}
		want(t, s, port.Node{ID: "n1", URL: "http://n1"}, port.Node{ID: "n10", URL: "http://n10"}, port.Node{ID: "n2", URL: "http://n2"})
		s.dies(t, "n10")
		if err := s.Registry.Beat(t.Context(), port.Node{ID: "n1", URL: "http://moved"}, alive); err != nil {
			t.Fatal(err)
		}
		want(t, s, port.Node{ID: "n1", URL: "http://moved"}, port.Node{ID: "n2", URL: "http://n2"})
		s.beat(t, "n10") // it returns
		if err := s.Registry.Leave(t.Context(), "n1"); err != nil {
			t.Fatal(err)
		}
		want(t, s, port.Node{ID: "n10", URL: "http://n10"}, port.Node{ID: "n2", URL: "http://n2"})
		if err := s.Registry.Leave(t.Context(), "nobody"); err != nil {
			t.Error(err)
		}
	})
	t.Run("a node without a time is refused", func(t *testing.T) {
		s := open(t)
		if err := s.Registry.Beat(t.Context(), port.Node{ID: "n1"}, 0); err == nil {
			t.Error("the node was accepted")
		}
		want(t, s)
	})
}

func (s Stores) wantHolder(t *testing.T, id, node string) {
	t.Helper()
	n, ok, err := s.Registry.Holder(t.Context(), id)
	if err != nil || ok != (node != "") || n.ID != node {
		t.Fatalf("the holder of %q is %q, there %v, error %v; expected %q", id, n.ID, ok, err, node)
	}
}

func testClaims(t *testing.T, open func(*testing.T) Stores) {
	t.Run("one holds, until it is dead or gives up", func(t *testing.T) {
		s := open(t)
		for _, n := range []string{"n1", "n2", "n3"} {
			s.beat(t, n)
		}
		s.wantHolder(t, "a", "")
		first := s.claim(t, "a", "n1")
		s.wantHolder(t, "a", "n1")
		s.wantHolder(t, "A", "")
		s.wantHeld(t, "a", "n2", "n1")
		s.dies(t, "n1")
		s.wantHolder(t, "a", "")
		second := s.claim(t, "a", "n2")
		s.beat(t, "n1")
		s.wantHolder(t, "a", "n2")
		s.wantHeld(t, "a", "n1", "n2")
		if err := s.Registry.Release(t.Context(), first, true); err != nil { // the hold is no longer valid
			t.Fatal(err)
		}
		s.wantHolder(t, "a", "n2")
		s.save(t, second, "of n2")
		if err := s.Registry.Release(t.Context(), second, false); err != nil {
			t.Fatal(err)
		}
		s.wantHolder(t, "a", "")
		third := s.claim(t, "a", "n3")
		if err := s.Registry.Leave(t.Context(), "n3"); err != nil {
			t.Fatal(err)
		}
		s.wantHolder(t, "a", "")
		s.beat(t, "n3") // it starts again
		s.wantHolder(t, "a", "")
		fourth := s.claim(t, "a", "n1")
		if first.Token >= second.Token || second.Token >= third.Token || third.Token >= fourth.Token {
			t.Errorf("tokens %d, %d, %d, %d, expected ascending ones", first.Token, second.Token, third.Token, fourth.Token)
		}
		s.wantSaved(t, "a", "of n2")
	})
	t.Run("a node that comes back holds what nobody has claimed", func(t *testing.T) {
		s := open(t)
		s.beat(t, "n1")
		s.beat(t, "n2")
		h := s.claim(t, "a", "n1")
		s.dies(t, "n1")
		s.beat(t, "n1")
		s.wantHeld(t, "a", "n2", "n1")
		s.save(t, h, "x")
	})
	t.Run("only a node that is alive claims", func(t *testing.T) {
		s := open(t)
		s.beat(t, "n1")
		s.dies(t, "n1")
		for _, n := range []string{"n1", "nobody", ""} {
			h, err := s.Registry.Claim(t.Context(), "a", n)
			if held := (*port.HeldError)(nil); err == nil || errors.As(err, &held) {
				t.Errorf("node %q: %+v, error %v", n, h, err)
			}
		}
	})
	t.Run("of fifty one wins", func(t *testing.T) {
		s := open(t)
		const many = 50
		for i := range many {
			s.beat(t, fmt.Sprintf("n%02d", i))
		}
		// New, stored, and held by a node that has died.
		s.save(t, port.Hold{ID: "kept"}, "x")
		s.beat(t, "dead")
		s.claim(t, "left", "dead")
		s.dies(t, "dead")
		for _, id := range []string{"new", "kept", "left"} {
			var mu sync.Mutex
			var winners, losers []string
			var all sync.WaitGroup
			for i := range many {
				all.Go(func() {
					node := fmt.Sprintf("n%02d", i)
					h, err := s.Registry.Claim(t.Context(), id, node)
					held, lost := errors.AsType[*port.HeldError](err)
					mu.Lock()
					defer mu.Unlock()
					switch {
					case err == nil && h.Token > 0:
						winners = append(winners, node)
					case lost:
						losers = append(losers, held.Node.ID)
					default:
						t.Errorf("%+v, error %v", h, err)
					}
				})
			}
			all.Wait()
			if len(winners) != 1 || len(losers) != many-1 {
				t.Fatalf("%s: claimed by %v, refused to %d", id, winners, len(losers))
			}
			for _, by := range losers {
				if by != winners[0] {
					t.Errorf("%s: a HeldError names %s, but %s holds it", id, by, winners[0])
				}
			}
			s.wantHolder(t, id, winners[0])
		}
	})
}

func testAbandoned(t *testing.T, open func(*testing.T) Stores) {
	list := func(t *testing.T, s Stores, idle time.Duration, limit int) []string {
		t.Helper()
		ids, err := s.Registry.Abandoned(t.Context(), idle, limit)
		if err != nil {
			t.Fatal(err)
		}
		return ids
	}
	const moment = 5 * time.Millisecond
	s := open(t)
	for _, n := range []string{"n1", "n2", "n3"} {
		s.beat(t, n)
	}
	if got := list(t, s, 0, 10); len(got) > 0 {
		t.Errorf("%v are abandoned, expected none", got)
	}
	s.save(t, port.Hold{ID: "never claimed"}, "x")
	s.save(t, s.claim(t, "held", "n1"), "x")
	ended := s.claim(t, "ended", "n1")
	s.save(t, ended, "x")
	if err := s.Registry.Release(t.Context(), ended, true); err != nil {
		t.Fatal(err)
	}
	abandon := func(id string, how func(h port.Hold)) {
		h := s.claim(t, id, "n2")
		s.save(t, h, "x")
		how(h)
		until(t, id+" is abandoned", func() bool { return slices.Contains(list(t, s, moment, 10), id) })
	}
	abandon("z released", func(h port.Hold) {
		if err := s.Registry.Release(t.Context(), h, false); err != nil {
			t.Fatal(err)
		}
	})
	abandon("y of a dead node", func(port.Hold) { s.dies(t, "n2") })
	s.beat(t, "n2")
	s.claim(t, "y of a dead node", "n2")
	if err := s.Registry.Leave(t.Context(), "n2"); err != nil { // it gives the conversation up a second time
		t.Fatal(err)
	}
	s.beat(t, "n2")
	until(t, "y is abandoned again", func() bool { return slices.Contains(list(t, s, moment, 10), "y of a dead node") })
	abandon("x left", func(port.Hold) {
		if err := s.Registry.Leave(t.Context(), "n2"); err != nil {
			t.Fatal(err)
		}
	})
	all := []string{"z released", "y of a dead node", "x left"}
	if got := list(t, s, moment, 10); !slices.Equal(got, all) {
		t.Errorf("%q, expected %q", got, all)
	}
	if got := list(t, s, moment, 2); !slices.Equal(got, all[:2]) {
		t.Errorf("%q, expected %q", got, all[:2])
	}
	if got := list(t, s, time.Hour, 10); len(got) > 0 {
		t.Errorf("%q for an hour", got)
	}
	// One is claimed, another one is deleted.
	h := s.claim(t, "z released", "n3")
	if err := s.Store.Delete(t.Context(), "x left"); err != nil {
		t.Fatal(err)
	}
	if got := list(t, s, moment, 10); !slices.Equal(got, all[1:2]) {
		t.Errorf("%q, expected %q", got, all[1:2])
	}
	// A conversation that has ended is not abandoned until it is claimed again.
	if err := s.Registry.Release(t.Context(), h, true); err != nil {
		t.Fatal(err)
	}
	s.claim(t, "ended", "n3")
	s.dies(t, "n3")
	want := []string{"y of a dead node", "ended"}
	until(t, "it is abandoned", func() bool { return slices.Equal(list(t, s, moment, 10), want) })
}

func testTokens(t *testing.T, open func(*testing.T) Stores) {
	d := func(text string) []byte { return []byte((text + "................................")[:32]) }
	want := func(t *testing.T, s Stores, token, access, resume string) {
		t.Helper()
		id, ok, err := s.Registry.Access(t.Context(), d(token))
		if err != nil || ok != (access != "") || id != access {
			t.Errorf("Access(%s): %q, %v, error %v; expected %q", token, id, ok, err, access)
		}
		id, ok, err = s.Registry.Resume(t.Context(), d(token))
		if err != nil || ok != (resume != "") || id != resume {
			t.Errorf("Resume(%s): %q, %v, error %v; expected %q", token, id, ok, err, resume)
		}
	}
	grant := func(t *testing.T, s Stores, h port.Hold, access, resume string) {
		t.Helper()
		if err := s.Registry.Grant(t.Context(), h, port.Grant{Now: port.Tokens{Access: d(access), Resume: d(resume)}}); err != nil {
			t.Fatal(err)
		}
	}
	redeem := func(t *testing.T, s Stores, token string, want bool) {
		t.Helper()
		if ok, err := s.Registry.Redeem(t.Context(), d(token)); ok != want || err != nil {
			t.Errorf("Redeem(%s): %v, error %v", token, ok, err)
		}
	}
	t.Run("granted, replaced, redeemed", func(t *testing.T) {
		s := open(t)
		s.beat(t, "n1")
		h := s.claim(t, "a\xff", "n1")
		want(t, s, "x", "", "")
		redeem(t, s, "x", false)
		if _, ok, err := s.Registry.Resume(t.Context(), nil); ok || err != nil {
			t.Errorf("found %v, error %v, although no token was granted", ok, err)
		}
		grant(t, s, h, "access", "resume1")
		want(t, s, "access", h.ID, "")
		want(t, s, "resume1", "", h.ID)
		redeem(t, s, "access", false)
		redeem(t, s, "resume1", true)
		redeem(t, s, "resume1", false)
		want(t, s, "resume1", "", "")
		want(t, s, "access", h.ID, "")
		grant(t, s, h, "access", "resume2")
		grant(t, s, h, "access", "resume3")
		want(t, s, "access", h.ID, "")
		want(t, s, "resume2", "", "")
		redeem(t, s, "resume2", false)
		want(t, s, "resume3", "", h.ID)
		other := s.claim(t, "b", "n1")
		grant(t, s, other, "access of b", "resume of b")
		want(t, s, "access of b", "b", "")
		want(t, s, "access", h.ID, "")
	})
	t.Run("the tokens before stay good until the next grant without them", func(t *testing.T) {
		s := open(t)
		s.beat(t, "n1")
		h := s.claim(t, "a", "n1")
		next := func(now, before string) {
			t.Helper()
			g := port.Grant{Now: port.Tokens{Access: d("access" + now), Resume: d("resume" + now)}}
			if before != "" {
				g.Before.Resume = d("resume" + before)
			}
			if err := s.Registry.Grant(t.Context(), h, g); err != nil {
				t.Fatal(err)
			}
		}
		good := func(numbers ...string) {
			t.Helper()
			for _, n := range []string{"1", "2", "3", "4"} {
				id := ""
				if slices.Contains(numbers, n) {
					id = "a"
				}
				want(t, s, "access"+n, id, "")
				want(t, s, "resume"+n, "", id)
			}
		}
		next("1", "")
		good("1")
		next("2", "1")
		good("1", "2")
		next("2", "1") // the client's use of its tokens is not known to the store
		good("1", "2")
		next("3", "1") // the answer was lost, and the client asked again
		good("1", "3")
		h = s.claim(t, "a", "n1") // the process has died meanwhile
		good("1", "3")
		next("4", "3")
		good("3", "4")
		next("4", "")
		good("4")
		// Tokens that the store does not know are passed with the grant.
		g := port.Grant{Now: port.Tokens{Resume: d("resume1")}, Before: port.Tokens{Access: d("access2"), Resume: d("resume2")}}
		if err := s.Registry.Grant(t.Context(), h, g); err != nil {
			t.Fatal(err)
		}
		want(t, s, "access2", "a", "")
		want(t, s, "resume2", "", "a")
		redeem(t, s, "resume2", true)
		want(t, s, "resume2", "", "")
		want(t, s, "resume1", "", "a")
		next("2", "1")
		if err := s.Registry.Release(t.Context(), h, true); err != nil {
			t.Fatal(err)
		}
		good()
	})
	t.Run("who has lost a conversation can ask", func(t *testing.T) {
		s := open(t)
		s.beat(t, "n1")
		s.beat(t, "n2")
		lost := func(holds []port.Hold, want ...port.Hold) {
			t.Helper()
			got, err := s.Registry.Fenced(t.Context(), holds)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("fenced: %v, error %v, expected %v", got, err, want)
			}
		}
		a, b, c := s.claim(t, "a", "n1"), s.claim(t, "b", "n1"), s.claim(t, "c", "n1")
		all := []port.Hold{a, b, c}
		lost(nil)
		lost(all)
		if err := s.Registry.Leave(t.Context(), "n1"); err != nil {
			t.Fatal(err)
		}
		lost(all) // no other node has claimed them: n1 may write
		second := s.claim(t, "a", "n2")
		lost(all, a)
		if err := s.Store.Delete(t.Context(), "c"); err != nil {
			t.Fatal(err)
		}
		lost(append(all, second), a, c)
	})
	t.Run("it is fenced", func(t *testing.T) {
		s := open(t)
		s.beat(t, "n1")
		first := s.claim(t, "a", "n1")
		grant(t, s, first, "access", "resume")
		second := s.claim(t, "a", "n1")
		want(t, s, "access", "a", "") // a claim does not change them
		want(t, s, "resume", "", "a")
		wantFenced(t, "the first hold", s.Registry.Grant(t.Context(), first, port.Grant{Now: port.Tokens{Access: d("late"), Resume: d("later")}}))
		want(t, s, "late", "", "")
		want(t, s, "access", "a", "")
		grant(t, s, second, "new access", "new resume")
		want(t, s, "access", "", "")
		wantFenced(t, "nobody's", s.Registry.Grant(t.Context(), port.Hold{ID: "nobody"}, port.Grant{Now: port.Tokens{Access: d("late"), Resume: d("later")}}))
	})
	t.Run("they are forgotten with the conversation's end", func(t *testing.T) {
		s := open(t)
		s.beat(t, "n1")
		for _, end := range []func(port.Hold) error{
			func(h port.Hold) error { return s.Registry.Release(t.Context(), h, true) },
			func(h port.Hold) error { return s.Store.Delete(t.Context(), h.ID) },
		} {
			h := s.claim(t, "a", "n1")
			grant(t, s, h, "access", "resume")
			if err := s.Registry.Release(t.Context(), h, false); err != nil {
				t.Fatal(err)
			}
			want(t, s, "access", "a", "")
			want(t, s, "resume", "", "a")
			if err := end(h); err != nil {
				t.Fatal(err)
			}
			want(t, s, "access", "", "")
			want(t, s, "resume", "", "")
			redeem(t, s, "resume", false)
		}
	})
	t.Run("of fifty one redeems", func(t *testing.T) {
		s := open(t)
		s.beat(t, "n1")
		grant(t, s, s.claim(t, "a", "n1"), "access", "resume")
		var mu sync.Mutex
		redeemed := 0
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				ok, err := s.Registry.Redeem(t.Context(), d("resume"))
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				if ok {
					redeemed++
				}
			})
		}
		all.Wait()
		if redeemed != 1 {
			t.Errorf("%d calls have redeemed the token, expected one", redeemed)
		}
	})
}
