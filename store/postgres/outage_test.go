package postgres

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// calls returns every call of a store, by name.
func calls(s *Store) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"save":   func(ctx context.Context) error { return s.Save(ctx, port.Hold{ID: "a"}, []byte("x")) },
		"load":   func(ctx context.Context) error { _, _, err := s.Load(ctx, "a"); return err },
		"delete": func(ctx context.Context) error { return s.Delete(ctx, "b") },
		"append": func(ctx context.Context) error { return s.Append(ctx, port.Hold{ID: "a"}, 1, nil) },
		"read": func(ctx context.Context) error {
			return s.Read(ctx, "a", func(int, []byte) error { return nil })
		},
		"beat":      func(ctx context.Context) error { return s.Beat(ctx, port.Node{ID: "n"}, time.Hour) },
		"nodes":     func(ctx context.Context) error { _, err := s.Nodes(ctx); return err },
		"leave":     func(ctx context.Context) error { return s.Leave(ctx, "m") },
		"holder":    func(ctx context.Context) error { _, _, err := s.Holder(ctx, "a"); return err },
		"release":   func(ctx context.Context) error { return s.Release(ctx, port.Hold{ID: "a"}, false) },
		"abandoned": func(ctx context.Context) error { _, err := s.Abandoned(ctx, time.Hour, 1); return err },
		"access":    func(ctx context.Context) error { _, _, err := s.Access(ctx, []byte("a")); return err },
		"redeem":    func(ctx context.Context) error { _, err := s.Redeem(ctx, []byte("a")); return err },
		"list":      func(ctx context.Context) error { _, err := s.List(ctx, 1); return err },
		"expire":    func(ctx context.Context) error { _, err := s.Expire(ctx, time.Hour); return err },
		"claim":     func(ctx context.Context) error { _, err := s.Claim(ctx, "held", "n"); return err },
	}
}

// eventually makes a call until it succeeds.
func eventually(t *testing.T, call func(context.Context) error) {
	t.Helper()
	ctx := waittest.Context(t)
	waittest.Until(t, "a call that succeeds", nil, func() bool { return call(ctx) == nil })
}

// allFail makes every call at once, several times each, and checks that each fails.
func allFail(t *testing.T, s *Store, words ...string) {
	t.Helper()
	begin := time.Now()
	var errs []chan error
	for range 3 {
		for name, call := range calls(s) {
			c := make(chan error, 1)
			go func() {
				err := call(t.Context())
				if err == nil {
					err = errors.New(name + " succeeds")
				}
				c <- err
			}()
			errs = append(errs, c)
		}
	}
	for _, c := range errs {
		wantError(t, <-c, words...)
	}
	t.Logf("%d calls failed within %v", len(errs), time.Since(begin).Round(time.Millisecond))
}

func allSucceed(t *testing.T, s *Store) {
	t.Helper()
	for name, call := range calls(s) {
		if err := call(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestServerRestarts checks that each call fails at once while the database is stopped, and
// that the store has what was written when it is back.
func TestServerRestarts(t *testing.T) {
	s := begun(t, Options{URL: server.Database(t)})
	h := claimed(t, s, "held", "n")
	if err := s.Save(t.Context(), h, []byte("before")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		server.Halt(t)
		allFail(t, s, s.name)
		allFail(t, s, "connect")
		server.Continue(t)
		eventually(t, calls(s)["beat"])
		allSucceed(t, s)
		porttest.WantLoaded(t, s, "held", "before")
	}
}

// TestConnectionsAreCut checks that running calls fail when their connections are cut, and
// that the next ones succeed.
func TestConnectionsAreCut(t *testing.T) {
	p, url := server.Proxy(t, server.Database(t))
	s := begun(t, Options{URL: url})
	eventually(t, calls(s)["beat"])
	for range 5 {
		p.Cut()
		eventually(t, calls(s)["save"])
		eventually(t, calls(s)["beat"])
	}
	p.Cut()
	eventually(t, calls(s)["nodes"])
	porttest.WantLoaded(t, s, "a", "x")
}

// TestDeadConnection checks that each call ends with its own limit or the caller's if the database
// does not answer and the connection stays open.
func TestDeadConnection(t *testing.T) {
	p, url := server.Proxy(t, server.Database(t))
	const limit = 2 * time.Second // a busy machine answers within it
	s := begun(t, Options{URL: url, Timeout: limit})
	eventually(t, calls(s)["beat"])
	p.Die()
	allFail(t, s, s.name, "no answer within 2s")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	long := patient(s)
	go func() { done <- long.Save(ctx, port.Hold{ID: "a"}, nil) }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	_, err := Open(t.Context(), Options{URL: url, Timeout: limit})
	wantError(t, err, "open", "no answer within 2s")
	p.Revive()
	eventually(t, calls(s)["beat"])
	for _, call := range calls(s) {
		eventually(t, call) // some connections are dead still
	}
	eventually(t, func(context.Context) error { // those that are broken are closed behind the calls
		if n := s.pool.Stat().AcquiredConns(); n > 0 {
			return fmt.Errorf("%d connections are in use", n)
		}
		return nil
	})
}

// patient returns the same store with a limit longer than the test.
func patient(s *Store) *Store {
	p := *s
	p.opts.Timeout = time.Hour
	return &p
}

// TestStatementTimeout checks that the database ends a statement that takes too long and
// releases its locks, even if it is not told that the caller has gone.
func TestStatementTimeout(t *testing.T) {
	url := server.Database(t)
	p, through := server.Proxy(t, url)
	s, blocker := begun(t, Options{URL: through, Timeout: 2 * time.Second}), other(t, url)
	h := claimed(t, s, "a", "n1")
	execute(t, blocker, "BEGIN")
	execute(t, blocker, "UPDATE hocket.claims SET moved = now()")
	wantError(t, s.Save(t.Context(), h, []byte("x")), `save "a"`)
	// Those that wait for the lock end although their connection is dead.
	done := make(chan error, 1)
	go func() { done <- s.Save(t.Context(), h, []byte("x")) }()
	waiting(t, blocker)
	p.Die()
	wantError(t, <-done, "no answer within 2s")
	eventually(t, func(ctx context.Context) error {
		if n := blocked(ctx, t, blocker); n > 0 {
			return fmt.Errorf("%d statements still wait", n)
		}
		return nil
	})
	p.Revive()
	execute(t, blocker, "COMMIT")
	eventually(t, func(ctx context.Context) error { return s.Save(ctx, h, []byte("y")) })
	porttest.WantLoaded(t, s, "a", "y")
}

// TestPoolIsBounded checks that a store has no more connections than its URL says, and that a
// call without a free one waits for its limit.
func TestPoolIsBounded(t *testing.T) {
	s := begun(t, Options{URL: server.Database(t) + "&pool_max_conns=2", Timeout: time.Hour})
	done := make(chan error, 30)
	for i := range cap(done) {
		go func() { done <- s.Save(t.Context(), port.Hold{ID: fmt.Sprint(i)}, []byte("x")) }()
	}
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if n := s.pool.Stat().TotalConns(); n > 2 {
		t.Errorf("%d connections", n)
	}
	for range 2 {
		c, err := s.pool.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Release()
	}
	hasty := *s
	hasty.opts.Timeout = 50 * time.Millisecond
	wantError(t, hasty.Save(t.Context(), port.Hold{ID: "a"}, nil), "no answer within 50ms")
}
