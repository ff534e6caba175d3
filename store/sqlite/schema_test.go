package sqlite

import (
	"database/sql"
	"fmt"
	"io/fs"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/hocketvoice/hocket/porttest"
)

// atVersion creates a file with the schema of a version, as the program of that version left
// it.
func atVersion(t *testing.T, path string, version int64) *sql.DB {
	t.Helper()
	db := raw(t, path)
	execute(t, db, fmt.Sprintf("PRAGMA application_id = %d", applicationID))
	execute(t, db, "PRAGMA journal_mode = WAL")
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		t.Fatal(err)
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithLogger(goose.NopLogger()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	return db
}

func versionOf(t *testing.T, path string) int64 {
	t.Helper()
	v, err := inspect(t.Context(), raw(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

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

func TestMigratesAnEmptyFile(t *testing.T) {
	path := newPath(t)
	s := begun(t, Options{Path: path})
	if v := versionOf(t, path); v != schemaVersion {
		t.Errorf("version %d", v)
	}
	porttest.Save(t, s, "call", "step")
	// A second time there is nothing to do: it works while the file is in use.
	porttest.WantLoaded(t, begun(t, Options{Path: path}), "call", "step")
}

func TestMigratesFromVersion1(t *testing.T) {
	path := newPath(t)
	old := atVersion(t, path, 1)
	const insert = "INSERT INTO snapshots (id, saved, checksum, snapshot) VALUES (?, ?, ?, ?)"
	for i, id := range []string{"a", "b"} {
		if _, err := old.ExecContext(t.Context(), insert, []byte(id), 1000*i, checksum(id, []byte("step")), []byte("step")); err != nil {
			t.Fatal(err)
		}
	}
	// A process of that version still has it open.
	_, err := Open(t.Context(), Options{Path: path, BusyTimeout: 20 * time.Millisecond})
	porttest.WantError(t, err, path, "other processes have locked the file", "wait for exclusive access to the file")
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	s := begun(t, Options{Path: path})
	if v := versionOf(t, path); v != schemaVersion {
		t.Errorf("version %d", v)
	}
	porttest.WantLoaded(t, s, "a", "step")
	if list, err := s.List(t.Context(), 2); err != nil || len(list) != 2 || list[0].ID != "b" {
		t.Errorf("%v, error %v", list, err)
	}
	var plan string
	row := s.reader.QueryRowContext(t.Context(), "EXPLAIN QUERY PLAN SELECT id FROM snapshots WHERE saved < 1")
	if err := row.Scan(new(int), new(int), new(int), &plan); err != nil || plan != "SEARCH snapshots USING INDEX snapshots_by_time (saved<?)" {
		t.Errorf("%q, error %v", plan, err)
	}
}

// TestMigrationThatWasCutOff checks a file whose process died after the mark, or after the
// first migration.
func TestMigrationThatWasCutOff(t *testing.T) {
	for version := range int64(schemaVersion) {
		path := newPath(t)
		db := raw(t, path)
		execute(t, db, fmt.Sprintf("PRAGMA application_id = %d", applicationID))
		if version > 0 {
			db = atVersion(t, path, version)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		s := begun(t, Options{Path: path})
		porttest.Save(t, s, "call", "step")
		porttest.WantLoaded(t, s, "call", "step")
	}
}

func TestNewerVersionIsRefused(t *testing.T) {
	path := newPath(t)
	db := atVersion(t, path, schemaVersion)
	execute(t, db, fmt.Sprintf("INSERT INTO goose_db_version (version_id, is_applied) VALUES (%d, 1)", schemaVersion+1))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), Options{Path: path})
	porttest.WantError(t, err, path, fmt.Sprintf("schema version %d: expected at most %d (a newer program has used it)", schemaVersion+1, schemaVersion))
}
