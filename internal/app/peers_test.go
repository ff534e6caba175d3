//go:build peers

package app

import (
	"bufio"
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/provider/flite"
	"github.com/hocketvoice/hocket/provider/pocketsphinx"
	"github.com/hocketvoice/hocket/session"
)

// aimock starts a model server written by others, with the answers of a file, and returns its
// address.
func aimock(t *testing.T, fixtures string) (url string, stop func()) {
	t.Helper()
	script := filepath.Join("..", "..", "third_party", "aimock-1.43.0", "package", "dist", "cli.js")
	if _, err := os.Stat(script); err != nil {
		t.Skip("aimock is not there: provider/openai/testdata/aimock/fetch puts it into third_party, with npm")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: aimock runs on it")
	}
	server := exec.CommandContext(t.Context(), node, script, "--port", "0", "--strict", "--fixtures", fixtures)
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	server.Stderr = server.Stdout
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	listening := make(chan string, 1)
	var reader sync.WaitGroup
	reader.Go(func() {
		defer close(listening)
		for s := bufio.NewScanner(out); s.Scan(); {
			if _, at, found := strings.Cut(s.Text(), "listening on "); found {
				listening <- strings.TrimSpace(at)
			}
		}
	})
	stop = sync.OnceFunc(func() {
		_ = server.Process.Kill()
		reader.Wait()
		_ = server.Wait()
	})
	t.Cleanup(stop)
	url, ok := <-listening
	if !ok {
		t.Fatal("aimock has ended without listening")
	}
	return url, stop
}

const forecaster = `version: "1.0"
settings: {greeting: "Hello. I know the weather.", model: {answers: true}}
instructions: You know the weather. Be brief.
tools: [weather]
`

// TestPeerModelAgentInACall holds a spoken call with an agent that has instructions and a
// tool: the model calls the tool, its answer is interrupted, the history keeps what was heard
// of it, and the trace replays without the servers.
func TestPeerModelAgentInACall(t *testing.T) {
	t.Parallel()
	url, stop := aimock(t, filepath.Join("testdata", "aimock.json"))
	var asked atomic.Int32
	weather := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Query().Get("city") != "Boston" {
			t.Errorf("asked for %s", r.URL)
		}
		if _, err := w.Write([]byte(`{"forecast":"showers"}`)); err != nil {
			t.Error(err)
		}
	}))
	defer weather.Close()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"agent.yaml": forecaster,
		"config.yaml": "model: {name: gpt-4o, base_url: \"" + url + "/v1\"}\n" +
			"tools: {http: [{name: weather, method: GET, url: \"" + weather.URL + "\", parameters: [{name: city}]}]}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	trace := filepath.Join(dir, "call.jsonl")
	var history []conv.Item
	var ran int
	_, err := Call(t.Context(), CallOptions{
		Agent: filepath.Join(dir, "agent.yaml"), Config: filepath.Join(dir, "config.yaml"), Trace: trace,
		Lines: []CallerLine{
			{Text: "what is the weather in Boston today"},
			{Text: "stop that is enough thank you", BargeIn: 3 * time.Second},
		},
		Day: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
		Watch: func(s session.Step) {
			if len(s.State.History) > 0 {
				history = append(history[:0], s.State.History...)
			}
			for _, e := range s.Output.Effects {
				if _, ok := e.(conv.RunTool); ok {
					ran++
				}
			}
		},
	})
	if errors.Is(err, flite.ErrMissing) || errors.Is(err, pocketsphinx.ErrMissing) {
		t.Skip("this build has no speech engines:", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	var cut *conv.Item
	for i := range history {
		it := &history[i]
		t.Logf("%d %s: %q (meant %q, interrupted %v)", it.Turn, it.Role, it.Text, it.Full, it.Interrupted)
		if it.Interrupted && it.Role == conv.RoleAgent {
			cut = it
		}
	}
	if ran != 1 || asked.Load() != 1 {
		t.Errorf("the tool ran %d times and was asked %d times", ran, asked.Load())
	}
	if cut == nil || !strings.HasPrefix(cut.Text, "In Boston there") || !strings.HasPrefix(cut.Full, cut.Text) || strings.Contains(cut.Text, "Tomorrow") {
		t.Errorf("the answer that was broken off: %+v", cut)
	}
	if last := history[len(history)-1]; last.Role != conv.RoleAgent || last.Text != "All right. Have a nice day." {
		t.Errorf("the last words: %+v", last)
	}
	stop()
	weather.Close()
	recorded, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	if steps, err := journal.Replay(bytes.NewReader(recorded), nil); err != nil || steps < 50 {
		t.Errorf("%d steps replayed, error %v", steps, err)
	}
}
