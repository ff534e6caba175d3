package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/conv/view"
	"github.com/hocketvoice/hocket/internal/explore"
	"github.com/hocketvoice/hocket/internal/seeds"
)

// TestMachineGolden compares every picture and table of the machine. After a change of
// the machine, run `go generate ./internal/explore`, then the test with -rewrite, and
// read the difference.
func TestMachineGolden(t *testing.T) {
	views := []string{""}
	for _, v := range view.Names() {
		views = append(views, string(v))
	}
	for _, view := range views {
		for _, format := range machineFormats {
			name := "machine/machine." + format
			if view != "" {
				name = "machine/" + view + "." + format
			}
			got := output(t, "", "machine", "--view", view, "--format", format)
			if format == "table" && got != output(t, "", "machine", "--view="+view) {
				t.Error("the table is not the default")
			}
			golden(t, name, got)
		}
	}
}

// TestMachinePhases checks the picture of the phases: it contains each transition of
// the machine between two phases once, and no sub-states.
func TestMachinePhases(t *testing.T) {
	for _, format := range machineFormats {
		golden(t, "machine/phases."+format, output(t, "", "machine", "--phases", "--format", format))
	}
	var whole, phases explore.Chart
	for list, args := range map[*explore.Chart][]string{&whole: nil, &phases: {"--phases"}} {
		text := output(t, "", append([]string{"machine", "--format", "json"}, args...)...)
		if err := json.Unmarshal([]byte(text), list); err != nil {
			t.Fatal(err)
		}
	}
	want := make(map[explore.Edge]bool)
	for _, a := range whole.Transitions {
		from, _, _ := strings.Cut(a.From, ".")
		to, _, _ := strings.Cut(a.To, ".")
		if from != to {
			want[explore.Edge{From: from, To: to}] = true
		}
	}
	if len(phases.Transitions) != len(want) {
		t.Errorf("%d transitions, expected %d", len(phases.Transitions), len(want))
	}
	for _, a := range phases.Transitions {
		if !want[explore.Edge{From: a.From, To: a.To}] {
			t.Errorf("%s -> %s is not a transition of the machine", a.From, a.To)
		}
	}
}

// matrixOf parses a printed matrix and returns its columns and the marks by row.
func matrixOf(t *testing.T, view string) (columns []string, marks map[string][]string) {
	t.Helper()
	marks = make(map[string][]string)
	var rows []string
	for line := range strings.Lines(output(t, "", "machine", "--view", view)) {
		cells := strings.Split(line, "│")
		if len(cells) < 2 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if columns == nil {
			columns = cells[1:]
			continue
		}
		rows = append(rows, cells[0])
		marks[cells[0]] = cells[1:]
	}
	if len(rows) != len(columns) {
		t.Fatalf("%d rows and %d columns", len(rows), len(columns))
	}
	return rows, marks
}

// TestMatrixIsTheSeeds compares the printed matrix with that of seed 001, cell by cell.
func TestMatrixIsTheSeeds(t *testing.T) {
	var table struct {
		States []string
		Matrix map[string][]string
		Added  []struct{ From, To string }
	}
	seeds.Load(t, "amplifier", &table)
	states, marks := matrixOf(t, "amplifier")
	if want := strings.ToUpper(strings.Join(table.States, " ")); strings.Join(states, " ") != want {
		t.Fatalf("the rows are %v, expected %s", states, want)
	}
	for i, from := range table.States {
		for j, to := range table.States {
			want := "-"
			if slices.Contains(table.Matrix[from], to) {
				want = "✓"
			}
			for _, a := range table.Added {
				if a.From == from && a.To == to {
					want = "+"
				}
			}
			if got := marks[states[i]][j]; got != want {
				t.Errorf("%s to %s is %q, expected %q", from, to, got, want)
			}
		}
	}
}

// TestMachineJSON compares the states and transitions of each view with the conformance
// tables.
func TestMachineJSON(t *testing.T) {
	for _, view := range view.Names() {
		var table struct {
			Initial     string
			States      []string
			Transitions []struct{ From, To string }
		}
		seeds.Load(t, string(view), &table)
		var d explore.Chart
		if err := json.Unmarshal([]byte(output(t, "", "machine", "--format", "json", "--view", string(view))), &d); err != nil {
			t.Fatal(err)
		}
		if d.Initial != table.Initial || d.View != string(view) {
			t.Errorf("%s: view %s begins in %s, expected %s", view, d.View, d.Initial, table.Initial)
		}
		for _, s := range table.States {
			if !slices.Contains(d.States, s) {
				t.Errorf("%s: no state %s", view, s)
			}
		}
		for _, row := range table.Transitions {
			if strings.ContainsAny(row.From+row.To, "*<") {
				continue // patterns; the tables of package explore expand them
			}
			i := slices.IndexFunc(d.Transitions, func(t explore.Arrow) bool { return t.From == row.From && t.To == row.To })
			if i < 0 || len(d.Transitions[i].Causes) == 0 || d.Transitions[i].Added {
				t.Errorf("%s: %s to %s is missing, has no cause or counts as added", view, row.From, row.To)
			}
		}
	}
}

// TestFoldedArrows checks that the arrows from and to the frame stand for all active
// states, and for no others.
func TestFoldedArrows(t *testing.T) {
	for _, view := range []string{"", "agent-voice", "amplifier", "easyturn", "interaction"} {
		d, err := newDiagram(view)
		if err != nil {
			t.Fatal(err)
		}
		arrows, framed := d.arrows()
		if framed != (view != "interaction") {
			t.Errorf("view %q: framed is %v", view, framed)
		}
		drawn := make(map[[2]string]int)
		for _, a := range arrows {
			from, to := []string{a.from}, []string{a.to}
			if a.from == "" {
				from = d.active
			}
			if a.to == "" {
				to = d.active
			}
			for _, f := range from {
				for _, g := range to {
					drawn[[2]string{f, g}]++
				}
			}
		}
		for _, tr := range d.Transitions {
			if n := drawn[[2]string{tr.From, tr.To}]; n != 1 {
				t.Errorf("view %q: %s to %s is drawn %d times", view, tr.From, tr.To, n)
			}
		}
		if len(drawn) != len(d.Transitions) {
			t.Errorf("view %q: %d transitions are drawn, there are %d", view, len(drawn), len(d.Transitions))
		}
	}
}
