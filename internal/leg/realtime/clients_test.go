package realtime_test

import (
	"bufio"
	"encoding/pem"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sounds are what the clients of others say.
var sounds = map[string]string{
	"flight":  "I want to book a flight",
	"weather": "What is the weather in Paris",
	"story":   "Please tell me a story",
}

// installed is the folder of a client of others, or the test is skipped.
func installed(t *testing.T, name string) string {
	t.Helper()
	engine(t)
	if out, err := exec.Command(filepath.Join("testdata", "fetch"), "check").CombinedOutput(); err != nil {
		t.Skipf("the clients are not there: internal/leg/realtime/testdata/fetch puts them into third_party %s", out)
	}
	home, err := filepath.Abs(filepath.Join("..", "..", "..", "third_party", "realtime-"+name))
	if err != nil {
		t.Fatal(err)
	}
	return home
}

// nodeClient runs a client of others in Node.
func nodeClient(t *testing.T, name string, want int) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: the client runs on it")
	}
	home := installed(t, name)
	cmd := exec.CommandContext(t.Context(), node, "--no-warnings", "--experimental-websocket", filepath.Join("testdata", name, "client.mjs"))
	cmd.Env = append(os.Environ(), "CLIENT_HOME="+home)
	clientChecks(t, cmd, want)
}

// clientChecks runs a client of others, whose lines tell how its checks came out.
func clientChecks(t *testing.T, cmd *exec.Cmd, want int) {
	t.Helper()
	r := newRig(t, rigOptions{keys: true})
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
	for lines := bufio.NewScanner(out); lines.Scan(); {
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
		default:
			t.Log(lines.Text())
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%s: %v", cmd.Path, err)
	}
	if n != want {
		t.Errorf("%d checks, expected %d", n, want)
	}
}

// npm openai, its WebSocket classes (both dialects) and its REST calls.
func TestClientOpenAI(t *testing.T) { nodeClient(t, "openai", 21) }

// The OpenAI Agents SDK in Node.
func TestClientAgents(t *testing.T) { nodeClient(t, "agents", 19) }

// OpenAI's SDK for Go. Its client is a module of its own, so that this one does not
// carry the SDK.
func TestClientGo(t *testing.T) {
	clientChecks(t, exec.CommandContext(t.Context(), filepath.Join(installed(t, "openai-go"), "client")), 9)
}
