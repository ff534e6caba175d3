package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestImportRasa checks that an assistant's folder is imported to a file, which is a
// valid agent, and that an existing file is not overwritten.
func TestImportRasa(t *testing.T) {
	out := filepath.Join(t.TempDir(), "agent.yaml")
	run := func(args ...string) (int, string, string) {
		var stdout, stderr bytes.Buffer
		status := Run(args, strings.NewReader(""), &stdout, &stderr)
		return status, stdout.String(), stderr.String()
	}
	status, stdout, stderr := run("import", "rasa", "../../dialog/rasa/testdata/transfer", "--out", out)
	if status != statusOK || stdout != "" || !strings.Contains(stderr, "flows.yml:3:5: warning: flow transfer_money: name is not carried over\n") {
		t.Errorf("status %d, printed %q, %s", status, stdout, stderr)
	}
	if status, stdout, _ := run("check", out); status != statusOK {
		t.Errorf("check: status %d: %s", status, stdout)
	}
	written, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if status, _, stderr = run("import", "rasa", "../../dialog/rasa/testdata/transfer", "--out", out); status != statusInput || !strings.Contains(stderr, "agent.yaml: file exists") {
		t.Errorf("again: status %d: %s", status, stderr)
	}
	if now, err := os.ReadFile(out); err != nil || !bytes.Equal(now, written) {
		t.Errorf("the file has changed, %v", err)
	}
	for path, want := range map[string]string{
		"missing":             "missing: no such file",
		t.TempDir():           "has no *.yml file",
		"../../compose.yaml":  "the files have no flows",
		"../../docs/flows.md": "docs/flows.md:",
	} {
		if status, stdout, stderr := run("import", "rasa", path); status != statusInput || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, printed %q, %s, want %q", path, status, stdout, stderr, want)
		}
	}
}
