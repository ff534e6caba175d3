//go:build unix

package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/store/postgres"
	"github.com/hocketvoice/hocket/store/sqlite"
)

// TestCallerCommands: what a store keeps of a caller is listed, exported and deleted; what
// runs is named, and left.
func TestCallerCommands(t *testing.T) { eachStore(t, callerCommands) }

func callerCommands(t *testing.T, store string) {
	chat := func() string {
		_, stderr, status := run(t, "book a flight\n", "chat", "--agent", flights, "--store", store)
		if status != 0 {
			t.Fatalf("status %d: %s", status, stderr)
		}
		return idOf(t, stderr)
	}
	anns, others := chat(), chat()
	mark(t, store, anns, "office", "office/ann")
	at := []string{"--store", store, "--owner", "office", "ann"}
	if out := output(t, "", append([]string{"callers", "list"}, at...)...); !strings.HasPrefix(out, anns+"  ") || strings.Count(out, "\n") != 1 {
		t.Errorf("listed: %s", out)
	}
	if out := output(t, "", "callers", "list", "--json", "--store", store, "ann"); strings.Contains(out, anns) {
		t.Errorf("without the owner: %s", out)
	}
	file := filepath.Join(t.TempDir(), "ann.jsonl")
	output(t, "", append([]string{"callers", "export", "--output", file}, at...)...)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has mode %v, error %v", info.Mode(), err)
	}
	if !bytes.Contains(b, []byte("book a flight")) || !bytes.HasSuffix(b, []byte(`{"type":"end"}`+"\n")) {
		t.Errorf("exported: %s", b)
	}
	if _, _, status := run(t, "", append([]string{"callers", "export", "--output", file}, at...)...); status != statusInput {
		t.Errorf("over a file that is there: status %d", status)
	}
	if out := output(t, "", append([]string{"callers", "delete"}, at...)...); out != anns+" is deleted\n0 tasks are deleted\n" {
		t.Errorf("deleted: %s", out)
	}
	if out := output(t, "", "conversations", "list", "--store", store); strings.Contains(out, anns) || !strings.Contains(out, others) {
		t.Errorf("left are: %s", out)
	}
}

// mark makes a conversation that of a caller, as a server would have.
func mark(t *testing.T, place, id, owner, caller string) {
	t.Helper()
	type engine interface {
		port.Store
		port.Registry
		io.Closer
	}
	var s engine
	var err error
	if postgres.IsURL(place) {
		s, err = postgres.Open(t.Context(), postgres.Options{URL: place})
	} else {
		s, err = sqlite.Open(t.Context(), sqlite.Options{Path: place})
	}
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	b, _, err := s.Load(t.Context(), id)
	must(err)
	c, err := journal.ReadCheckpoint(b)
	must(err)
	c.Owner, c.Caller = owner, caller
	b, err = c.Marshal()
	must(err)
	must(s.Beat(t.Context(), port.Node{ID: "test"}, time.Minute))
	h, err := s.Claim(t.Context(), id, "test")
	must(err)
	must(s.Save(t.Context(), h, b))
	_, stderr, status := run(t, "", "callers", "delete", "--store", place, "--owner", owner, "ann")
	if status != statusFinding || !strings.Contains(stderr, id+" is left: the conversation is held by node test") {
		t.Errorf("of one that runs: status %d: %s", status, stderr)
	}
	must(s.Release(t.Context(), h, true))
	must(s.Leave(t.Context(), "test"))
	must(s.Close())
}

// TestErrorsNameTheCommand: an error begins with the command as it is typed, and points to
// its help.
func TestErrorsNameTheCommand(t *testing.T) {
	store := filepath.Join(t.TempDir(), "none.db")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"callers", "list", "--store", store, "ann"}, "hocket callers list: store: "},
		{[]string{"conversations", "list", "--store", store}, "hocket conversations list: store: "},
		{[]string{"conversations", "show", "--store", store}, "see hocket conversations show --help"},
		{[]string{"callers", "delete", "--store", store, ""}, "hocket callers delete: the caller has no name"},
		{[]string{"call", "--agent", flights, "--say", "x", "--realtime", "--today", "2026-01-05"}, "hocket call: --today is the date of a call in virtual time"},
		{[]string{"call", "--agent", flights, "--say", "x", "--play", "--today", "2026-01-05"}, "hocket call: --today is the date of a call in virtual time"},
	} {
		out, stderr, status := run(t, "", c.args...)
		if status != statusInput || out != "" || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: status %d, %q, %q; expected %q", c.args, status, out, stderr, c.want)
		}
	}
	if _, err := os.Stat(store); err == nil {
		t.Error("looking has made a store")
	}
}
