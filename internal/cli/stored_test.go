//go:build unix

package cli

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/provider/flite"
	"github.com/hocketvoice/hocket/provider/pocketsphinx"
)

// speechless skips a test that needs speech if the build has none.
func speechless(t *testing.T, stderr string) {
	t.Helper()
	for _, missing := range []error{flite.ErrMissing, pocketsphinx.ErrMissing} {
		if strings.Contains(stderr, missing.Error()) {
			t.Skip(missing)
		}
	}
}

// TestStoredTrace checks that the trace of a call whose process was killed while the
// agent spoke, and that continued in another process, can be replayed from the store
// and from a file, with a key and without.
func TestStoredTrace(t *testing.T) { eachStore(t, traceOfTwo) }

func traceOfTwo(t *testing.T, store string) {
	t.Setenv("HOCKET_TEST_KEY", base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32)))
	t.Setenv("HOCKET_TEST_STORE", store) // as users would do to hide a password
	config := write(t, "c.yaml", "store: {keys: [HOCKET_TEST_KEY]}\n")
	more := []string{"--store", "${HOCKET_TEST_STORE}", "--config", config}
	id := killedCall(t, more)

	_, stderr, status := run(t, "", append([]string{"call", "--agent", flights, "--resume", id, "--say", "I want to book a flight"}, more...)...)
	if status != 0 || strings.Contains(stderr, "secret") {
		t.Fatalf("status %d: %s", status, stderr)
	}
	out := output(t, "", append([]string{"replay", id}, more...)...)
	if !strings.HasPrefix(out, id+": ") || !strings.HasSuffix(out, " steps, each the same\n") {
		t.Errorf("replayed: %s", out)
	}
	timeline := output(t, "", append([]string{"replay", id, "--timeline"}, more...)...)
	first, second, ok := strings.Cut(timeline, "\nit goes on in another process\n")
	if !ok || !strings.Contains(first, "-> speaking (playout.started)") || !strings.Contains(second, "speaking -> reconnecting (connection.lost)") ||
		!strings.Contains(second, `caller         "i want to book a flight"`) {
		t.Errorf("the timeline:\n%s", timeline)
	}
	trace := filepath.Join(t.TempDir(), "call.jsonl")
	if out := output(t, "", append([]string{"conversations", "export", id, "--trace", trace}, more...)...); !strings.Contains(out, `"id": "`+id+`"`) {
		t.Errorf("exported: %s", out)
	}
	if info, err := os.Stat(trace); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the trace has mode %v, error %v", info.Mode(), err)
	}
	if got := output(t, "", "replay", trace); strings.TrimPrefix(got, trace) != strings.TrimPrefix(out, id) {
		t.Errorf("from the file: %s, from the store: %s", got, out)
	}

	_, stderr, status = run(t, "", "replay", id, "--store", store)
	if status != statusInput || !strings.Contains(stderr, "the conversation is encrypted") {
		t.Errorf("without the key: status %d: %s", status, stderr)
	}
	output(t, "", append([]string{"conversations", "delete", id}, more...)...)
	if _, stderr, status := run(t, "", append([]string{"replay", id}, more...)...); status != statusInput || !strings.Contains(stderr, "no trace") {
		t.Errorf("after the deletion: status %d: %s", status, stderr)
	}
}

// killedCall starts a process with a call in real time, kills it while the agent
// speaks, and returns the conversation's id.
func killedCall(t *testing.T, more []string) string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), program, append([]string{"call", "--agent", flights, "--realtime", "--say", "hello"}, more...)...)
	cmd.Env = append(os.Environ(), mainEnv+"=1")
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		out, _, _ := run(t, "", append([]string{"conversations", "list"}, more...)...)
		if id, rest, ok := strings.Cut(out, " "); ok && strings.Contains(rest, "speaking") {
			if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) { // by its id
				t.Fatal(err)
			}
			<-ended
			return id
		}
		select {
		case err := <-ended:
			speechless(t, stderr.String())
			t.Fatalf("the call has ended: %v: %s", err, &stderr)
		case <-tick.C:
		}
	}
}
