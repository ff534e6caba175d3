package sqlitefile

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPrepare checks that a file is created, that an existing file is kept, and that
// nobody else can read it or the files beside it.
func TestPrepare(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?c=1.db")
	for _, text := range []string{"", "what was there"} {
		if text != "" {
			for _, suffix := range []string{"", "-wal", "-shm"} {
				if err := os.WriteFile(path+suffix, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(path+suffix, 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := Prepare(path); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != text {
			t.Errorf("%q, error %v", b, err)
		}
		files, err := fs.Glob(os.DirFS(filepath.Dir(path)), "*")
		if err != nil || len(files) != 1+len(text)/len("what was there")*2 {
			t.Errorf("the files %q, error %v", files, err)
		}
		for _, name := range files {
			if info, err := os.Stat(filepath.Join(filepath.Dir(path), name)); err != nil || info.Mode().Perm() != OwnerOnly {
				t.Errorf("%s: %v, error %v", name, info.Mode(), err)
			}
		}
	}
	for path, want := range map[string]string{
		filepath.Dir(path):                       "it is a folder: expected a file",
		filepath.Join(t.TempDir(), "no", "a.db"): "does not exist: expected one",
		filepath.Join(path, "a.db"):              "is not a folder",
	} {
		if err := Prepare(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected that %s", err, want)
		}
	}
}

// TestConnect checks that special characters in file names are escaped, and that IsBusy
// recognizes its errors.
func TestConnect(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?c=1&_query_only=1%20#ü.db")
	if err := Prepare(path); err != nil {
		t.Fatal(err)
	}
	db, err := Connect(path, 2, "_pragma=busy_timeout(0)")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE a (b)"); err != nil {
		t.Fatal(err)
	}
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "INSERT INTO a VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "INSERT INTO a VALUES (2)"); !IsBusy(err) {
		t.Errorf("%v is not busy", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "INSERT INTO nothing VALUES (2)"); err == nil || IsBusy(err) || Code(err) == 0 {
		t.Errorf("%v, code %d", err, Code(err))
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}
