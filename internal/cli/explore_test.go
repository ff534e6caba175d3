package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/conv/view"
	"github.com/hocketvoice/hocket/internal/explore"
)

// TestExplore runs the command on a part of the machine. It checks that the report is
// complete, that it contains no violations except for what the part cannot reach, and
// that the readable form has the shape shown in the documentation. A test of package
// explore checks the whole machine, which takes half a minute; with -rewrite this test
// does too.
func TestExplore(t *testing.T) {
	var r struct {
		explore.Report
		ElapsedMS int64 `json:"elapsed_ms"`
	}
	part := explore.Shipped()[:1]
	part[0].Events = func(ev conv.Event) bool {
		switch ev.(type) {
		case conv.UserStart, conv.SessionReady, conv.AudioReady, conv.SpeechStarted, conv.SpeechStopped, conv.STTFinal, conv.UserStop:
			return true
		default:
			return false
		}
	}
	if *rewrite {
		part = nil
	}
	var out bytes.Buffer
	err := (&exploreCmd{JSON: true, configs: part}).Run(&streams{out: &out})
	if want := errFinding; (part != nil) != errors.Is(err, want) {
		t.Errorf("it ends with %v, expected %v", err, want)
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if r.Violations == nil || r.States < 10 || r.ElapsedMS < 1 || len(r.Views) != len(view.Names()) {
		t.Errorf("%d violations, %d states, %d ms, %d views", len(r.Violations), r.States, r.ElapsedMS, len(r.Views))
	}
	for _, v := range r.Violations {
		if !strings.HasPrefix(v.Check, "completeness") {
			t.Errorf("%s: %s", v.Check, v.What)
		}
	}
	human := describeReport(proven(r.Report), time.Duration(r.ElapsedMS)*time.Millisecond)
	switch shown := documented(t, "hocket explore"); {
	case *rewrite:
		rewriteDocument(t, "$ hocket explore\n"+shown, "$ hocket explore\n"+withoutSizes(describeReport(&r.Report, time.Duration(r.ElapsedMS)*time.Millisecond)))
	case shape(withoutSizes(human)) != shape(shown):
		t.Errorf("docs/cli.md (-rewrite writes it anew) shows another report than\n%s", human)
	}
}

// withoutSizes returns a report with "..." instead of the size of each configuration, as
// the documentation shows it.
func withoutSizes(report string) string {
	return configSizes.ReplaceAllString(report, "    ...\n$1")
}

// configSizes matches the sizes of the configurations up to that of all of them.
var configSizes = regexp.MustCompile(`(?:    .* states .* steps\n)+(    all .* steps\n)`)

// proven returns a report without violations, like that of the whole machine.
func proven(r explore.Report) *explore.Report {
	r.Violations, r.Configs, r.Phases = nil, nil, nil
	for _, c := range explore.Shipped() {
		r.Configs = append(r.Configs, explore.ConfigSize{Name: c.Name})
	}
	for i := range r.Views {
		r.Views[i].Reached, r.Views[i].Missing = make([]explore.Edge, r.Views[i].Rows), nil
	}
	for _, from := range conv.Phases() {
		for _, to := range conv.Phases() {
			if from.CanFollow(to) {
				r.Phases = append(r.Phases, explore.PhaseEdge{From: from, To: to})
			}
		}
	}
	return &r
}

// TestExploreViolations checks that a violation is printed with the path to it.
func TestExploreViolations(t *testing.T) {
	r := &explore.Report{
		States: 1234567, Steps: 12, Late: 3,
		Views: []explore.Coverage{
			{View: view.NameEasyTurn, Reached: make([]explore.Edge, 14), Rows: 15},
			{View: view.NameInteraction, Reached: make([]explore.Edge, 5), Outside: make([]explore.Edge, 1), Rows: 5},
		},
		Waits: []explore.Wait{
			{Phase: conv.Preparing, Stay: 10 * time.Second, Limit: 10 * time.Second, Longest: 20 * time.Second},
			{Phase: conv.Faulted, Stay: 11 * time.Second, Limit: 10 * time.Second, Longest: 90 * time.Second},
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

// TestExploreProgress checks that on a terminal each line replaces the previous one,
// and that a file contains a line for each finished configuration if progress was
// requested.
func TestExploreProgress(t *testing.T) {
	tell := func(p *progress) {
		p.told(1, explore.ConfigSize{Name: "rules", States: 12345, Steps: 100}, false)
		p.told(0, explore.ConfigSize{Name: "tools", States: 1000, Steps: 1000000}, true)
		p.end()
	}
	var line bytes.Buffer
	tell(&progress{out: &line, terminal: true, sizes: make([]explore.ConfigSize, 18)})
	if want := clearLine + "0 of 18 done, 12,345 states: rules" + clearLine + "1 of 18 done, 13,345 states: tools" + clearLine; line.String() != want {
		t.Errorf("on a terminal %q, expected %q", line.String(), want)
	}
	for asked, want := range map[bool]string{false: "", true: "1 of 18: tools, 1,000 states, 1,000,000 steps\n"} {
		name := filepath.Join(t.TempDir(), "log")
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		tell(newProgress(f, asked, 18))
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("asked %t: in a file %q, %v; expected %q", asked, got, err, want)
		}
	}
}

// shape removes numbers from a text, and the spaces that depend on their widths.
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
