//go:build peers

package porttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/internal/fakes"
)

// Client runs a client of a vendor in testdata, a program in Python or for Node, with its
// environment, and decodes the line that it prints. A file whose name ends with .pipecat.py runs
// with Pipecat, whose clients are those of many vendors, and those with .model.py or .model.mjs run
// with the clients of language models. It skips the test if the packages are
// not installed.
func Client(t *testing.T, file string, result any, env ...string) {
	t.Helper()
	in, prefix, kind := "provider", "provider-", "python"
	switch {
	case strings.HasSuffix(file, ".model.py"):
		kind = "python-models"
	case strings.HasSuffix(file, ".model.mjs"):
		kind = "npm-models"
	case strings.HasSuffix(file, ".mjs"):
		kind = "npm"
	case strings.HasSuffix(file, ".pipecat.py"):
		in, prefix, kind = filepath.Join("leg", "realtime"), "realtime-", "python-pipecat"
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	fetch := filepath.Join(root, in, "testdata", "fetch")
	if out, err := exec.CommandContext(t.Context(), fetch, "check", kind).CombinedOutput(); err != nil { //nolint:gosec // the project's own script
		t.Skipf("the clients are not installed: run %s/testdata/fetch: %s", in, out)
	}
	home := filepath.Join(root, "third_party", prefix+kind)
	cmd := exec.CommandContext(t.Context(), filepath.Join(home, "bin", "python"), filepath.Join("testdata", file)) //nolint:gosec // what fetch has installed
	if strings.HasPrefix(kind, "npm") {
		node, err := exec.LookPath("node")
		if err != nil {
			t.Skip("node is not installed: the client runs on it")
		}
		cmd = exec.CommandContext(t.Context(), node, "--no-warnings", filepath.Join("testdata", file)) //nolint:gosec // a script of the tests
	}
	cmd.Env = append(append(os.Environ(), "CLIENT_HOME="+home, "PYTHONDONTWRITEBYTECODE=1"), env...)
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", file, err, out, errors.Bytes())
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if err := json.Unmarshal(lines[len(lines)-1], result); err != nil {
		t.Fatalf("%s printed %q: %v\n%s", file, out, err, errors.Bytes())
	}
}

// Pipecat has Pipecat's service for a vendor talk to a fake of the vendor at an address, with the
// mouth of a [Synthesizer] at 24 kHz.
func Pipecat(t *testing.T, vendor, url string, s *fakes.Server) {
	t.Helper()
	var got struct {
		Bytes, Cancelled int
		Words            []string
		Error            *string
	}
	Client(t, "../../testdata/voice.pipecat.py", &got, "VENDOR="+vendor, "KEY="+HostedKey, "URL="+url)
	const text = "from new york to boston."
	// 20 letters, with the full stop, of 60 ms, two bytes a sample.
	const want = 20 * 60 * 24 * 2
	if got.Error != nil || got.Bytes < want-960 || got.Bytes > want+960 || got.Cancelled == 0 || strings.Join(got.Words, " ") != text {
		t.Errorf("%+v, error %v, want %d bytes", got, got.Error, want)
	}
	wantRules(t, s)
	if n := s.Connections(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

// ModelClients has the clients of a vendor of language models, in Python and for Node, talk to its
// fake: they ask, call a tool twice at once, send the results, and learn that a key is wrong. The
// finish reason of calls is stop.
func ModelClients(t *testing.T, script, stop string, fake func(key string) *fakes.Mind) {
	t.Helper()
	calls := []fakes.MindCall{{ID: "call_1", Name: "book", Arguments: `{"to":"Boston"}`}, {ID: "call_2", Name: "book", Arguments: `{"to":"Denver"}`}}
	for _, ending := range []string{".model.py", ".model.mjs"} {
		t.Run(strings.TrimPrefix(ending, ".model."), func(t *testing.T) {
			f := fake(HostedKey)
			f.Answer = func(q fakes.MindRequest) fakes.MindAnswer {
				switch last := q.Said[len(q.Said)-1]; {
				case last.Role == "tool":
					return fakes.MindAnswer{Said: []string{"Both ", "are ", last.Text, "."}}
				case len(q.Tools) > 0:
					return fakes.MindAnswer{Said: []string{"One ", "moment."}, Calls: calls}
				default:
					return fakes.MindAnswer{Said: []string{"Hello ", "yourself."}}
				}
			}
			s := httptest.NewServer(f)
			defer s.Close()
			var got struct {
				Text, After, Stop string
				Calls             [][2]any
				Usage             []int
				Error             *string
			}
			Client(t, script+ending, &got, "KEY="+HostedKey, "URL="+s.URL)
			want := []int{fakes.UsedPrompt - fakes.UsedCached, fakes.UsedCached, fakes.UsedCompletion}
			if got.Error != nil || got.Text != "Hello |yourself.|" || got.After != "Both are done." || got.Stop != stop || !slices.Equal(got.Usage, want) ||
				fmt.Sprint(got.Calls) != "[[book map[to:Boston]] [book map[to:Denver]]]" {
				t.Errorf("%+v, refused %q", got, f.Refused())
			}
			if no := f.Refused(); len(no) > 0 {
				t.Errorf("refused: %q", no)
			}
			Client(t, script+ending, &got, "KEY=wrong", "URL="+s.URL)
			if got.Error == nil || !strings.HasPrefix(*got.Error, "4") {
				t.Errorf("with a wrong key: %+v", got)
			}
		})
	}
}
