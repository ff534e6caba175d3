package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// other opens another connection to the database of a store.
func other(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return c
}

func execute(t *testing.T, c *pgx.Conn, text string, args ...any) {
	t.Helper()
	if _, err := c.Exec(t.Context(), text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// blocked returns how many connections wait for a lock of the connection's transaction.
func blocked(ctx context.Context, t *testing.T, c *pgx.Conn) (n int) {
	t.Helper()
	_, err := c.Exec(ctx, "SELECT pg_stat_clear_snapshot()") // else a transaction sees no change
	if err == nil {
		err = c.QueryRow(ctx, "SELECT count(*) FROM pg_stat_activity WHERE pg_backend_pid() = ANY (pg_blocking_pids(pid))").Scan(&n)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// waiting waits until another connection waits for a lock of the connection's transaction.
func waiting(t *testing.T, c *pgx.Conn) {
	t.Helper()
	eventually(t, func(ctx context.Context) error {
		if blocked(ctx, t, c) == 0 {
			return errors.New("nobody waits for the lock")
		}
		return nil
	})
}

func claimed(t *testing.T, s *Store, id, node string) port.Hold {
	t.Helper()
	if err := s.Beat(t.Context(), port.Node{ID: node}, time.Hour); err != nil {
		t.Fatal(err)
	}
	h, err := s.Claim(t.Context(), id, node)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestWriteWaitsForClaim checks that a write during a claim waits for it, and is refused only
// if the claim succeeds.
func TestWriteWaitsForClaim(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		write func(*Store, port.Hold) error
	}{
		{"save", func(s *Store, h port.Hold) error { return s.Save(t.Context(), h, []byte("x")) }},
		{"append", func(s *Store, h port.Hold) error { return s.Append(t.Context(), h, 1, []byte("x")) }},
		{"grant", func(s *Store, h port.Hold) error { return s.Grant(t.Context(), h, grant([]byte("a"), []byte("r"))) }},
	} {
		for _, end := range []string{"COMMIT", "ROLLBACK"} {
			t.Run(c.name+" "+end, func(t *testing.T) {
				url := server.Database(t)
				s, claimer := begun(t, Options{URL: url}), other(t, url)
				h := claimed(t, s, "a", "n1")
				execute(t, claimer, "BEGIN")
				execute(t, claimer, "UPDATE hocket.claims SET token = nextval('hocket.tokens')")
				done := make(chan error, 1)
				go func() { done <- c.write(s, h) }()
				waiting(t, claimer)
				execute(t, claimer, end)
				if err := <-done; errors.Is(err, port.ErrFenced) != (end == "COMMIT") || !errors.Is(err, port.ErrFenced) && err != nil {
					t.Errorf("error %v", err)
				}
			})
		}
	}
}

// TestClaimWaitsForWrite checks that a claim sees the last write under the previous hold.
func TestClaimWaitsForWrite(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	s, writer := begun(t, Options{URL: url}), other(t, url)
	h := claimed(t, s, "a", "n1")
	for _, text := range []string{saving, journalTable.appending(), recordingsTable.appending()} {
		execute(t, writer, "BEGIN")
		if text != saving {
			execute(t, writer, held+text, []byte(h.ID), h.Token, 1, []byte("written"))
		} else {
			execute(t, writer, held+text, []byte(h.ID), h.Token, []byte("written"), 1)
		}
		done := make(chan error, 1)
		go func() {
			var err error
			h, err = s.Claim(t.Context(), "a", "n1")
			done <- err
		}()
		waiting(t, writer)
		execute(t, writer, "COMMIT")
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		porttest.WantLoaded(t, s, "a", "written")
	}
}

// TestClaimSeesWhatItWaitedFor checks that a claim that waited for another one sees a node
// that began meanwhile.
func TestClaimSeesWhatItWaitedFor(t *testing.T) {
	url := server.Database(t)
	s, winner := begun(t, Options{URL: url}), other(t, url)
	claimed(t, s, "a", "n1")
	if err := s.Leave(t.Context(), "n1"); err != nil {
		t.Fatal(err)
	}
	if err := s.Beat(t.Context(), port.Node{ID: "n2"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	execute(t, winner, "BEGIN")
	execute(t, winner, "SELECT FROM hocket.claims FOR UPDATE")
	done := make(chan error, 1)
	go func() {
		_, err := s.Claim(t.Context(), "a", "n2")
		done <- err
	}()
	waiting(t, winner)
	execute(t, winner, "UPDATE hocket.claims SET token = nextval('hocket.tokens'), node = 'late'")
	if err := s.Beat(t.Context(), port.Node{ID: "late"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	execute(t, winner, "COMMIT")
	if h, ok := errors.AsType[*port.HeldError](<-done); !ok || h.Node.ID != "late" {
		t.Errorf("the hold is %v, expected that of late", h)
	}
}

// TestOfFiftyProcessesOneWins checks that of fifty claims at once, over connections of their own,
// exactly one succeeds.
func TestOfFiftyProcessesOneWins(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	const many = 50
	var stores [many]*Store
	for i := range stores {
		stores[i] = begun(t, Options{URL: url + "&pool_max_conns=1"})
		if err := stores[i].Beat(t.Context(), port.Node{ID: fmt.Sprint(i)}, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	for round := range 10 {
		var all sync.WaitGroup
		errs := make(chan error, many)
		for i, s := range stores {
			all.Go(func() {
				_, err := s.Claim(t.Context(), fmt.Sprint("conversation ", round), fmt.Sprint(i))
				errs <- err
			})
		}
		all.Wait()
		won := 0
		for range many {
			if err := <-errs; err == nil {
				won++
			} else if _, ok := errors.AsType[*port.HeldError](err); !ok {
				t.Error(err)
			}
		}
		if won != 1 {
			t.Fatalf("%d processes hold the conversation, expected 1", won)
		}
	}
}

// TestNoDeadlock makes all kinds of calls at once, on a few conversations and by several
// processes, and checks that none fails except by its own rules.
func TestNoDeadlock(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	var all sync.WaitGroup
	for i := range 8 {
		s := begun(t, Options{URL: url})
		node := fmt.Sprint("n", i%4)
		rnd := rand.New(rand.NewPCG(7, uint64(i)))
		all.Go(func() {
			for range 150 {
				if err := anything(t.Context(), s, rnd, node); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// anything makes a random call on one of three conversations.
func anything(ctx context.Context, s *Store, rnd *rand.Rand, node string) error {
	id := fmt.Sprint("c", rnd.IntN(3))
	switch rnd.IntN(6) {
	case 0:
		return s.Delete(ctx, id)
	case 1:
		_, err := s.Expire(ctx, time.Millisecond)
		return err
	case 2:
		return s.Leave(ctx, node)
	default:
	}
	if err := s.Beat(ctx, port.Node{ID: node}, time.Hour); err != nil {
		return err
	}
	h, err := s.Claim(ctx, id, node)
	if err != nil {
		if _, ok := errors.AsType[*port.HeldError](err); ok || errors.Is(err, errMoved) || errors.Is(err, errDead) {
			return nil // another one with the node's name has left
		}
		return err
	}
	for _, err := range []error{
		s.Save(ctx, h, []byte("x")), s.Append(ctx, h, 1, []byte("x")), s.Grant(ctx, h, grant([]byte(id+"a"), []byte(id+"r"))), s.Release(ctx, h, rnd.IntN(2) == 0),
	} {
		if err != nil && !errors.Is(err, port.ErrFenced) {
			return err
		}
	}
	return nil
}
