package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hocketvoice/hocket/internal/sqlitefile"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/store"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		os.Exit(child(path))
	}
	goleak.VerifyTestMain(m)
}

// begun opens a store and closes it when the test ends.
func begun(t testing.TB, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func newPath(t testing.TB) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "calls.db")
}

// raw opens the file without the store.
func raw(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db
}

func execute(t testing.TB, db *sql.DB, text string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// views returns the interfaces of a store.
func views(s *Store) porttest.Stores {
	return porttest.Stores{Store: s, Journal: s, Registry: s, Archive: s, Tickets: s, Versions: s, Callers: s}
}

func TestConformance(t *testing.T) {
	open := func(t *testing.T) porttest.Stores {
		return views(begun(t, Options{Path: newPath(t)}))
	}
	t.Run("store", func(t *testing.T) { porttest.TestStore(t, open) })
	t.Run("journal", func(t *testing.T) { porttest.TestJournal(t, open) })
	t.Run("recordings", func(t *testing.T) { porttest.TestJournal(t, porttest.Recordings(open)) })
	t.Run("registry", func(t *testing.T) { porttest.TestRegistry(t, open) })
	t.Run("archive", func(t *testing.T) { porttest.TestArchive(t, open) })
	t.Run("tickets", func(t *testing.T) { porttest.TestTickets(t, open) })
	t.Run("versions", func(t *testing.T) { porttest.TestVersions(t, open) })
	t.Run("callers", func(t *testing.T) { porttest.TestCallers(t, open) })
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{Path: "a"}, ""},
		{Options{}, "Path must be set"},
		{Options{Path: "a", BusyTimeout: -1}, "BusyTimeout is -1ns: expected"},
		{Options{Path: "a", MaxSnapshot: -1}, "MaxSnapshot is -1: expected"},
		{Options{Path: "a", MaxSnapshot: store.LargestSnapshot + 1}, "MaxSnapshot is 268435457: expected"},
	} {
		err := c.o.Validate()
		if c.want == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		porttest.WantError(t, err, c.want)
		if _, err := Open(t.Context(), c.o); err == nil {
			t.Errorf("%+v: opened", c.o)
		}
	}
}

func TestReopened(t *testing.T) {
	// Characters with a meaning in a file's URI.
	path := filepath.Join(t.TempDir(), "a b?c=1&_query_only=1%20#ü.db")
	first := begun(t, Options{Path: path})
	porttest.Save(t, first, "call", "at step 7")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	porttest.WantError(t, first.Save(t.Context(), port.Hold{ID: "call"}, nil), "the store is closed")
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 || entries[0].Name() != filepath.Base(path) {
		t.Errorf("the folder has %v, expected the file alone (%v)", entries, err)
	}
	porttest.WantLoaded(t, begun(t, Options{Path: path}), "call", "at step 7")
}

func TestBounds(t *testing.T) {
	path := newPath(t)
	s := begun(t, Options{Path: path, MaxSnapshot: 1000})
	secret := strings.Repeat("secret ", 200)
	for _, id := range []string{"", strings.Repeat("i", store.MaxID+1)} {
		porttest.WantError(t, s.Save(t.Context(), port.Hold{ID: id}, nil), path, "expected 1 to 512")
		_, _, err := s.Load(t.Context(), id)
		porttest.WantError(t, err, path, "expected 1 to 512")
		porttest.WantError(t, s.Delete(t.Context(), id), path, "expected 1 to 512")
	}
	porttest.Save(t, s, strings.Repeat("i", store.MaxID), secret[:1000])
	porttest.WantLoaded(t, s, strings.Repeat("i", store.MaxID), secret[:1000])
	err := s.Save(t.Context(), port.Hold{ID: "call"}, []byte(secret[:1001]))
	porttest.WantError(t, err, path, `save "call"`, "1001 bytes: expected at most 1000")
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the snapshot is in the error: %v", err)
	}
	// A value that a store with a higher limit has saved.
	porttest.Save(t, begun(t, Options{Path: path}), "call", secret)
	_, _, err = s.Load(t.Context(), "call")
	porttest.WantError(t, err, path, `load "call"`, "1400 bytes: expected at most 1000")
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the snapshot is in the error: %v", err)
	}
}

func TestNothingIsSavedForAnEndedContext(t *testing.T) {
	s := begun(t, Options{Path: newPath(t)})
	porttest.Save(t, s, "call", "before")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, loadErr := s.Load(ctx, "call")
	_, listErr := s.List(ctx, 1)
	_, expireErr := s.Expire(ctx, time.Nanosecond)
	_, openErr := Open(ctx, Options{Path: newPath(t)})
	for _, err := range []error{s.Save(ctx, port.Hold{ID: "call"}, []byte("after")), s.Delete(ctx, "call"), loadErr, listErr, expireErr, openErr} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, expected context.Canceled", err)
		}
	}
	porttest.WantLoaded(t, s, "call", "before")
}

func TestAnotherProgramHoldsTheLock(t *testing.T) {
	path := newPath(t)
	s := begun(t, Options{Path: path, BusyTimeout: 20 * time.Millisecond})
	porttest.Save(t, s, "call", "before")
	other := raw(t, path)
	execute(t, other, "BEGIN IMMEDIATE")
	porttest.WantError(t, s.Save(t.Context(), port.Hold{ID: "call"}, []byte("after")), path, "other processes have locked the file for 20ms")
	porttest.WantLoaded(t, s, "call", "before") // readers do not wait
	patient := begun(t, Options{Path: path, BusyTimeout: time.Hour})

	// The end of the context ends the wait, long before the busy timeout.
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := patient.Save(ctx, port.Hold{ID: "call"}, []byte("after")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	// A waiting call succeeds.
	done := make(chan error)
	go func() { done <- patient.Save(context.Background(), port.Hold{ID: "call"}, []byte("after")) }()
	execute(t, other, "COMMIT")
	if err := <-done; err != nil {
		t.Error(err)
	}
	porttest.WantLoaded(t, s, "call", "after")
}

// TestHandlesOnOneFile uses several handles of one file, as processes that take over from
// each other do.
func TestHandlesOnOneFile(t *testing.T) {
	path := newPath(t)
	const stores, rounds = 4, 25
	var all sync.WaitGroup
	for i := range stores {
		all.Go(func() {
			s, err := Open(t.Context(), Options{Path: path, BusyTimeout: time.Minute}) // all at once: one makes the file
			if err != nil {
				t.Error(err)
				return
			}
			for n := range rounds {
				if err := s.Save(t.Context(), port.Hold{ID: fmt.Sprint("own ", i)}, pattern(n)); err != nil {
					t.Error(err)
				}
				if err := s.Save(t.Context(), port.Hold{ID: "shared"}, pattern(n)); err != nil {
					t.Error(err)
				}
				b, ok, err := s.Load(t.Context(), "shared")
				if _, whole := patternNumber(b); err != nil || !ok || !whole {
					t.Errorf("shared: %d bytes, there %v, error %v", len(b), ok, err)
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s := begun(t, Options{Path: path})
	for i := range stores {
		porttest.WantLoaded(t, s, fmt.Sprint("own ", i), string(pattern(rounds-1)))
	}
}

// TestConcurrentSaves checks that each goroutine reads back what it wrote, and that Close
// waits for running calls.
func TestConcurrentSaves(t *testing.T) {
	path := newPath(t)
	s := begun(t, Options{Path: path})
	var last [8]int // the last n whose Save returned nil
	var all sync.WaitGroup
	half := make(chan struct{}, len(last))
	for i := range last {
		all.Go(func() {
			id := fmt.Sprint(i)
			for n := range 1000 {
				if n == 20 {
					half <- struct{}{}
				}
				if err := s.Save(t.Context(), port.Hold{ID: id}, pattern(n)); err != nil {
					porttest.WantError(t, err, "the store is closed")
					return
				}
				last[i] = n
			}
		})
	}
	for range last {
		<-half
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	all.Wait()
	again := begun(t, Options{Path: path})
	for i, n := range last {
		porttest.WantLoaded(t, again, fmt.Sprint(i), string(pattern(n)))
	}
}

func TestListAndExpire(t *testing.T) {
	path := newPath(t)
	var mu sync.Mutex
	now := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	start := now
	s := begun(t, Options{Path: path, Now: func() time.Time { mu.Lock(); defer mu.Unlock(); return now }})
	const old = 2*expiredAtOnce + 50 // three transactions
	for i := range old {
		porttest.Save(t, s, fmt.Sprint(i), "Winnetou")
	}
	porttest.Save(t, s, "kept", "Winnetou")
	now = now.Add(time.Hour)
	porttest.Save(t, s, "kept", "later") // the last save counts
	porttest.Save(t, s, "young", strings.Repeat("x", 10_000))
	entries, err := s.List(t.Context(), 3)
	want := []port.Entry{{ID: "kept", Saved: now, Size: 5}, {ID: "young", Saved: now, Size: 10_000}, {ID: "0", Saved: start, Size: 8}}
	if err != nil || fmt.Sprint(entries) != fmt.Sprint(want) {
		t.Errorf("%v, expected %v, error %v", entries, want, err)
	}
	now = now.Add(time.Minute)
	if n, err := s.Expire(t.Context(), 61*time.Minute); n != 0 || err != nil {
		t.Errorf("deleted %d, error %v: nothing is older", n, err)
	}
	if n, err := s.Expire(t.Context(), 60*time.Minute); n != old || err != nil {
		t.Errorf("deleted %d, expected %d, error %v", n, old, err)
	}
	if entries, err := s.List(t.Context(), 10); len(entries) != 2 || err != nil {
		t.Errorf("%v, error %v", entries, err)
	}
	for _, suffix := range []string{"", "-wal"} {
		// Closing a file that was read drops the store's locks, so the store is not used any
		// more.
		b, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte("Winnetou")) {
			t.Errorf("what was deleted is still in calls.db%s", suffix)
		}
	}
	_, err = s.Expire(t.Context(), 0)
	porttest.WantError(t, err, "the age is 0s: expected")
	_, err = s.List(t.Context(), 0)
	porttest.WantError(t, err, "limit is 0: expected")
}

// TestExpireWhileOthersWork checks that the log is emptied while others work, and that these
// wait for one transaction at most.
func TestExpireWhileOthersWork(t *testing.T) {
	path := newPath(t)
	s, other := begun(t, Options{Path: path}), begun(t, Options{Path: path})
	var stop atomic.Bool
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			id := fmt.Sprint("worker ", i)
			for n := 0; !stop.Load(); n++ {
				if err := other.Save(t.Context(), port.Hold{ID: id}, pattern(n)); err != nil {
					t.Error(err)
				}
				if b, ok, err := other.Load(t.Context(), id); err != nil || !ok || !bytes.Equal(b, pattern(n)) {
					t.Errorf("%d bytes, there %v, error %v", len(b), ok, err)
				}
			}
		})
	}
	for range 10 {
		porttest.Save(t, s, "call", "step")
		if _, err := s.Expire(t.Context(), time.Hour); err != nil {
			t.Error(err)
		}
		porttest.WantLoaded(t, s, "call", "step")
	}
	stop.Store(true)
	all.Wait()
}

// TestFullDisk checks that the previous snapshot stays when the disk is full, and that the
// store works again when there is room. SQLite treats a page limit like a full disk.
func TestFullDisk(t *testing.T) {
	path := newPath(t)
	s := begun(t, Options{Path: path})
	porttest.Save(t, s, "call", "before")
	execute(t, s.writer, "PRAGMA max_page_count = 12")
	secret := strings.Repeat("secret", 20_000)
	err := s.Save(t.Context(), port.Hold{ID: "call"}, []byte(secret))
	porttest.WantError(t, err, path, `save "call"`, "the disk is full")
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the snapshot is in the error: %v", err)
	}
	porttest.WantLoaded(t, s, "call", "before")
	execute(t, s.writer, "PRAGMA max_page_count = 1000")
	porttest.Save(t, s, "call", secret)
	porttest.WantLoaded(t, s, "call", secret)
}

func TestModes(t *testing.T) {
	for _, there := range []bool{false, true} {
		path := newPath(t)
		if there {
			if err := os.WriteFile(path, nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		porttest.Save(t, begun(t, Options{Path: path}), "call", "step")
		for _, suffix := range []string{"", "-wal", "-shm"} {
			info, err := os.Stat(path + suffix)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != sqlitefile.OwnerOnly {
				t.Errorf("calls.db%s has mode %v", suffix, info.Mode())
			}
		}
	}
}

func TestInvalidFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string) string {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return at(name)
	}
	database := func(name string, texts ...string) string {
		db := raw(t, at(name))
		for _, text := range texts {
			execute(t, db, text)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		return at(name)
	}
	for _, c := range []struct{ name, path, want string }{
		{"a folder", dir, "it is a folder: expected a file"},
		{"no folder", at("no/calls.db"), "does not exist: expected one"},
		{"a file for a folder", filepath.Join(write("file", ""), "calls.db"), "is not a folder: expected the folder of the file"},
		{"a text", write("text", strings.Repeat("no database. ", 100)), "not an SQLite database: expected a store or no file"},
		{"a device", os.DevNull, "expected a regular file"},
		{"another program's database", database("other", "CREATE TABLE snapshots (x)"), "another program"},
		{"another program's database, marked", database("marked", "PRAGMA application_id = 7", "PRAGMA user_version = 1"), "another program"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, _ := os.ReadFile(c.path)
			_, err := Open(t.Context(), Options{Path: c.path})
			porttest.WantError(t, err, "store "+c.path+": open:", c.want)
			if after, _ := os.ReadFile(c.path); !bytes.Equal(after, before) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestReadOnlyFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root can write to any folder")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), Options{Path: filepath.Join(dir, "calls.db")})
	porttest.WantError(t, err, "the folder takes no new file")
	if !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error %v", err)
	}
}

// grant returns the first tokens of a conversation.
func grant(access, resume []byte) port.Grant {
	return port.Grant{Now: port.Tokens{Access: access, Resume: resume}}
}
