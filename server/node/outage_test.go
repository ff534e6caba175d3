package node

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

func (u *unreachable) Access(ctx context.Context, digest []byte) (string, bool, error) {
	if u.down {
		return "", false, errNoRoute
	}
	return u.Store.Access(ctx, digest)
}

func (u *unreachable) Resume(ctx context.Context, digest []byte) (string, bool, error) {
	if u.down {
		return "", false, errNoRoute
	}
	return u.Store.Resume(ctx, digest)
}

func (u *unreachable) Holder(ctx context.Context, id string) (port.Node, bool, error) {
	if u.down {
		return port.Node{}, false, errNoRoute
	}
	return u.Store.Holder(ctx, id)
}

// TestGoodTokensNotFoundAfterAnOutage: a token that one node has given while the store was
// away is not "not known" at another one when the store is back: nobody can tell until the
// first has told the store, and a conversation that it holds is not taken from it
// meanwhile, however long the outage was. Then all know.
func TestGoodTokensNotFoundAfterAnOutage(t *testing.T) {
	for _, outage := range []time.Duration{nodeBeat, 3 * nodeBeat, 3 * TTL} {
		synctest.Test(t, func(t *testing.T) {
			mem := &porttest.Store{}
			away := &unreachable{Store: mem}
			var nodes []*Home
			for _, name := range []string{"a", "b"} {
				h, err := open(t, away, name)
				if err != nil {
					t.Fatal(err)
				}
				nodes = append(nodes, h)
			}
			a, b := nodes[0], nodes[1]
			if _, err := a.Claim(t.Context(), "before"); err != nil {
				t.Fatal(err)
			}
			beatFor := func(d time.Duration, who ...*Home) {
				for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(nodeBeat) {
					for _, h := range who {
						h.beat(t.Context())
					}
				}
			}
			away.down = true
			beatFor(outage, a, b)
			for _, id := range []string{"before", "begun"} {
				if id == "begun" {
					if _, err := a.Claim(t.Context(), id); err != nil {
						t.Fatal(err)
					}
				}
				if err := a.Grant(t.Context(), id, port.Grant{Now: port.Tokens{Access: []byte("a" + id), Resume: []byte("r" + id)}}); err == nil {
					t.Fatal("a store that is away has taken a token")
				}
			}
			away.down = false
			unsure := func(when string) {
				t.Helper()
				_, known, err := b.Resume(t.Context(), []byte("rbefore"))
				_, known2, err2 := b.Access(t.Context(), []byte("abefore"))
				if known || known2 || !errors.Is(err, ErrUnsure) || !errors.Is(err2, ErrUnsure) {
					t.Errorf("%v, %s: the tokens are known %v, %v, errors %v, %v", outage, when, known, known2, err, err2)
				}
				if _, held, err := b.Holder(t.Context(), "begun"); held || !errors.Is(err, ErrUnsure) {
					t.Errorf("%v, %s: it is held %v, error %v", outage, when, held, err)
				}
				if _, _, err := b.Take(t.Context(), "before"); !errors.Is(err, ErrUnsure) {
					t.Errorf("%v, %s: it is taken from who holds it: %v", outage, when, err)
				}
			}
			unsure("at once")
			b.beat(t.Context())
			unsure("when b has heard the store")
			time.Sleep(nodeBeat - time.Millisecond)
			a.beat(t.Context())
			if id, ok, err := b.Resume(t.Context(), []byte("rbefore")); id != "before" || !ok || err != nil {
				t.Errorf("%v: %q, %v, error %v", outage, id, ok, err)
			}
			if token, err := a.Claim(t.Context(), "begun"); err != nil || token == 0 { // its session asks again
				t.Fatalf("token %d, error %v", token, err)
			}
			if id, ok, err := b.Access(t.Context(), []byte("abegun")); id != "begun" || !ok || err != nil {
				t.Errorf("%v: %q, %v, error %v", outage, id, ok, err)
			}
			beatFor(TTL, a, b)
			if _, ok, err := b.Resume(t.Context(), []byte("rnothing")); ok || err != nil {
				t.Errorf("%v: a token that nobody has given: %v, error %v", outage, ok, err)
			}
			if held := (*port.HeldError)(nil); !func() bool { _, _, err := b.Take(t.Context(), "before"); return errors.As(err, &held) }() {
				t.Errorf("%v: it is taken from who holds it", outage)
			}
		})
	}
}
