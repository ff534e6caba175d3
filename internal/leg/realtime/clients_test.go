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

// clientChecks runs a client of others, whose lines tell how its checks came out.
func clientChecks(t *testing.T, name string, want int, extra ...string) {
	engine(t)
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed: the client runs on it")
	}
	if out, err := exec.Command(filepath.Join("testdata", "fetch"), "check").CombinedOutput(); err != nil {
		t.Skipf("the clients are not there: internal/leg/realtime/testdata/fetch puts them into third_party %s", out)
	}
	home, err := filepath.Abs(filepath.Join("..", "..", "..", "third_party", "realtime-"+name))
	if err != nil {
		t.Fatal(err)
	}
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
	args := append([]string{"--no-warnings", "--experimental-websocket"}, extra...)
	cmd := exec.CommandContext(t.Context(), node, append(args, filepath.Join("testdata", name, "client.mjs"))...)
	cmd.Env = append(os.Environ(),
		"CLIENT_HOME="+home, "SERVER="+r.http.URL, "SECURE_SERVER="+secure.URL, "KEY="+key, "SOUNDS="+dir, "NODE_EXTRA_CA_CERTS="+cert)
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
		t.Errorf("%s: %v", name, err)
	}
	if n != want {
		t.Errorf("%d checks, expected %d", n, want)
	}
}

// npm openai, its WebSocket classes (both dialects) and its REST calls.
func TestClientOpenAI(t *testing.T) { clientChecks(t, "openai", 21) }

// The OpenAI Agents SDK in Node: a spoken conversation with a tool and a
// barge-in.
func TestClientAgents(t *testing.T) { clientChecks(t, "agents", 19) }
