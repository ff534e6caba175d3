package tokens

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// want says what a secret is good for; empty: nothing.
func want(t *testing.T, k Keeper, secret, value string) {
	t.Helper()
	got, ok, err := k.Find(t.Context(), secret)
	if err != nil || ok != (value != "") || string(got) != value {
		t.Errorf("%s is good for %q, %v, error %v; expected %q", secret, got, ok, err, value)
	}
}

func spend(t *testing.T, k Keeper, secret, value string) {
	t.Helper()
	got, ok, err := k.Spend(t.Context(), secret)
	if err != nil || ok != (value != "") || ok && string(got) != value {
		t.Errorf("%s is spent for %q, %v, error %v; expected %q", secret, got, ok, err, value)
	}
}

func keep(t *testing.T, k Keeper, secret string) {
	t.Helper()
	if err := k.Keep(t.Context(), secret, []byte("value"), time.Minute); err != nil {
		t.Fatal(err)
	}
}

// TestMemory: a secret is good until it is spent or its time is over, and there is room
// for so many.
func TestMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := NewMemory(2)
		keep(t, m, "a")
		keep(t, m, "b")
		if err := m.Keep(t.Context(), "c", nil, time.Minute); !errors.Is(err, port.ErrTickets) {
			t.Errorf("one too many: %v", err)
		}
		want(t, m, "a", "value")
		spend(t, m, "a", "value")
		spend(t, m, "a", "")
		want(t, m, "a", "")
		time.Sleep(time.Minute)
		want(t, m, "b", "")
		spend(t, m, "b", "")
		keep(t, m, "c")
		want(t, m, "c", "value")
	})
}

// unreliable is a store that may be away, or do what it is asked and not say so.
type unreliable struct {
	*porttest.Store
	mu         sync.Mutex
	away, mute bool
}

var errNoRoute = errors.New("no route to the store")

func (u *unreliable) set(away, mute bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.away, u.mute = away, mute
}

func (u *unreliable) answers(do func() error) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.away {
		return errNoRoute
	}
	err := do()
	if u.mute {
		return errNoRoute
	}
	return err
}

func (u *unreliable) KeepTicket(ctx context.Context, kind string, digest, value []byte, ttl time.Duration, most int) error {
	return u.answers(func() error { return u.Store.KeepTicket(ctx, kind, digest, value, ttl, most) })
}

func (u *unreliable) FindTicket(ctx context.Context, kind string, digest []byte) (value []byte, ok bool, err error) {
	err = u.answers(func() error { value, ok, err = u.Store.FindTicket(ctx, kind, digest); return err })
	return value, ok, err
}

func (u *unreliable) SpendTicket(ctx context.Context, kind string, digest []byte) (value []byte, ok bool, err error) {
	err = u.answers(func() error { value, ok, err = u.Store.SpendTicket(ctx, kind, digest); return err })
	return value, ok, err
}

// TestShared: what one process keeps another finds, and one of all spends it. The secret
// itself is nowhere.
func TestShared(t *testing.T) {
	store := &porttest.Store{}
	one, two := NewShared(SharedOptions{Store: store, Kind: "k", Most: 2, Limit: time.Second}), NewShared(SharedOptions{Store: store, Kind: "k", Most: 2, Limit: time.Second})
	keep(t, one, "a")
	want(t, two, "a", "value")
	digest := sha256.Sum256([]byte("a"))
	if _, ok, err := store.FindTicket(t.Context(), "k", digest[:]); !ok || err != nil {
		t.Errorf("it is not kept by its digest: %v", err)
	}
	if _, ok, err := store.FindTicket(t.Context(), "k", []byte("a")); ok || err != nil {
		t.Errorf("it is kept as it is: %v", err)
	}
	keep(t, two, "b")
	if err := one.Keep(t.Context(), "c", nil, time.Minute); !errors.Is(err, port.ErrTickets) {
		t.Errorf("one too many: %v", err)
	}
	spent := make(chan bool)
	for i := range 20 {
		k := []*Shared{one, two}[i%2]
		go func() { _, ok, err := k.Spend(t.Context(), "a"); spent <- ok && err == nil }()
	}
	n := 0
	for range 20 {
		if <-spent {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d have spent it", n)
	}
}

// TestStoreAway: what is kept while the store is away is good in its own process, once,
// and in all when the store is back; what the store alone knows nobody can tell.
func TestStoreAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &unreliable{Store: &porttest.Store{}}
		away := false
		o := SharedOptions{Store: store, Kind: "k", Most: 9, Limit: time.Second, Away: func() bool { return away }}
		one, two := NewShared(o), NewShared(o)
		keep(t, one, "before")
		store.set(true, false)
		for _, known := range []bool{false, true} { // the node has noticed, or not yet
			away = known
			for _, s := range []string{"kept", "spent", "late"} {
				keep(t, one, fmt.Sprint(s, known))
			}
			want(t, one, fmt.Sprint("kept", known), "value")
			spend(t, one, fmt.Sprint("spent", known), "value")
			spend(t, one, fmt.Sprint("spent", known), "")
			for _, k := range []*Shared{one, two} {
				if _, ok, err := k.Spend(t.Context(), "before"); ok || err == nil {
					t.Errorf("nobody knows whether it was spent: %v, error %v", ok, err)
				}
				if _, ok, err := k.Find(t.Context(), "before"); ok || err == nil {
					t.Errorf("nobody knows whether it is good: %v, error %v", ok, err)
				}
			}
		}
		if err := one.Flush(t.Context()); err == nil {
			t.Error("a store that is away has taken all")
		}
		store.set(false, false)
		away = false
		if err := one.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := len(one.here.list); n != 0 {
			t.Errorf("%d are still here", n)
		}
		for _, known := range []bool{false, true} {
			want(t, two, fmt.Sprint("kept", known), "value")
			want(t, two, fmt.Sprint("spent", known), "")
			spend(t, two, fmt.Sprint("kept", known), "value")
			spend(t, one, fmt.Sprint("kept", known), "")
		}
		spend(t, two, "before", "value")
		time.Sleep(time.Minute)
		want(t, one, "latetrue", "")
	})
}

// TestUnheard: a store that has kept a secret without saying so has it once.
func TestUnheard(t *testing.T) {
	store := &unreliable{Store: &porttest.Store{}}
	o := SharedOptions{Store: store, Kind: "k", Most: 9, Limit: time.Second}
	one, two := NewShared(o), NewShared(o)
	store.set(false, true)
	keep(t, one, "a")
	keep(t, one, "b")
	store.set(false, false)
	spend(t, two, "a", "value")
	spend(t, one, "a", "")
	if err := one.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	spend(t, one, "a", "")
	spend(t, one, "b", "value")
	spend(t, two, "b", "")
}

// TestTimeIsOver: what nobody has used in its time is not given to the store any more.
func TestTimeIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &unreliable{Store: &porttest.Store{}, away: true}
		s := NewShared(SharedOptions{Store: store, Kind: "k", Most: 9, Limit: time.Second})
		keep(t, s, "a")
		time.Sleep(time.Minute)
		if err := s.Flush(t.Context()); err != nil || len(s.here.list) != 0 {
			t.Errorf("%d are still here, error %v", len(s.here.list), err)
		}
	})
}
