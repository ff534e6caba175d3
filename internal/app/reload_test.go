package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hocketvoice/hocket/server/api"
	"github.com/hocketvoice/hocket/server/hub"
)

// TestReloadWhilePeopleCome: an agent is loaded again and again while conversations begin;
// each is held with one version, whole.
func TestReloadWhilePeopleCome(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.yaml")
	change := func(n int) {
		t.Helper()
		text := fmt.Sprintf("version: \"1.0\"\nsettings: {language: en, greeting: Hello from %d.}\nflows: {f: {trigger: {intents: [go]}, steps: [{step: a, type: say, message: Here is %d.}]}}\n", n, n)
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	change(0)
	log := &lockedBuffer{}
	r := &running{t: t, reload: make(chan os.Signal), client: &http.Client{Transport: &http.Transport{}}}
	s, err := NewServer(ServeOptions{
		Agents: []string{path}, Addr: "127.0.0.1:0", Store: filepath.Join(dir, "store"), Reload: r.reload, Log: slog.New(slog.NewJSONHandler(log, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	r.url = s.URL()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	versions := make(map[string]bool)
	version := func() string {
		var list api.AgentList
		r.do("GET", "/v1/agents", "", &list)
		return list.Agents[0].Version
	}
	versions[version()] = true
	var all sync.WaitGroup
	var mu sync.Mutex
	held := make(map[string]int)
	all.Go(func() {
		for range 60 {
			var made api.Created
			if status := r.do("POST", "/v1/conversations", `{"transport":"text"}`, &made); status != http.StatusCreated {
				t.Errorf("status %d", status)
				return
			}
			var d hub.Details
			r.do("GET", "/v1/conversations/"+made.ID, "", &d)
			mu.Lock()
			held[d.Version]++
			mu.Unlock()
			r.do("POST", "/v1/conversations/"+made.ID+"/commands", `{"type":"endConversation"}`, nil)
		}
	})
	for n := 1; n <= 20; n++ {
		before := version()
		change(n)
		r.reload <- os.Interrupt
		r.eventually("the next version", func() bool { return version() != before })
		versions[version()] = true
	}
	all.Wait()
	for v, n := range held {
		if !versions[v] {
			t.Errorf("%d conversations are held with %q, which never was", n, v)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	r.client.CloseIdleConnections()
	if strings.Contains(log.String(), `"level":"ERROR"`) {
		t.Error(log.String())
	}
}
