package postgres

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// TestStatementsThatArriveLate checks statements that a process has given up and repeated,
// and that reach the database late, from the buffers of a network that was away. They must
// not restore an older state of a conversation, earlier tokens of its client, or a claim that
// fences the process that continues it.
func TestStatementsThatArriveLate(t *testing.T) {
	url := server.Database(t)
	p, through := server.Proxy(t, url)
	now := begun(t, Options{URL: url})
	h := claimed(t, now, "a", "n")
	tokens := func(name string) port.Grant {
		return port.Grant{Now: port.Tokens{Access: []byte("a" + name), Resume: []byte("r" + name)}}
	}
	was, err := now.claimed(t.Context(), []byte("b"))
	if err != nil {
		t.Fatal(err)
	}
	late := []func(ctx context.Context, s *Store, id string) error{
		func(ctx context.Context, s *Store, _ string) error { return s.Save(ctx, h, []byte("old")) },
		func(ctx context.Context, s *Store, _ string) error { return s.Grant(ctx, h, tokens("old")) },
		func(ctx context.Context, s *Store, id string) error {
			_, err := s.claim(ctx, []byte(id), []byte("n"), was)
			return err
		},
	}
	// Each call has a connection of its own and was made on it before, so that it is sent at
	// once.
	var stores []*Store
	for _, call := range late {
		s := begun(t, Options{URL: through + "&application_name=late&pool_max_conns=1"})
		s.writes = now.writes
		if err := call(t.Context(), s, "warm"); err != nil {
			t.Fatal(err)
		}
		stores = append(stores, s)
	}
	p.Die()
	for i, call := range late {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		if err := call(ctx, stores[i], "b"); err == nil {
			t.Error("a dead connection has answered")
		}
		cancel()
	}
	if err := now.Save(t.Context(), h, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if err := now.Grant(t.Context(), h, tokens("new")); err != nil {
		t.Fatal(err)
	}
	b, err := now.Claim(t.Context(), "b", "n")
	if err != nil {
		t.Fatal(err)
	}
	p.Revive()
	eventually(t, func(ctx context.Context) error { // what came late is done, and its connections are closed
		var n int
		err := now.pool.QueryRow(ctx, "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'late'").Scan(&n)
		if err == nil && n > 0 {
			err = fmt.Errorf("%d late connections are open", n)
		}
		return err
	})
	porttest.WantLoaded(t, now, "a", "new")
	for token, want := range map[string]string{"rnew": "a", "rold": ""} {
		if id, _, err := now.Resume(t.Context(), []byte(token)); err != nil || id != want {
			t.Errorf("%s is valid for %q, error %v; expected %q", token, id, err, want)
		}
	}
	if lost, err := now.Fenced(t.Context(), []port.Hold{h, b}); err != nil || len(lost) > 0 {
		t.Errorf("%v are fenced, error %v", lost, err)
	}
}

// TestWritesOfTheNextClaim checks that a process whose numbers start again can write under
// its own claim.
func TestWritesOfTheNextClaim(t *testing.T) {
	url := server.Database(t)
	first, next := begun(t, Options{URL: url}), begun(t, Options{URL: url})
	for range 5 {
		h := claimed(t, first, "a", "n")
		if err := first.Save(t.Context(), h, []byte("first")); err != nil {
			t.Fatal(err)
		}
		if err := first.Grant(t.Context(), h, port.Grant{Now: port.Tokens{Resume: []byte("first")}}); err != nil {
			t.Fatal(err)
		}
	}
	h := claimed(t, next, "a", "n")
	if err := next.Save(t.Context(), h, []byte("next")); err != nil {
		t.Fatal(err)
	}
	if err := next.Grant(t.Context(), h, port.Grant{Now: port.Tokens{Resume: []byte("next")}}); err != nil {
		t.Fatal(err)
	}
	porttest.WantLoaded(t, next, "a", "next")
	if id, _, err := next.Resume(t.Context(), []byte("next")); err != nil || id != "a" {
		t.Errorf("%q, error %v", id, err)
	}
}
