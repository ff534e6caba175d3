package app

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hocketvoice/hocket/server/api"
	"github.com/hocketvoice/hocket/server/hub"
)

// TestReloadWhilePeopleCome reloads an agent repeatedly while conversations begin, and checks
// that each has one whole version.
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
	r := serveWith(t, ServeOptions{Agents: []string{path}, Store: filepath.Join(dir, "store")})
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
			t.Errorf("%d conversations have the version %q, which never existed", n, v)
		}
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
	if strings.Contains(r.log.String(), `"level":"ERROR"`) {
		t.Error(r.log.String())
	}
}
