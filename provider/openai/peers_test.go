//go:build peers

package openai

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
	"github.com/hocketvoice/hocket/porttest"
)

// aimock starts a third-party server on a port of the loopback interface and
// returns its address.
func aimock(t *testing.T) string {
	t.Helper()
	script := filepath.Join("..", "..", "third_party", "aimock-1.43.0", "package", "dist", "cli.js")
	if _, err := os.Stat(script); err != nil {
		t.Skip("aimock is not there: provider/openai/testdata/aimock/fetch puts it into third_party")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: aimock runs on it")
	}
	server := exec.Command(node, script, "--port", "0", "--strict", "--fixtures", filepath.Join("testdata", "aimock", "fixtures.json"))
	server.Env = append(os.Environ(), "AIMOCK_API_KEYS="+testKey)
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	server.Stderr = server.Stdout
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			lines <- s.Text()
		}
	}()
	t.Cleanup(func() {
		_ = server.Process.Kill()
		for range lines {
			continue // until its output ends
		}
		_ = server.Wait()
	})
	limit := time.After(30 * time.Second)
	for {
		select {
		case line, ok := <-lines:
			if _, at, found := strings.Cut(line, "listening on "); found {
				go func() {
					for range lines {
						continue // later output is ignored, but must not block the server
					}
				}()
				return strings.TrimSpace(at)
			}
			if !ok {
				t.Fatal("aimock has ended without listening")
			}
		case <-limit:
			t.Fatal("aimock does not listen within 30 s")
		}
	}
}

// The client works with a third-party server over real HTTP.
func TestPeerAimock(t *testing.T) {
	base := aimock(t)
	var reports []Report
	open := func(t *testing.T, change func(*Options)) *Model {
		o := Options{
			BaseURL: base + "/v1", Model: "gpt-4o", KeyEnv: "KEY", Getenv: func(string) string { return testKey },
			Report: func(r Report) { reports = append(reports, r) },
		}
		if change != nil {
			change(&o)
		}
		m, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = m.Close() })
		return m
	}
	ask := func(text string) port.Request {
		return port.Request{Instructions: "Be brief.", Messages: []port.Message{{Role: "user", Content: text}}}
	}
	t.Run("the port's rules", func(t *testing.T) {
		porttest.TestModel(t, func(t *testing.T) port.Model {
			return open(t, func(o *Options) { o.Report = nil })
		})
	})
	t.Run("calls and their results", func(t *testing.T) {
		m := open(t, nil)
		r := ask("Book two flights.")
		r.Tools = []port.ToolSpec{{Name: "book_flight", Schema: []byte(`{"type":"object","properties":{"to":{"type":"string"},"note":{"type":"string"}}}`)}}
		var calls []port.ToolCall
		if err := m.Reply(t.Context(), r, func(d port.Delta) error {
			if d.Call != nil {
				calls = append(calls, *d.Call)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		var first struct{ To, Note string }
		if len(calls) != 2 || json.Unmarshal([]byte(calls[0].Arguments), &first) != nil || first.To != "Boston" || first.Note != `window seat, "quiet" car` ||
			calls[1].Arguments != `{"to":"Denver"}` || calls[1].Name != "book_flight" || calls[0].ID == calls[1].ID {
			t.Fatalf("calls %+v", calls)
		}
		if last := reports[len(reports)-1]; !last.Counted || last.Usage.Completion == 0 || last.Finish != "tool_calls" || last.Calls != 2 || last.RequestID == "" {
			t.Errorf("report %+v", last)
		}
		for i, result := range []string{"first done", "second done"} {
			c := calls[i]
			r.Messages = append(r.Messages, port.Message{Role: "tool", CallID: c.ID, Name: c.Name, Arguments: c.Arguments, Content: result})
		}
		var text strings.Builder
		err := m.Reply(t.Context(), r, func(d port.Delta) error { text.WriteString(d.Text); return nil })
		if err != nil || text.String() != "Both flights are booked." {
			t.Errorf("%q, error %v", text.String(), err)
		}
	})
	t.Run("a form", func(t *testing.T) {
		got, err := open(t, nil).ReplyJSON(t.Context(), ask("As JSON, where to?"), port.Form{Schema: []byte(`{"type":"object"}`)})
		if err != nil || string(got) != `{"to":"Boston"}` {
			t.Errorf("%s, error %v", got, err)
		}
	})
	t.Run("Azure's path", func(t *testing.T) {
		m := open(t, func(o *Options) { o.BaseURL, o.APIVersion = base, "2024-10-21" })
		if _, err := m.ReplyJSON(t.Context(), ask("As JSON, where to?"), port.Form{Schema: []byte(`{"type":"object"}`)}); err != nil {
			t.Error(err)
		}
	})
	t.Run("failures", func(t *testing.T) {
		ignore := func(port.Delta) error { return nil }
		m := open(t, nil)
		f := wantFailure(t, m.Reply(t.Context(), ask("Too fast."), ignore), errclass.RateLimit, "429", "Rate limit reached")
		if f.After != time.Second {
			t.Errorf("after %v, expected 1s", f.After)
		}
		f = wantFailure(t, m.Reply(t.Context(), ask("Break off."), ignore), errclass.NetworkTimeout)
		if !strings.HasPrefix(f.Partial, "This ") || strings.Contains(f.Partial, "end") {
			t.Errorf("partial %q", f.Partial)
		}
		stranger := open(t, func(o *Options) { o.Getenv = func(string) string { return "sk-wrong-key" } })
		wantFailure(t, stranger.Reply(t.Context(), ask("Hello"), ignore), errclass.AuthFailure, "401")
	})
	t.Run("an end in the middle", func(t *testing.T) {
		m := open(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		start := time.Now()
		err := m.Reply(ctx, ask("Slowly, please."), func(port.Delta) error {
			if n++; n == 2 {
				start = time.Now()
				cancel()
			}
			return nil
		})
		if !errors.Is(err, context.Canceled) || n != 2 {
			t.Errorf("%d pieces, error %v", n, err)
		}
		t.Logf("Reply returned %v after the end of its context", time.Since(start))
	})
}
