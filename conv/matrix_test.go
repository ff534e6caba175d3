package conv_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The matrix of what may happen while a tool or an agent works. A scenario names its
// cell in a comment, "# cell: kind / event", before the `new` that begins it.
var (
	workKinds = []string{
		"quick tool of a model", "quick action of a flow", "long task of a model", "long action of a flow",
		"adopted task", // of an earlier conversation
	}
	workEvents = []string{
		"barge-in over its announcement", "words while it runs", "silence", "never mind by voice", "user.cancel by button",
		"connection lost and restored", "hang-up", "its failure", "its timeout",
	}
)

// TestMatrix asks that each cell has a scenario, with assertions of its own: a golden
// output alone is rewritten in one stroke.
func TestMatrix(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scenarios, error %v", len(files), err)
	}
	missing := make(map[string]bool)
	for _, kind := range workKinds {
		for _, event := range workEvents {
			missing[kind+" / "+event] = true
		}
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, part := range strings.Split("\n"+string(b), "\n# cell: ") {
			cell, scenario, _ := strings.Cut(part, "\n")
			if i == 0 {
				continue
			}
			if _, ok := missing[cell]; !ok {
				t.Errorf("%s: there is no cell %q", file, cell)
				continue
			}
			// The first says that the work runs, the others what is promised then.
			if n := strings.Count(scenario, "\nexpect\n"); n < 2 {
				t.Errorf("%s: %s: %d expectations, at least 2 wanted", file, cell, n)
			}
			missing[cell] = false
		}
	}
	for _, kind := range workKinds {
		for _, event := range workEvents {
			if missing[kind+" / "+event] {
				t.Errorf("no scenario for %s / %s", kind, event)
			}
		}
	}
}
