package sqlitefile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// logged creates a database whose write-ahead log contains a number of rows, left by a
// process that has died, in a new folder.
func logged(t *testing.T, rows int, again bool) (path string, log []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "a.db")
	if err := Prepare(path); err != nil {
		t.Fatal(err)
	}
	db, err := Connect(path, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	execute := func(text string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), text, args...); err != nil {
			t.Fatal(err)
		}
	}
	execute("PRAGMA journal_mode = WAL")
	execute("CREATE TABLE rows (n INTEGER, text TEXT)")
	if again { // restart the log over earlier frames
		for n := range 3 * rows {
			execute("INSERT INTO rows VALUES (?, ?)", n, fmt.Sprintf("%09000d", n))
		}
		var busy, all, done int
		if err := db.QueryRowContext(t.Context(), "PRAGMA wal_checkpoint(RESTART)").Scan(&busy, &all, &done); err != nil || busy != 0 {
			t.Fatal(busy, err)
		}
	}
	for n := range rows {
		execute("INSERT INTO rows VALUES (?, ?)", n, fmt.Sprintf("%09000d", n))
	}
	if log, err = os.ReadFile(path + "-wal"); err != nil || len(log) < walHeader+10*(frameHeader+4096) {
		t.Fatalf("%d bytes of a log, error %v", len(log), err)
	}
	return path, log
}

// TestDamagedLog checks that a change of any byte in the log is detected, except in
// what a killed writer or an earlier log has left.
func TestDamagedLog(t *testing.T) {
	for _, again := range []bool{false, true} {
		_, log := logged(t, 5, again)
		check := func(what string, b []byte, want bool) {
			t.Helper()
			path := filepath.Join(t.TempDir(), "b.db")
			if err := os.WriteFile(path+"-wal", b, OwnerOnly); err != nil {
				t.Fatal(err)
			}
			err := CheckLog(path)
			if _, damaged := errors.AsType[*DamagedError](err); damaged != want || !damaged && err != nil {
				t.Errorf("begun anew %v, %s: %v", again, what, err)
			}
		}
		check("as it is", log, false)
		check("empty", nil, false)
		const frame = frameHeader + 4096
		for _, cut := range []int{3, walHeader, walHeader + 7, walHeader + frame, walHeader + frame + 100, len(log) - 1} {
			check(fmt.Sprintf("cut at %d", cut), log[:cut], false)
		}
		own := 0 // number of frames of this log
		for ; walHeader+(own+1)*frame <= len(log) && bytes.Equal(log[walHeader+own*frame+8:][:8], log[16:24]); own++ {
		}
		for at := 0; at < walHeader+(own-1)*frame; at += 131 {
			b := bytes.Clone(log)
			b[at] ^= 0x10
			check(fmt.Sprintf("byte %d of %d", at, len(b)), b, true)
		}
		if again && walHeader+own*frame >= len(log) {
			t.Fatal("no frame of before is left")
		}
		if again { // the header of a frame is written before its page
			b := bytes.Clone(log)
			copy(b[walHeader+own*frame:], log[walHeader+(own-1)*frame:][:frameHeader])
			check("killed between a header and its page", b, false)
		}
	}
	if err := CheckLog(filepath.Join(t.TempDir(), "none.db")); err != nil {
		t.Error(err)
	}
}

// FuzzLog checks that any log can be checked.
func FuzzLog(f *testing.F) {
	f.Add([]byte("no log at all, but long enough for a header of one"))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "a.db")
		if err := os.WriteFile(path+"-wal", b, OwnerOnly); err != nil {
			t.Fatal(err)
		}
		err := CheckLog(path)
		if _, damaged := errors.AsType[*DamagedError](err); err != nil && !damaged {
			t.Error(err)
		}
	})
}
