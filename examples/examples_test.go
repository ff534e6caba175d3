package examples_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/detector/silero"
	"github.com/hocketvoice/hocket/internal/waittest"
	"github.com/hocketvoice/hocket/provider/flite"
	"github.com/hocketvoice/hocket/provider/pocketsphinx"
)

// lines are the maximum lengths of the programs without their header comments, as
// documented in docs/library.md.
var lines = map[string]int{"call": 40, "browsers": 25, "functions": 50, "machine": 30}

// engines skips a test if the build has no speech engines, and otherwise returns
// the build tags for them.
func engines(t *testing.T) (tags string) {
	t.Helper()
	voice, err1 := flite.New(flite.Options{})
	ears, err2 := pocketsphinx.New(pocketsphinx.Options{})
	if err1 != nil || err2 != nil {
		t.Skipf("a spoken call needs both speech engines: %v, %v", err1, err2)
	}
	if err := voice.Close(); err != nil {
		t.Error(err)
	}
	if err := ears.Close(); err != nil {
		t.Error(err)
	}
	return "flite,pocketsphinx"
}

// weights names a file with the weights of the detector.
func weights(t *testing.T) string {
	t.Helper()
	b, ok := silero.Embedded()
	if !ok {
		t.Skip("a spoken call needs the weights of the detector, which are not built in")
	}
	path := filepath.Join(t.TempDir(), "silero.onnx")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// build compiles the program in a folder.
func build(t *testing.T, dir, tags string, env ...string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "program")
	run(t, dir, env, "go", "build", "-trimpath", "-buildvcs=false", "-tags", tags, "-o", path, ".")
	return path
}

// run runs a command to its end, and returns its output.
func run(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	var stderr bytes.Buffer
	c.Dir, c.Env, c.Stderr = dir, append(os.Environ(), env...), &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

const clinicCall = `agent: Riverside Clinic, good day. I can book, move or cancel an appointment. How can I help?
user: when are you open
agent: We are open from Monday to Friday, from eight in the morning to half past five.
`

// TestPrograms checks that each program does what its comment says.
func TestPrograms(t *testing.T) {
	t.Run("machine", func(t *testing.T) {
		out := run(t, ".", nil, build(t, "machine", ""))
		for _, want := range []string{"audio.ready -> conv.Speak{", "stt.partial -> conv.FlushPlayout{", `processing.understanding; heard: "Hello."`} {
			if !strings.Contains(out, want) {
				t.Errorf("it printed\n%sexpected %q in it", out, want)
			}
		}
	})
	t.Run("call", func(t *testing.T) {
		tags := engines(t)
		if out := run(t, ".", nil, build(t, "call", tags), "clinic", weights(t)); out != clinicCall {
			t.Errorf("it printed\n%sexpected\n%s", out, clinicCall)
		}
	})
	t.Run("functions", func(t *testing.T) {
		tags := engines(t)
		out := run(t, ".", nil, build(t, "functions", tags), filepath.Join("functions", "agent"), weights(t))
		if want := "user: four\nagent: Table 14 is yours. Good bye.\n"; !strings.HasSuffix(out, want) {
			t.Errorf("it printed\n%sexpected the end\n%s", out, want)
		}
	})
	t.Run("browsers", func(t *testing.T) { serves(t, build(t, "browsers", engines(t)), "clinic") })
}

// serves runs a server with an agent and loads the page and the list of agents.
func serves(t *testing.T, program, agent string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var out bytes.Buffer
	c := exec.CommandContext(ctx, program, agent, addr)
	c.Stderr = &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = c.Wait() // it is stopped, or the test fails
	}()
	defer func() {
		stop()
		<-ended
		if t.Failed() {
			t.Logf("the program: %s", &out)
		}
	}()
	waittest.Until(t, "the server", ended, func() bool {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return false
		}
		_ = conn.Close()
		return true
	})
	for path, want := range map[string]string{"/": "<!doctype html>", "/v1/agents": `"name":"clinic","title":"Clinic","language":"en","speech":true`} {
		if got := get(t, "http://"+addr+path); !strings.Contains(strings.ToLower(got), strings.ToLower(want)) {
			t.Errorf("%s gives %s, expected %s in it", path, got, want)
		}
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d, %v", url, r.StatusCode, err)
	}
	return string(b)
}

// TestShort checks the lengths of the programs.
func TestShort(t *testing.T) {
	for name, most := range lines {
		b, err := os.ReadFile(filepath.Join(name, "main.go"))
		if err != nil {
			t.Fatal(err)
		}
		_, code, ok := bytes.Cut(b, []byte("\npackage main\n"))
		if n := bytes.Count(code, []byte("\n")) + 1; !ok || n > most {
			t.Errorf("examples/%s has %d lines, expected at most %d", name, n, most)
		}
	}
}

// foreign are modules that a program for calls must not link: databases, WebRTC,
// SDKs of tools, servers.
var foreign = []string{
	"modernc.org/", "github.com/jackc/", "github.com/pressly/", "github.com/pion/", "github.com/modelcontextprotocol/",
	"github.com/a2aproject/", "github.com/coder/websocket", "github.com/prometheus/", "go.opentelemetry.io/", "github.com/cschleiden/",
}

// lean returns the modules that a program must not link but does.
func lean(t *testing.T, dir string, env ...string) {
	t.Helper()
	all := strings.Fields(run(t, dir, env, "go", "list", "-deps", "."))
	if !slices.Contains(all, "github.com/hocketvoice/hocket") {
		t.Fatal("the list is not that of the program")
	}
	for _, pkg := range all {
		if slices.ContainsFunc(foreign, func(f string) bool { return strings.HasPrefix(pkg, f) }) || strings.Contains(pkg, "hocket/server") {
			t.Errorf("a program that holds a call links %s", pkg)
		}
	}
}

// TestLean checks that a program for calls links neither databases nor WebRTC.
func TestLean(t *testing.T) { lean(t, "call") }
