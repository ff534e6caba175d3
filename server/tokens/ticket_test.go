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

// want checks the value of a secret; empty means that it has none.
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

// TestMemory checks that a secret is valid until it is spent or expires, and the
// limit of secrets.
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

// unreliable is a store that may be unavailable, or may carry out a request and
// report a failure.
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

// TestShared checks that all processes find a secret and one of them spends it, and
// that the secret itself is not stored.
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

// TestStoreAway checks that a secret kept while the store is unavailable is valid
// once in its own process, and in all processes when the store is back, and that
// secrets known only to the store cannot be looked up meanwhile.
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

// TestUnheard checks that a store that has kept a secret and reported a failure has
// it once.
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

// TestTimeIsOver checks that expired secrets are not written to the store.
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
