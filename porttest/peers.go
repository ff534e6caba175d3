//go:build peers

package porttest

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Client runs a client of a vendor in testdata, a program in Python or for Node, with its
// environment, and decodes the line that it prints. It skips the test if the vendors'
// packages are not installed.
func Client(t *testing.T, file string, result any, env ...string) {
	t.Helper()
	kind := "python"
	if strings.HasSuffix(file, ".mjs") {
		kind = "npm"
	}
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	fetch := filepath.Join(root, "provider", "testdata", "fetch")
	if out, err := exec.CommandContext(t.Context(), fetch, "check", kind).CombinedOutput(); err != nil { //nolint:gosec // the project's own script
		t.Skipf("the vendors' clients are not installed: run provider/testdata/fetch: %s", out)
	}
	home := filepath.Join(root, "third_party", "provider-"+kind)
	cmd := exec.CommandContext(t.Context(), filepath.Join(home, "bin", "python"), filepath.Join("testdata", file)) //nolint:gosec // what fetch has installed
	if kind == "npm" {
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
