package postgres

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/porttest"
)

// TestNothingIsLeft checks that no row of a deleted or expired conversation is left. PostgreSQL
// removes the bytes from the tables' files later, when it vacuums them.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	s, admin := begun(t, Options{URL: url}), other(t, url)
	for name, remove := range map[string]func(id string) error{
		"delete": func(id string) error { return s.Delete(t.Context(), id) },
		"expire": func(string) error {
			if err := s.Leave(t.Context(), "node"); err != nil {
				return err
			}
			for n := 0; n == 0; { // until the clock has gone on
				var err error
				if n, err = s.Expire(t.Context(), time.Millisecond); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		h := claimed(t, s, "Shatterhand of "+name, "node")
		// Words that compression does not hide.
		if err := errors.Join(s.Save(t.Context(), h, []byte("Winnetou of "+name)), s.Append(t.Context(), h, 1, []byte("Nscho-tschi of "+name)),
			s.Grant(t.Context(), h, grant([]byte("access of "+name), []byte("resume of "+name)))); err != nil {
			t.Fatal(err)
		}
		if err := s.Recordings().Append(t.Context(), h, 1, []byte("Ribanna of "+name)); err != nil {
			t.Fatal(err)
		}
		words := []string{"Winnetou of " + name, "Ribanna of " + name, "Nscho-tschi of " + name, "access of " + name, "resume of " + name, "Shatterhand of " + name}
		execute(t, admin, "CHECKPOINT")
		there := server.Words(t, url, words)
		for _, w := range words {
			if len(there[w]) == 0 {
				t.Errorf("%q is in no file before the deletion: the test cannot fail", w)
			}
		}
		if err := remove(h.ID); err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"snapshots", "journal", "recordings", "claims"} {
			var n int
			if err := admin.QueryRow(t.Context(), "SELECT count(*) FROM hocket."+table).Scan(&n); err != nil || n > 0 {
				t.Errorf("%s: %d rows are left in %s, error %v", name, n, table, err)
			}
		}
		// A vacuum leaves rows that a concurrent transaction may still see, for example that
		// of an automatic analysis.
		waittest.Until(t, "the files without what was removed with "+name, nil, func() bool {
			execute(t, admin, "VACUUM FULL")
			execute(t, admin, "SELECT pg_switch_wal()")
			execute(t, admin, "CHECKPOINT")
			for w, files := range server.Words(t, url, words) {
				for _, file := range files {
					if !strings.HasPrefix(file, "pg_wal/") {
						t.Logf("%q is in %s", w, file)
						return false
					}
				}
			}
			return true
		})
	}
}

// TestExpireLooksAgain checks that conversations saved or claimed after they were found to be
// old stay, and that those deleted by others are not counted.
func TestExpireLooksAgain(t *testing.T) {
	t.Parallel()
	url := server.Database(t)
	s, admin := begun(t, Options{URL: url}), other(t, url)
	for _, id := range []string{"old", "saved again", "claimed again"} {
		porttest.Save(t, s, id, "x")
	}
	given := claimed(t, s, "given up again", "node")
	execute(t, admin, "UPDATE hocket.snapshots SET saved = now() - interval '1 hour'")
	execute(t, admin, "UPDATE hocket.claims SET moved = now() - interval '1 hour'")
	porttest.Save(t, s, "saved again", "y")
	claimed(t, s, "claimed again", "node")
	if err := s.Release(t.Context(), given, false); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]bool{"old": true, "saved again": false, "claimed again": false, "given up again": false, "deleted": false} {
		if gone, err := s.removeDead(t.Context(), []byte(id), time.Minute); gone != want || err != nil {
			t.Errorf("%s: deleted %v, error %v", id, gone, err)
		}
	}
	if _, ok, err := s.Load(t.Context(), "old"); ok || err != nil {
		t.Errorf("there %v, error %v", ok, err)
	}
	porttest.WantLoaded(t, s, "saved again", "y")
	porttest.WantLoaded(t, s, "claimed again", "x")
	if err := s.Grant(t.Context(), given, grant([]byte("access"), nil)); err != nil {
		t.Errorf("its claim is gone: %v", err)
	}
	var left int
	if err := admin.QueryRow(t.Context(), "SELECT count(*) FROM hocket.claims WHERE token = 0").Scan(&left); err != nil || left > 0 {
		t.Errorf("%d claims are left that were made for the lock, error %v", left, err)
	}
}
