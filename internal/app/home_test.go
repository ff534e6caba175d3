package app

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/port"
)

// TestTokensAnywhere checks that a client token is valid once at every server with the same
// store, and that the store has nothing that could be used as a token.
func TestTokensAnywhere(t *testing.T) {
	t.Setenv(DefaultKeysEnv, "office 0123456789abcdef-one")
	path := filepath.Join(t.TempDir(), "store.db")
	config := "store: {path: " + path + "}\nserver: {drain: off}\n"
	var client struct{ Token string }
	t.Run("made", func(t *testing.T) {
		r := serve(t, config)
		r.key = "0123456789abcdef-one"
		if status := r.do("POST", "/v1/client_tokens", "", &client); status != http.StatusOK {
			t.Fatalf("status %d", status)
		}
		for _, name := range []string{path, path + "-wal"} {
			if b, err := os.ReadFile(name); err != nil || bytes.Contains(b, []byte(client.Token)) {
				t.Errorf("%s has the token, or cannot be read: %v", name, err)
			}
		}
	})
	t.Run("used", func(t *testing.T) {
		r := serve(t, config)
		r.key = client.Token
		for _, want := range []int{http.StatusCreated, http.StatusUnauthorized} {
			if status := r.do("POST", "/v1/conversations", `{"transport":"text"}`, nil); status != want {
				t.Errorf("status %d, expected %d", status, want)
			}
		}
	})
}

// TestKeepClaims checks that a conversation is claimed before it is kept, and that a failure
// leaves no claim behind.
func TestKeepClaims(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	first, err := openStorage(t.Context(), path, "", flights(t), "flights", "text", config.Store{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := first.close(); err != nil {
			t.Error(err)
		}
	}()
	if first.points.Token == 0 {
		t.Error("the conversation is not claimed")
	}
	h := port.Hold{ID: first.id, Token: first.points.Token}
	if err := first.store.port.Save(t.Context(), h, []byte("x")); err != nil {
		t.Error(err)
	}
	if err := first.store.port.Save(t.Context(), port.Hold{ID: first.id}, []byte("x")); !errors.Is(err, port.ErrFenced) {
		t.Errorf("error %v, expected that it is fenced", err)
	}
	for _, id := range []string{"nobody", first.id} { // one is not there, one is not a checkpoint
		if k, err := openStorage(t.Context(), path, id, flights(t), "flights", "text", config.Store{}); err == nil {
			t.Errorf("%+v", k)
		}
	}
	if nodes, err := first.store.registry.Nodes(t.Context()); err != nil || len(nodes) != 1 {
		t.Errorf("nodes %v, error %v", nodes, err)
	}
}

// TestCrashBeforeTheAnswer checks that a client keeps its conversation if the process ends
// between accepting a resume token and the arrival of the answer, however often that happens,
// and that the client's earlier tokens are invalid in every process once it has used the new
// ones.
func TestCrashBeforeTheAnswer(t *testing.T) {
	config := "store: {path: " + filepath.Join(t.TempDir(), "store.db") + "}\nserver: {drain: off}\n"
	var first, last struct {
		ID     string `json:"id"`
		Resume string `json:"resume_token"`
		Access string `json:"access_token"`
	}
	t.Run("begun", func(t *testing.T) {
		r := serve(t, config)
		if status := r.do("POST", "/v1/conversations", `{"transport":"text"}`, &first); status != http.StatusCreated {
			t.Fatalf("status %d", status)
		}
	})
	resume := func(token string) string { return `{"resume":"` + token + `"}` }
	for _, name := range []string{"lost", "lost again", "lost with another try"} {
		t.Run(name, func(t *testing.T) {
			r := serve(t, config)
			r.key = first.Access // that of a page which knows no other
			for range len(name) % 2 * 2 {
				r.do("POST", "/v1/conversations", resume(first.Resume), nil)
			}
			if status := r.do("POST", "/v1/conversations", resume(first.Resume), &last); status != http.StatusCreated || last.ID != first.ID {
				t.Errorf("status %d, %q continued as %q", status, first.ID, last.ID)
			}
		})
	}
	t.Run("used", func(t *testing.T) {
		r := serve(t, config)
		if status := r.do("POST", "/v1/conversations", resume(last.Resume), &last); status != http.StatusCreated {
			t.Fatalf("status %d", status)
		}
		if status := r.do("POST", "/v1/conversations", resume(first.Resume), nil); status != http.StatusNotFound {
			t.Errorf("status %d of the first token", status)
		}
		r.key = last.Access
		if status := r.do("GET", "/v1/conversations/"+last.ID, "", nil); status != http.StatusOK {
			t.Errorf("status %d", status)
		}
	})
	t.Run("over", func(t *testing.T) {
		r := serve(t, config)
		if status := r.do("POST", "/v1/conversations", resume(first.Resume), nil); status != http.StatusNotFound {
			t.Errorf("status %d of the first token", status)
		}
		if status := r.do("POST", "/v1/conversations", resume(last.Resume), nil); status != http.StatusCreated {
			t.Errorf("status %d of the last one", status)
		}
	})
}

// TestWrongStoreKey checks that a server whose keys open no stored conversation does not
// start and says why, and that it starts with the older key as well.
func TestWrongStoreKey(t *testing.T) {
	for i, name := range []string{"HOCKET_TEST_KEY_A", "HOCKET_TEST_KEY_B"} {
		t.Setenv(name, base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{byte(i + 1)}, 32)))
	}
	path := filepath.Join(t.TempDir(), "store.db")
	config := func(keys string) string {
		return "store: {path: " + path + keys + "}\nserver: {drain: off}\n"
	}
	t.Run("sealed", func(t *testing.T) {
		r := serve(t, config(", keys: [HOCKET_TEST_KEY_A]"))
		if status := r.do("POST", "/v1/conversations", `{"transport":"text"}`, nil); status != http.StatusCreated {
			t.Fatalf("status %d", status)
		}
	})
	for keys, want := range map[string]string{
		", keys: [HOCKET_TEST_KEY_B]": "no key in store.keys or in the file beside the store opens the conversations saved last",
		"":                            "the conversation is encrypted",
		", keys: [HOCKET_TEST_KEY_B, HOCKET_TEST_KEY_A]": "",
	} {
		file := filepath.Join(t.TempDir(), "hocket.yaml")
		if err := os.WriteFile(file, []byte(config(keys)), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := NewServer(ServeOptions{Config: file, Addr: "127.0.0.1:0"})
		switch {
		case want != "" && (err == nil || !errors.Is(err, ErrInput) || !strings.Contains(err.Error(), want)):
			t.Errorf("keys%q: %v, expected %q", keys, err, want)
		case want == "" && err != nil:
			t.Errorf("keys%q: %v", keys, err)
		}
		if s != nil {
			if err := s.closeAll(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestDamagedLogIsTold checks that a server logs at its start that its store has lost
// conversations with a damaged write-ahead log.
func TestDamagedLogIsTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	store, err := OpenStore(t.Context(), path, config.Store{}, true)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		if err := store.port.Save(t.Context(), port.Hold{ID: fmt.Sprint("conv_", i)}, bytes.Repeat([]byte("words "), 5000)); err != nil {
			t.Fatal(err)
		}
	}
	files := make(map[string][]byte) // as a process leaves them that is killed
	for _, suffix := range []string{"", "-wal"} {
		if files[suffix], err = os.ReadFile(path + suffix); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	for _, damaged := range []bool{false, true} {
		if damaged {
			files["-wal"][100] ^= 1
		}
		place := filepath.Join(t.TempDir(), "store.db")
		for suffix, b := range files {
			if err := os.WriteFile(place+suffix, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		file := filepath.Join(t.TempDir(), "hocket.yaml")
		if err := os.WriteFile(file, []byte("store: {path: "+place+"}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		s, err := NewServer(ServeOptions{Config: file, Addr: "127.0.0.1:0", Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			// The schema itself was in the log.
			if !damaged {
				t.Fatal(err)
			}
		} else if err := s.closeAll(); err != nil {
			t.Error(err)
		}
		if told := strings.Contains(log.String(), "is damaged at byte"); told != damaged {
			t.Errorf("damaged %v, the server says %s", damaged, log.String())
		}
	}
}

// flights returns the built-in agent.
func flights(t *testing.T) *settings.Agent {
	t.Helper()
	def, err := EmbeddedAgent("flights")
	if err != nil {
		t.Fatal(err)
	}
	return def
}
