package app

import (
	"bufio"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/config"
	"github.com/hocketvoice/hocket/internal/waittest"
)

// TestDrainHandsOver checks that a stopping server hands an idle conversation to another
// server at once, however long it may drain: the client's stream says so, and the
// conversation continues there with its token.
func TestDrainHandsOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	draining := "store: {path: " + path + "}\nserver: {drain: 1h, url: \"http://127.0.0.1:1\"}\n"
	other, err := OpenStore(t.Context(), path, config.Store{}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	// Another node; its server starts when the first one has stopped.
	var opts Options
	opts.Server.URL, opts.Server.Resume = "http://127.0.0.1:2", config.Duration(time.Minute)
	second, err := openHome(t.Context(), other, opts.Server, 0, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	r := serve(t, draining)
	ctx, stop := context.WithCancel(t.Context())
	var living sync.WaitGroup
	living.Go(func() { second.Run(ctx) })
	defer living.Wait()
	defer stop()
	var begun struct {
		ID          string `json:"id"`
		ResumeToken string `json:"resume_token"`
		AccessToken string `json:"access_token"`
	}
	if status := r.do("POST", "/v1/conversations", `{"transport": "text"}`, &begun); status != http.StatusCreated {
		t.Fatalf("status %d", status)
	}
	q, err := http.NewRequestWithContext(waittest.Context(t), http.MethodGet, r.url+"/v1/conversations/"+begun.ID+"/events?from=1", nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := r.client.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	lines := bufio.NewScanner(w.Body)
	for lines.Scan() && !strings.Contains(lines.Text(), `"final":true`) {
		// The greeting comes first.
	}
	r.stop()
	last := ""
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			last = data
		}
	}
	var end struct{ Reason string }
	if err := json.Unmarshal([]byte(last), &end); err != nil || end.Reason != "handed_over" {
		t.Errorf("the stream ends with %s, error %v", last, err)
	}
	if err := r.end(); err != nil { // it does not use its hour
		t.Error(err)
	}
	if kept, _, err := second.Take(t.Context(), begun.ID); err != nil || kept.Ended {
		t.Errorf("%+v, error %v", kept, err)
	}
	second.Over(begun.ID, false)
	stop()
	living.Wait()
	if err := second.Close(); err != nil {
		t.Error(err)
	}
	next := serve(t, "store: {path: "+path+"}\nserver: {drain: off}\n")
	if status := next.do("POST", "/v1/conversations", `{"resume": "`+begun.ResumeToken+`"}`, nil); status != http.StatusCreated {
		t.Errorf("at the next server: status %d", status)
	}
}
