package sqlite

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/store"
)

// filled saves a conversation in every table, with a word in each text column.
func filled(t *testing.T, s *Store, id string) port.Hold {
	t.Helper()
	if err := s.Beat(t.Context(), port.Node{ID: "node"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	h, err := s.Claim(t.Context(), id, "node")
	if err != nil {
		t.Fatal(err)
	}
	words := []byte(strings.Repeat("Winnetou ", 3000))
	if err := errors.Join(s.Save(t.Context(), h, words), s.Append(t.Context(), h, 1, words), s.Append(t.Context(), h, 2, words[:9]),
		s.Recordings().Append(t.Context(), h, 1, words),
		s.Grant(t.Context(), h, grant([]byte("Winnetou's access"+id), []byte("Winnetou's way back"+id)))); err != nil {
		t.Fatal(err)
	}
	return h
}

// wantGone checks that no word is left in the files. It reads them in another process,
// because closing a file drops the locks that a process has on it.
func wantGone(t *testing.T, path string, words ...string) {
	t.Helper()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		b, err := exec.CommandContext(t.Context(), "cat", path+suffix).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range words {
			if bytes.Contains(b, []byte(w)) {
				t.Errorf("%q is still in calls.db%s", w, suffix)
			}
		}
	}
}

// TestNothingIsLeft checks that Delete and Expire remove conversations from every table, the
// file and its log, while the store is in use.
func TestNothingIsLeft(t *testing.T) {
	path := newPath(t)
	var now atomic.Int64
	s := begun(t, Options{Path: path, Now: func() time.Time { return time.UnixMilli(now.Load()) }})
	other := begun(t, Options{Path: path})
	filled(t, s, "Old Shatterhand")
	if err := other.Delete(t.Context(), "Old Shatterhand"); err != nil {
		t.Fatal(err)
	}
	wantGone(t, path, "Winnetou", "Shatterhand")

	// Expire removes a whole conversation, a claim alone and a journal alone; a held
	// conversation stays.
	released := filled(t, s, "Old Firehand")
	claimed, err := s.Claim(t.Context(), "Old Surehand", "node")
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []port.Hold{released, claimed} {
		if err := s.Release(t.Context(), h, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Append(t.Context(), port.Hold{ID: "Old Wabble"}, 1, []byte("Winnetou")); err != nil {
		t.Fatal(err)
	}
	held, err := s.Claim(t.Context(), "held", "node")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Save(t.Context(), held, []byte("x")), s.Append(t.Context(), held, 1, []byte("y"))); err != nil {
		t.Fatal(err)
	}
	now.Add(time.Minute.Milliseconds())
	if n, err := s.Expire(t.Context(), 30*time.Second); n != 3 || err != nil {
		t.Errorf("%d are deleted, error %v; expected 3", n, err)
	}
	wantGone(t, path, "Winnetou", "Firehand", "Surehand", "Wabble")
	porttest.WantLoaded(t, s, "held", "x")
	if err := s.Save(t.Context(), held, []byte("z")); err != nil {
		t.Error(err)
	}
	if err := s.Leave(t.Context(), "node"); err != nil {
		t.Fatal(err)
	}
	now.Add(time.Minute.Milliseconds())
	if n, err := s.Expire(t.Context(), 30*time.Second); n != 1 || err != nil {
		t.Errorf("%d are deleted, error %v; expected 1", n, err)
	}
	for _, table := range []string{"snapshots", "journal", "recordings", "claims", "nodes"} {
		var n int
		if err := s.reader.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil || n > 0 {
			t.Errorf("%d rows are left in %s, error %v", n, table, err)
		}
	}
}

// TestNodesAreForgotten checks that a node that has been dead for long and holds nothing is
// deleted.
func TestNodesAreForgotten(t *testing.T) {
	var now atomic.Int64
	s := begun(t, Options{Path: newPath(t), Now: func() time.Time { return time.UnixMilli(now.Load()) }})
	for _, n := range []string{"idle", "busy", "new"} {
		if err := s.Beat(t.Context(), port.Node{ID: n}, time.Second); err != nil {
			t.Fatal(err)
		}
		if n == "busy" {
			if _, err := s.Claim(t.Context(), "a", n); err != nil {
				t.Fatal(err)
			}
			now.Add((store.Forgotten + time.Minute).Milliseconds())
		}
	}
	ids, err := column[string](s.reader.QueryContext(t.Context(), "SELECT id FROM nodes ORDER BY id"))
	if err != nil || fmt.Sprint(ids) != "[busy new]" {
		t.Errorf("nodes %v, error %v", ids, err)
	}
}

func TestDeletedIsGoneAfterClose(t *testing.T) {
	path := newPath(t)
	s := begun(t, Options{Path: path})
	words := strings.Repeat("Winnetou ", 3000)
	porttest.Save(t, s, "long", words)
	porttest.Save(t, s, "short", words[:9])
	porttest.Save(t, s, "shorter now", words)
	porttest.Save(t, s, "shorter now", "step")
	for _, id := range []string{"long", "short"} {
		if err := s.Delete(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || bytes.Contains(b, []byte("Winnetou")) {
		t.Errorf("what was deleted or replaced is still in the file (%v)", err)
	}
}

// TestExpireLooksAgain checks that conversations saved or claimed after they were found to be
// old stay, and that those deleted by others are not counted.
func TestExpireLooksAgain(t *testing.T) {
	var now atomic.Int64
	s := begun(t, Options{Path: newPath(t), Now: func() time.Time { return time.UnixMilli(now.Load()) }})
	var ids [][]byte
	for _, id := range []string{"old", "saved again", "claimed again"} {
		porttest.Save(t, s, id, "x")
		ids = append(ids, []byte(id))
	}
	now.Add(time.Minute.Milliseconds())
	porttest.Save(t, s, "saved again", "y")
	filled(t, s, "claimed again")
	given, err := s.Claim(t.Context(), "given up again", "node")
	if err == nil {
		err = s.Release(t.Context(), given, false)
	}
	if err != nil {
		t.Fatal(err)
	}
	ids = append(ids, []byte("given up again"), []byte("deleted"))
	if err := s.write(t.Context(), func(tx *sql.Tx) error {
		n, err := s.removeDead(t.Context(), tx, ids, now.Load()-time.Second.Milliseconds())
		if n != 1 {
			t.Errorf("%d are deleted, expected one", n)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	porttest.WantLoaded(t, s, "saved again", "y")
	if _, ok, err := s.Load(t.Context(), "claimed again"); !ok || err != nil {
		t.Errorf("there %v, error %v", ok, err)
	}
	if err := s.Grant(t.Context(), given, grant([]byte("access"), nil)); err != nil {
		t.Errorf("its claim is gone: %v", err)
	}
}
