package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"testing"

	"github.com/hocketvoice/hocket/porttest"
)

func TestSchemaVersionIsThatOfTheLastMigration(t *testing.T) {
	files, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil || len(files) != schemaVersion {
		t.Fatalf("%d migrations, schemaVersion is %d (%v)", len(files), schemaVersion, err)
	}
	for i, f := range files {
		var n int
		if _, err := fmt.Sscanf(f, "migrations/%05d_", &n); err != nil || n != i+1 {
			t.Errorf("%s: expected number %d", f, i+1)
		}
	}
}

// TestConcurrentOpen checks that one of several processes that find no schema creates it, with
// as few connections as possible.
func TestConcurrentOpen(t *testing.T) {
	url := server.Database(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			s, err := Open(t.Context(), Options{URL: url + "&pool_max_conns=1"})
			if err != nil {
				t.Error(err)
				return
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	var n int
	if err := other(t, url).QueryRow(t.Context(), "SELECT count(*) FROM "+versions+" WHERE version_id > 0").Scan(&n); err != nil || n != schemaVersion {
		t.Errorf("%d migrations were run, error %v", n, err)
	}
	s := begun(t, Options{URL: url})
	porttest.Save(t, s, "a", "x")
	porttest.WantLoaded(t, s, "a", "x")
}

// TestOpenExistingOnly checks that opening an existing store only does not create one.
func TestOpenExistingOnly(t *testing.T) {
	url := server.Database(t)
	_, err := Open(t.Context(), Options{URL: url, Existing: true})
	if wantError(t, err, "the database does not contain a store"); !errors.Is(err, ErrNone) {
		t.Errorf("error %v", err)
	}
	var there bool
	if err := other(t, url).QueryRow(t.Context(), "SELECT to_regnamespace('hocket') IS NOT NULL").Scan(&there); err != nil || there {
		t.Errorf("a schema is there: %v, error %v", there, err)
	}
	porttest.Save(t, begun(t, Options{URL: url}), "a", "x")
	porttest.WantLoaded(t, begun(t, Options{URL: url, Existing: true}), "a", "x")
}

// TestSchemaOfAnAdministrator checks that a role that must not create a schema can use an
// existing one.
func TestSchemaOfAnAdministrator(t *testing.T) {
	url := server.Database(t)
	admin := other(t, url)
	execute(t, admin, "CREATE ROLE tenant LOGIN; CREATE SCHEMA hocket AUTHORIZATION tenant")
	t.Cleanup(func() {
		if _, err := admin.Exec(context.Background(), "DROP OWNED BY tenant; DROP ROLE tenant"); err != nil {
			t.Error(err)
		}
	})
	s := begun(t, Options{URL: url + "&role=tenant"})
	porttest.Save(t, s, "a", "x")
	porttest.WantLoaded(t, s, "a", "x")
	_, err := Open(t.Context(), Options{URL: server.Database(t) + "&role=tenant"})
	wantError(t, err, "migrate from version 0", "permission denied")
}

func TestNewerVersionIsRefused(t *testing.T) {
	url := server.Database(t)
	s := begun(t, Options{URL: url})
	execute(t, other(t, url), fmt.Sprintf("INSERT INTO %s (version_id, is_applied) VALUES (%d, true)", versions, schemaVersion+1))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), Options{URL: url})
	wantError(t, err, fmt.Sprintf("version %d: expected at most %d (a newer program has used it)", schemaVersion+1, schemaVersion))
}

// TestReopened checks that a reopened store has what was saved, and that a closed
// store returns an error.
func TestReopened(t *testing.T) {
	url := server.Database(t)
	first := begun(t, Options{URL: url})
	porttest.Save(t, first, "a", "at step 7")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	_, _, err := first.Load(t.Context(), "a")
	wantError(t, err, "closed pool")
	porttest.WantLoaded(t, begun(t, Options{URL: url}), "a", "at step 7")
}
