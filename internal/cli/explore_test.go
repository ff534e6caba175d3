package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/explore"
)

// TestExplore runs the command once: the report is whole and without violation,
// the generated machine is what it found, and what people get of it has the
// shape that the documentation shows.
func TestExplore(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("the exploration takes half a minute, and many under the race detector")
	}
	var r struct {
		explore.Report
		ElapsedMS int64 `json:"elapsed_ms"`
	}
	text := output(t, "", "explore", "--json")
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	if r.Violations == nil || len(r.Violations) > 0 || r.States < 100_000 || r.ElapsedMS < 1 || len(r.Views) != len(conv.AllViews()) {
		t.Errorf("%d violations, %d states, %d ms, %d views", len(r.Violations), r.States, r.ElapsedMS, len(r.Views))
	}
	if stale := explore.Known().Stale(&r.Report); stale != nil {
		t.Errorf("internal/explore/reached_gen.go is out of date: run go generate ./internal/explore\n%s", strings.Join(stale, "\n"))
	}
	human := describeReport(&r.Report, time.Duration(r.ElapsedMS)*time.Millisecond)
	switch shown := documented(t, "hocket explore"); {
	case *rewrite:
		rewriteDocument(t, "$ hocket explore\n"+shown, "$ hocket explore\n"+human)
	case shape(human) != shape(shown):
		t.Errorf("docs/cli.md (-rewrite writes it anew) shows another report than\n%s", human)
	}
}

// TestExploreViolations: what does not hold is told with the way to it.
func TestExploreViolations(t *testing.T) {
	r := &explore.Report{
		States: 1234567, Steps: 12, Late: 3, Liveness: 90 * time.Second, LivePhase: conv.Faulted,
		Views: []explore.Coverage{
			{View: conv.ViewEasyTurn, Reached: make([]explore.Edge, 14), Rows: 15},
			{View: conv.ViewInteraction, Reached: make([]explore.Edge, 5), Outside: make([]explore.Edge, 1), Rows: 5},
		},
		Configs: []explore.ConfigSize{{Name: "tools", States: 1234567, Steps: 12}},
		Violations: []explore.Violation{
			{
				Config: "tools", Check: "invariant: tool.done was late and had effects", What: "tool.done was late and had effects: [x]",
				Path: []string{`{"type":"user.start"}`, `{"type":"deadline"} (tool)`},
			},
			{Check: "completeness easyturn", What: "easyturn: the transition from IDLE to LISTENING is never reached"},
		},
	}
	golden(t, "explore.violations", describeReport(r, 2500*time.Millisecond))
}

// shape is a text without its numbers and the widths that depend on them.
func shape(text string) string {
	var b strings.Builder
	for _, word := range strings.Fields(text) {
		if strings.ContainsAny(word, "0123456789") {
			word = "N"
		}
		b.WriteString(word + " ")
	}
	return b.String()
}
