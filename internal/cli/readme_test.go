//go:build unix

package cli

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/provider/openai/fake"
)

// TestReadmeAssistant follows the README step by step: it writes the file, starts the
// tool written in Go, and runs the agent by text, by voice and as a server. The model
// is a fake, and the README's addresses are replaced by free ones.
func TestReadmeAssistant(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, ok := strings.Cut(string(readme), "## An agent with a language model")
	if !ok {
		t.Fatal("the README has no part about an agent with a language model")
	}
	file := fileBlock.FindStringSubmatch(part)
	session := regexp.MustCompile("(?s)```text\n(.*?)```").FindStringSubmatch(part)
	example, err := os.ReadFile("../../examples/assistant/assistant.yaml")
	if err != nil || file[1] != "assistant.yaml" || file[2] != string(example) {
		t.Fatalf("%v: the file of the README is not that of examples/assistant:\n%s", err, file[2])
	}
	model := &fake.Server{Answer: hoursModel}
	web := httptest.NewServer(model)
	defer web.Close()
	tool := freeAddr(t)
	there := strings.NewReplacer("127.0.0.1:11434", web.Listener.Addr().String(), "127.0.0.1:8099", tool, "127.0.0.1:8080", "127.0.0.1:0")
	program := filepath.Join(t.TempDir(), "assistant")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "../../examples/assistant").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile(file[1], []byte(there.Replace(file[2])), 0o600); err != nil {
		t.Fatal(err)
	}
	commands := strings.Split(strings.TrimSpace(session[1]), "\n$ ")
	commands[0] = strings.TrimPrefix(commands[0], "$ ")
	if len(commands) != 6 {
		t.Fatalf("%d commands: %q", len(commands), commands)
	}
	for _, c := range commands {
		line, shown, _ := strings.Cut(c, "\n")
		var args []string
		for _, w := range shellWord.FindAllString(there.Replace(line), -1) {
			args = append(args, strings.Trim(w, `"`))
		}
		switch {
		case args[0] == "make":
			// TestPeerReadme runs it.
		case args[0] == "go":
			startTool(t, program, args[3])
		case args[1] == "serve":
			serveOnce(t, args[1:])
		default:
			heard := followed(t, args[1:], shown)
			if got := withoutTimes(heard); got != withoutTyped(shown)+"\n" {
				t.Errorf("%s\nshown:\n%s\nprinted:\n%s", line, withoutTyped(shown), got)
			}
		}
	}
	calls := 0
	for _, q := range model.Requests() {
		if m := q.Messages[len(q.Messages)-1]; m.Role == "tool" && strings.Contains(m.Text(), "from 10 to 2") {
			calls++
		}
	}
	if calls == 0 || len(model.Refused()) > 0 {
		t.Errorf("%d results of the tool, refused: %q", calls, model.Refused())
	}
}

// hoursModel calls the tool for Saturday and states its result.
func hoursModel(q fake.Request) fake.Answer {
	last := q.Messages[len(q.Messages)-1]
	if last.Role != "tool" {
		return fake.Stream(fake.Begin(), fake.Call(0, "call_1", "opening_hours", `{"day":"Saturday"}`), fake.Finish("tool_calls"))
	}
	return fake.Text("On Saturday we are open ", regexp.MustCompile(`from \d+ to \d+`).FindString(last.Text())+".")
}

// followed runs a command with the input shown in the README and returns its output. If
// the build has no speech engines, a call is not run.
func followed(t *testing.T, args []string, shown string) string {
	t.Helper()
	typed := ""
	for line := range strings.Lines(shown) {
		if text, ok := strings.CutPrefix(line, "> "); ok {
			typed += text
		}
	}
	stdout, stderr, status := run(t, typed, args...)
	if args[0] == "call" && strings.Contains(stderr, lacking[0]) {
		t.Log("not compared:", stderr)
		return withoutTyped(shown) + "\n"
	}
	if status != 0 || stderr != "" && !strings.HasPrefix(stderr, "note: ") {
		t.Errorf("hocket %q: status %d: %s", args, status, stderr)
	}
	return stdout
}

// withoutTyped removes the user's input from a session.
func withoutTyped(shown string) string {
	return strings.TrimSpace(regexp.MustCompile(`(?m)^> .*\n`).ReplaceAllString(shown, ""))
}

// withoutTimes removes the times and the summary from the output of a call.
func withoutTimes(printed string) string {
	return regexp.MustCompile(`(?m)^ +[0-9.]+ s  |^call of .*\n|^\n`).ReplaceAllString(printed, "")
}

// startTool starts the tool and waits until it listens.
func startTool(t *testing.T, program, addr string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, addr)
	var out bytes.Buffer
	cmd.Stderr = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_ = cmd.Wait() // it is killed, or the test fails
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-gone
		if t.Failed() {
			t.Logf("the tool: %s", &out)
		}
	})
	waittest.Until(t, "the tool", gone, func() bool {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
		if err != nil {
			return false
		}
		_ = c.Close()
		return true
	})
}

// freeAddr returns a free address.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return addr
}

// serveOnce runs hocket serve, waits until it is ready, and stops it.
func serveOnce(t *testing.T, args []string) {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	n := newNode(t, args[2], "", "")
	n.args = append(slices.Clone(args), "--addr", strings.TrimPrefix(n.url, "http://"))
	n.start()
	if status, body := ready(t, n); status != http.StatusOK {
		t.Errorf("/readyz answers %d: %s", status, body)
	}
}

// ready returns the server's answer to /readyz.
func ready(t *testing.T, n *node) (status int, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, n.url+"/readyz", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(b)
}

// TestServeWithAWrongKey checks that the log contains the vendor's message without the
// key, and that /readyz names the model as the reason.
func TestServeWithAWrongKey(t *testing.T) {
	web := httptest.NewServer(&fake.Server{Key: "the-right-key"})
	defer web.Close()
	agent := write(t, "clerk.yaml", clerk+"model: {name: m, key_env: WRONG_KEY, base_url: "+web.URL+"/v1}\n")
	n := newNode(t, agent, "", "", "WRONG_KEY=the-wrong-key")
	n.args = []string{"serve", "--agent", agent, "--store", "off", "--addr", strings.TrimPrefix(n.url, "http://")}
	n.start()
	n.logged(attrs{"level": "WARN", "error": "Incorrect API key provided: [key]"})
	if log, err := os.ReadFile(n.log.Name()); err != nil || bytes.Contains(log, []byte("wrong-key")) {
		t.Errorf("%v, the log: %s", err, log)
	}
	if status, body := ready(t, n); status != http.StatusServiceUnavailable || !strings.Contains(body, "model") || strings.Contains(body, "-key") {
		t.Errorf("/readyz answers %d: %s", status, body)
	}
}
