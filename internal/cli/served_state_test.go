//go:build unix

package cli

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// withoutConfig describes a server without a config, whose state is in a folder.
func withoutConfig(t *testing.T, state string, more ...string) *node {
	t.Helper()
	n := newNode(t, flights, "", "", "XDG_STATE_HOME="+state)
	n.args = append([]string{"serve", "--agent", flights, "--addr", strings.TrimPrefix(n.url, "http://")}, more...)
	return n
}

// typed holds a conversation of one line and ends it.
func typed(t *testing.T, n *node) *caller {
	t.Helper()
	c := &caller{t: t, urls: []string{n.url}}
	if !c.call(map[string]any{"transport": "text"}) || !c.follow() || !c.say("to Reykjavik please") {
		t.Fatal("there is no conversation")
	}
	defer c.leave()
	for m := range c.events {
		if m.Type == "transcript" && strings.Contains(m.Payload.Text, "Reykjavik") {
			break
		}
	}
	if _, err := c.post("/v1/conversations/"+c.id+"/commands", map[string]any{"type": "endConversation"}, nil); err != nil {
		t.Fatal(err)
	}
	for range c.events {
		continue
	}
	return c
}

// TestServeKeepsByDefault checks that a server without a config stores its first
// conversation, also for the time after a restart, and that only hocket and its user
// can read it.
func TestServeKeepsByDefault(t *testing.T) {
	state := t.TempDir()
	n := withoutConfig(t, state)
	n.start()
	c := typed(t, n)
	var past struct {
		Conversations []struct {
			ID    string `json:"id"`
			Ended bool   `json:"ended"`
		} `json:"conversations"`
	}
	for i := range 2 {
		if err := c.get("/v1/stored", &past); err != nil || len(past.Conversations) != 1 || past.Conversations[0].ID != c.id || !past.Conversations[0].Ended {
			t.Errorf("start %d: kept are %+v, error %v; expected %s, ended", i+1, past, err, c.id)
		}
		n.stop()
		n.start()
	}
	n.stop()

	store := filepath.Join(state, "hocket", "conversations.db")
	log, err := os.ReadFile(n.log.Name())
	if err != nil || !strings.Contains(string(log), "note: conversations are kept in "+store+", sealed with the key beside it\n") {
		t.Errorf("it does not say where: %s, %v", log, err)
	}
	files, err := filepath.Glob(filepath.Join(state, "hocket", "*"))
	if err != nil || len(files) < 2 {
		t.Fatalf("there are %v, %v", files, err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil || bytes.Contains(b, []byte("Reykjavik")) {
			t.Errorf("%s is not sealed, or %v", file, err)
		}
	}
	for name, want := range map[string]os.FileMode{store + ".key": 0o600, filepath.Dir(store): 0o700 | os.ModeDir} {
		if info, err := os.Stat(name); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v; expected mode %v", name, info.Mode(), err, want)
		}
	}
	if out := output(t, "", "conversations", "show", "--store", store, c.id); !strings.Contains(out, "Reykjavik") {
		t.Errorf("shown: %s", out)
	}
}

// TestServeKeepsNothing checks that with --store off nothing is written.
func TestServeKeepsNothing(t *testing.T) {
	state := t.TempDir()
	n := withoutConfig(t, state, "--store", "off")
	n.start()
	c := typed(t, n)
	if err := c.get("/v1/stored", &struct{}{}); err == nil || !strings.Contains(err.Error(), "status 404") {
		t.Errorf("the past is %v, expected status 404", err)
	}
	n.stop()
	if entries, err := os.ReadDir(state); err != nil || len(entries) > 0 {
		t.Errorf("there are %v, %v", entries, err)
	}
}

// TestServeCannotKeep checks that if the store cannot be created or opened, one line
// states the reason and what to do.
func TestServeCannotKeep(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // the test must fail before it listens
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for name, tc := range map[string]struct {
		prepare func(t *testing.T, store string)
		want    string
	}{
		"no folder can be made": {func(t *testing.T, store string) {
			put(t, filepath.Dir(store), "a file", 0o600)
		}, "not a directory: expected a writable folder; --store FILE names another place, --store off stores nothing\n"},
		"the key is missing": {func(t *testing.T, store string) {
			mkdir(t, filepath.Dir(store))
			put(t, store, "", 0o600)
		}, "conversations.db.key of conversations.db is missing"},
		"others can read the key": {func(t *testing.T, store string) {
			mkdir(t, filepath.Dir(store))
			put(t, store+".key", "x", 0o644)
		}, "conversations.db.key has the mode 0644: expected 0600, so that nobody else reads the key\n"},
		"the key is not one": {func(t *testing.T, store string) {
			mkdir(t, filepath.Dir(store))
			put(t, store+".key", "x", 0o600)
		}, "conversations.db.key is not a key: expected 32 bytes in base64"},
	} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			t.Setenv("XDG_STATE_HOME", state)
			tc.prepare(t, filepath.Join(state, "hocket", "conversations.db"))
			out, stderr, status := run(t, "", "serve", "--addr", l.Addr().String())
			if status != statusInput || out != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, tc.want) {
				t.Errorf("status %d, %q, %q; expected one line with %q", status, out, stderr, tc.want)
			}
		})
	}
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
}

func put(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}
