//go:build peers

package realtime_test

import (
	"bufio"
	"context"
	"encoding/json"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/leg/realtime"
	"github.com/hocketvoice/hocket/leg/webrtc"
)

// sounds are the texts that the clients speak.
var sounds = map[string]string{
	"flight":  "I want to book a flight",
	"weather": "What is the weather in Paris",
	"story":   "Please tell me a story",
}

// installed returns the folder of a third-party client. It skips the test if the client
// is not installed.
func installed(t *testing.T, name string) string {
	t.Helper()
	engine(t)
	if out, err := exec.Command(filepath.Join("testdata", "fetch"), "check", name).CombinedOutput(); err != nil {
		t.Skipf("the client %s is not installed: run leg/realtime/testdata/fetch: %s", name, out)
	}
	home, err := filepath.Abs(filepath.Join("..", "..", "third_party", "realtime-"+name))
	if err != nil {
		t.Fatal(err)
	}
	return home
}

// nodeClient returns the command of a client that runs in Node.
func nodeClient(t *testing.T, name string, env ...string) *exec.Cmd {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: the client runs on it")
	}
	home := installed(t, name)
	cmd := exec.CommandContext(t.Context(), node, "--no-warnings", "--experimental-websocket", filepath.Join("testdata", name, "client.mjs"))
	cmd.Env = append(append(os.Environ(), "CLIENT_HOME="+home), env...)
	return cmd
}

// pythonClient returns the command of a client that runs in Python, in its own
// environment.
func pythonClient(t *testing.T, name string) *exec.Cmd {
	t.Helper()
	home := installed(t, name)
	cmd := exec.CommandContext(t.Context(), filepath.Join(home, "bin", "python"), filepath.Join("testdata", name, "client.py"))
	cmd.Env = append(os.Environ(), "PYTHONPATH=testdata", "PYTHONDONTWRITEBYTECODE=1", "PYTHONWARNINGS=ignore")
	return cmd
}

// clientChecks runs a client, whose output contains the results of its checks.
func clientChecks(t *testing.T, cmd *exec.Cmd, want int, change ...func(*testing.T, *realtime.Options)) {
	t.Helper()
	r := newRig(t, rigOptions{keys: true, change: func(o *realtime.Options) {
		for _, f := range change {
			f(t, o)
		}
	}})
	secure := httptest.NewTLSServer(r.srv)
	t.Cleanup(secure.Close)
	dir := t.TempDir()
	cert := filepath.Join(dir, "cert.pem")
	if err := os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, text := range sounds {
		if err := os.WriteFile(filepath.Join(dir, name+".pcm"), bytesOf(sound(t, text)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env,
		"SERVER="+r.http.URL, "SECURE_SERVER="+secure.URL, "KEY="+key, "SOUNDS="+dir, "NODE_EXTRA_CA_CERTS="+cert)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	n := 0
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		result, rest, _ := strings.Cut(lines.Text(), " ")
		id, what, _ := strings.Cut(rest, " ")
		switch result {
		case "ok", "failed":
			n++
			t.Run(id, func(t *testing.T) {
				if result == "failed" {
					t.Error(what)
				}
			})
		case "event":
			e := event{raw: []byte(rest)}
			if err := json.Unmarshal(e.raw, &e.m); err != nil {
				t.Error(err)
			}
			e.Type, _ = e.m["type"].(string)
			record(t, e, false)
		default:
			t.Log(lines.Text())
		}
	}
	run.mu.Lock()
	if len(run.invalid)+len(run.unknown) > 0 {
		t.Errorf("invalid or unknown events: %s %s", some(run.invalid), some(run.unknown))
	}
	run.mu.Unlock()
	if err := cmd.Wait(); err != nil {
		t.Errorf("%s: %v", cmd.Path, err)
	}
	if n != want {
		t.Errorf("%d checks, expected %d", n, want)
	}
}

// The npm package openai: its WebSocket classes (both dialects) and its REST calls.
func TestPeerOpenAI(t *testing.T) {
	t.Parallel()
	cmd := nodeClient(t, "openai")
	take(t, 1)
	clientChecks(t, cmd, 21)
}

// The OpenAI Agents SDK in Node.
func TestPeerAgents(t *testing.T) {
	t.Parallel()
	cmd := nodeClient(t, "agents")
	take(t, 1)
	clientChecks(t, cmd, 19)
}

// The beta dialect: openai-realtime-api and rt-client.
func TestPeerBeta(t *testing.T) {
	t.Parallel()
	cmd := nodeClient(t, "beta")
	take(t, 1)
	clientChecks(t, cmd, 27)
}

// OpenAI's SDK for Go. Its client is a separate module, so that this one does not
// depend on the SDK.
func TestPeerGo(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), filepath.Join(installed(t, "openai-go"), "client"))
	take(t, 1)
	clientChecks(t, cmd, 9)
}

// Clients in Python, each in its own environment.
func TestPeerPython(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		checks int
	}{
		{"openai", 15},  // OpenAI's library
		{"agents", 10},  // OpenAI's Agents SDK, which interrupts only by conversation.item.truncate
		{"pipecat", 6},  // pipecat's service for the protocol, in a pipeline
		{"livekit", 10}, // LiveKit's model for the protocol, without a room
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd := pythonClient(t, "python-"+c.name)
			take(t, 1)
			clientChecks(t, cmd, c.checks, mocked)
		})
	}
}

// mocked lists a model named "mock".
func mocked(_ *testing.T, o *realtime.Options) {
	o.Models = func() []string { return []string{"mock"} }
}

// The Agents SDK and the npm package openai in Chromium, over WebRTC.
func TestPeerBrowser(t *testing.T) {
	t.Parallel()
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Skip("Chromium is not installed")
	}
	cmd := nodeClient(t, "browser", "CHROMIUM="+browser)
	take(t, 2) // the browser needs as much as the conversation
	clientChecks(t, cmd, 15, withCalls)
}

// withCalls enables calls over WebRTC.
func withCalls(t *testing.T, o *realtime.Options) {
	t.Helper()
	s, err := webrtc.NewServer(webrtc.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	o.Answer = func(ctx context.Context, offer string) (realtime.Call, string, error) {
		l, answer, err := s.Accept(ctx, offer)
		if err != nil {
			return nil, "", err
		}
		return l, answer, nil
	}
}
