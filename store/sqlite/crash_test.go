package sqlite

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// pattern returns the snapshot of step n: 10 bytes to 40 KB that contain n everywhere.
func pattern(n int) []byte {
	b := make([]byte, 10+n*7919%40_000)
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], uint64(n))
	for i := range b {
		b[i] = word[i%8] ^ byte(i)
	}
	return b
}

// patternNumber returns the step of a snapshot, if it is whole.
func patternNumber(b []byte) (n int, whole bool) {
	if len(b) < 8 {
		return 0, false
	}
	var word [8]byte
	for i := range word {
		word[i] = b[i] ^ byte(i)
	}
	n = int(binary.LittleEndian.Uint64(word[:]))
	return n, n >= 0 && n < 1<<40 && bytes.Equal(b, pattern(n))
}

// childEnv is an environment variable with the name of a file. With it the test's program saves
// into the file until it is killed, and prints each step that it has saved.
const childEnv = "HOCKET_STORE_TEST_CHILD"

func child(path string) int {
	s, err := Open(context.Background(), Options{Path: path})
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		return 1
	}
	for n := 0; ; n++ {
		if err := s.Save(context.Background(), port.Hold{ID: "call"}, pattern(n)); err != nil {
			fmt.Fprintln(os.Stdout, err)
			return 1
		}
		fmt.Fprintln(os.Stdout, n)
	}
}

func childOn(t *testing.T, path string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.run=^$")
	cmd.Env = append(os.Environ(), childEnv+"="+path)
	cmd.Stderr = os.Stderr
	return cmd
}

// TestKilledBetweenSaves checks that a reported save is there and whole when the process is
// killed during the next save.
func TestKilledBetweenSaves(t *testing.T) {
	path := newPath(t)
	for _, after := range []int{0, 1, 13, 300, 1111} {
		cmd := childOn(t, path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		told := -1
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			n, err := strconv.Atoi(lines.Text())
			if err != nil {
				t.Fatalf("the child prints %q", lines.Text())
			}
			if told = n; n == after {
				if err := cmd.Process.Kill(); err != nil { // by its id; what it had told until then follows
					t.Fatal(err)
				}
			}
		}
		if err := cmd.Wait(); err == nil || cmd.ProcessState.Exited() {
			t.Fatalf("the child was not killed: %v", cmd.ProcessState)
		}
		if info, err := os.Stat(path + "-wal"); err != nil || info.Size() == 0 {
			t.Fatalf("no log is left, the child has closed the file (%v)", err)
		}
		s := begun(t, Options{Path: path})
		b, ok, err := s.Load(t.Context(), "call")
		if err != nil || !ok {
			t.Fatalf("there %v, error %v", ok, err)
		}
		n, whole := patternNumber(b)
		// One save may have been done and not yet reported.
		if !whole || n < told || n > told+1 {
			t.Errorf("step %d, whole %v; reported up to %d", n, whole, told)
		}
		t.Logf("killed after step %d was reported; step %d is there", told, n)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTwoProcesses checks that two processes can save into one file at once.
func TestTwoProcesses(t *testing.T) {
	path := newPath(t)
	cmd := childOn(t, path)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := begun(t, Options{Path: path}) // both may make the file
	lines := bufio.NewScanner(out)
	for step := range 100 {
		if !lines.Scan() {
			t.Fatal("the child has ended")
		}
		told, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatalf("the child prints %q", lines.Text())
		}
		porttest.Save(t, s, "own", string(pattern(step)))
		porttest.WantLoaded(t, s, "own", string(pattern(step)))
		b, ok, err := s.Load(t.Context(), "call")
		if n, whole := patternNumber(b); err != nil || !ok || !whole || n < told {
			t.Fatalf("step %d, whole %v, there %v, error %v; reported up to %d", n, whole, ok, err, told)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() { // until its end
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the child was not killed")
	}
	porttest.Save(t, s, "own", "after its death")
	porttest.WantLoaded(t, s, "own", "after its death")
}

// image returns a store with a few snapshots, as bytes.
func image(t testing.TB) []byte {
	t.Helper()
	path := newPath(t)
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 8 {
		porttest.Save(t, s, fmt.Sprint("call ", n), string(pattern(n)))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// believed opens a damaged file and loads everything. It returns how many snapshots it found and
// how many calls failed. It fails the test if a snapshot differs from the one that was saved.
func believed(t testing.TB, path string) (there, failed int) {
	t.Helper()
	s, err := Open(t.Context(), Options{Path: path})
	if err != nil {
		return 0, 1
	}
	defer s.Close()
	for n := range 8 {
		b, ok, err := s.Load(t.Context(), fmt.Sprint("call ", n))
		switch {
		case err != nil:
			failed++
		case ok && !bytes.Equal(b, pattern(n)):
			t.Errorf("call %d: %d bytes that were never saved", n, len(b))
		case ok:
			there++
		}
	}
	return there, failed
}

func TestDamagedFile(t *testing.T) {
	whole := image(t)
	path := filepath.Join(t.TempDir(), "calls.db")
	write := func(b []byte) {
		for _, suffix := range []string{"-wal", "-shm"} {
			if err := os.Remove(path + suffix); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(whole)
	if there, failed := believed(t, path); there != 8 || failed != 0 {
		t.Fatalf("undamaged: %d there, %d failed", there, failed)
	}
	// One byte is changed in each part of the file: no snapshot may differ from what was
	// saved.
	noticed := 0
	for at := 40; at < len(whole); at += 1021 {
		b := bytes.Clone(whole)
		b[at] ^= 0x55
		write(b)
		if _, failed := believed(t, path); failed > 0 {
			noticed++
		}
	}
	t.Logf("%d bytes, %d of %d changes noticed", len(whole), noticed, (len(whole)-40+1020)/1021)
	if noticed == 0 {
		t.Error("no change was noticed")
	}

	// SQLite does not notice a changed byte in a long snapshot.
	b := bytes.Clone(whole)
	middle := pattern(5)[20_000:20_100]
	at := bytes.Index(b, middle)
	if at < 0 {
		t.Fatal("the snapshot is not in the file")
	}
	b[at] ^= 1
	write(b)
	s := begun(t, Options{Path: path})
	_, _, err := s.Load(t.Context(), "call 5")
	porttest.WantError(t, err, path, `load "call 5"`, "the checksum of the snapshot is wrong")
	porttest.WantLoaded(t, s, "call 4", string(pattern(4)))
	porttest.Save(t, s, "call 5", "again") // it can be replaced
	porttest.WantLoaded(t, s, "call 5", "again")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	write(whole[:len(whole)/2])
	if there, failed := believed(t, path); failed == 0 || there+failed < 1 {
		t.Errorf("half a file: %d there, %d failed", there, failed)
	}
	b = bytes.Clone(whole)
	for i := 4096; i < len(b); i++ {
		b[i] = 0xff
	}
	write(b)
	_, err = Open(t.Context(), Options{Path: path})
	porttest.WantError(t, err, path, "the file is damaged")
}

// FuzzDamagedFile writes arbitrary bytes into the file. The seeds hit the header, the schema,
// a tree's page and a snapshot.
func FuzzDamagedFile(f *testing.F) {
	whole := image(f)
	for _, at := range []uint32{0, 16, 100, 4096, 8200, 20_000, 60_000} {
		f.Add(at, []byte{0xff, 0, 0x7f, 0x80}, []byte(nil))
	}
	f.Add(uint32(0), []byte(nil), bytes.Repeat([]byte{0x37, 0x7f, 0x06, 0x82}, 20))
	f.Fuzz(func(t *testing.T, at uint32, patch, log []byte) {
		b := bytes.Clone(whole)
		copy(b[int(at)%len(b):], patch)
		path := newPath(t)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+"-wal", log, 0o600); err != nil {
			t.Fatal(err)
		}
		believed(t, path)
	})
}
