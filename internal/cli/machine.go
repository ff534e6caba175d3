package cli

import (
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/conv/view"
	"github.com/hocketvoice/hocket/internal/explore"
)

// machineCmd prints the machine.
type machineCmd struct {
	View   string `placeholder:"NAME" complete:"agent-voice,amplifier,easyturn,interaction" help:"A view: agent-voice, amplifier, easyturn or interaction (default: the machine itself)."`
	Format string `placeholder:"FORMAT" complete:"table,json,mermaid,dot" default:"table" help:"The format: table (the default), json, mermaid or dot."`
	Phases bool   `help:"Print only the phases, without sub-states and, in pictures, without causes."`
}

// Help returns the long help.
func (machineCmd) Help() string {
	return `Prints the transitions that hocket explore has found in the shipped machine, and therefore all transitions that can happen and no others. The causes are types of events and names of expired limits.`
}

var machineFormats = []string{"table", "json", "mermaid", "dot"}

// diagram is the machine, or a view of it, with what is needed to print it.
type diagram struct {
	*explore.Chart
	view   view.Name // empty for the machine itself
	active []string  // the states of an undisturbed conversation
	bare   bool      // pictures show no causes
}

// Run runs the command.
func (c *machineCmd) Run(s *streams) error {
	if !slices.Contains(machineFormats, c.Format) {
		return badInputf("flag --format is %q%s", c.Format, meant(c.Format, machineFormats))
	}
	d, err := newDiagram(c.View)
	if err != nil {
		return err
	}
	if c.Phases {
		if d.view != "" {
			return badInputf("flags --phases and --view exclude each other: a view has no sub-states")
		}
		d.foldSubstates()
	}
	switch c.Format {
	case "json":
		return s.writeIndented(d.Chart)
	case "mermaid":
		return s.printf("%s", d.mermaid())
	case "dot":
		return s.printf("%s", d.dot())
	default:
		if d.view == "" {
			return s.printf("%s", d.list())
		}
		return s.printf("%s", d.matrix())
	}
}

// newDiagram returns the diagram of a view, or of the machine if name is empty.
func newDiagram(name string) (*diagram, error) {
	c, err := explore.NewChart(name)
	if err != nil {
		var names []string
		for _, v := range view.Names() {
			names = append(names, string(v))
		}
		return nil, badInputf("flag --view is %q%s", name, meant(name, names))
	}
	d := &diagram{Chart: c, view: view.Name(name)}
	if name == "" {
		for _, p := range conv.Phases() {
			if p.Active() {
				d.active = append(d.active, p.String())
			}
		}
		return d, nil
	}
	// A state that is shown without a conversation, or during a disturbed one, is not
	// active, even if it is also shown at other times.
	d.active = slices.DeleteFunc(slices.Clone(d.States), func(s string) bool {
		for _, p := range []conv.Phase{conv.Idle, conv.Reconnecting, conv.Faulted, conv.Terminating} {
			st := conv.State{Phase: p}
			if d.view.Of(st.Views()) == s {
				return true
			}
		}
		return false
	})
	return d, nil
}

// foldSubstates replaces sub-states by their phases. It omits transitions within a
// phase.
func (d *diagram) foldSubstates() {
	whole := &explore.Chart{Initial: parent(d.Initial)}
	for _, s := range d.States {
		if p := parent(s); !slices.Contains(whole.States, p) {
			whole.States = append(whole.States, p)
		}
	}
	at := make(map[explore.Edge]int) // indices into whole.Transitions
	for _, t := range d.Transitions {
		edge := explore.Edge{From: parent(t.From), To: parent(t.To)}
		if edge.From == edge.To {
			continue
		}
		i, ok := at[edge]
		if !ok {
			i = len(whole.Transitions)
			at[edge] = i
			whole.Transitions = append(whole.Transitions, explore.Arrow{From: edge.From, To: edge.To})
		}
		for _, cause := range t.Causes {
			if a := &whole.Transitions[i]; !slices.Contains(a.Causes, cause) {
				a.Causes = append(a.Causes, cause)
			}
		}
	}
	for i, s := range d.active {
		d.active[i] = parent(s)
	}
	d.Chart, d.active, d.bare = whole, slices.Compact(d.active), true
}

// find returns the transition between two states.
func (d *diagram) find(from, to string) (explore.Arrow, bool) {
	for _, t := range d.Transitions {
		if t.From == from && t.To == to {
			return t, true
		}
	}
	return explore.Arrow{}, false
}

// listWidth is the width at which lists of causes are wrapped.
const listWidth = 110

// list returns all transitions with their causes.
func (d *diagram) list() string {
	from, to := len("from"), len("to")
	for _, s := range d.States {
		from, to = max(from, len(s)), max(to, len(s))
	}
	var b strings.Builder
	row := func(a, c, causes string) {
		b.WriteString(strings.TrimRight(pad(a, from+2)+pad(c, to+2)+causes, " ") + "\n")
	}
	row("from", "to", "causes")
	row(strings.Repeat("-", from), strings.Repeat("-", to), strings.Repeat("-", listWidth-from-to-4))
	for _, t := range d.Transitions {
		lines := wrapped(t.Causes, listWidth-from-to-4)
		row(t.From, t.To, lines[0])
		for _, more := range lines[1:] {
			row("", "", more)
		}
	}
	return b.String()
}

// wrapped joins words with commas, in lines of at most the width.
func wrapped(words []string, width int) []string {
	lines := []string{""}
	for i, w := range words {
		if i < len(words)-1 {
			w += ","
		}
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = w
		case len(*last)+1+len(w) <= width:
			*last += " " + w
		default:
			lines = append(lines, w)
		}
	}
	return lines
}

// columns are the short names of the states in the matrix of seed 001, and similar
// names for the other views. States without one keep their names.
var columns = map[view.Name]map[string]string{
	view.NameAmplifier: {
		"idle": "IDLE", "listening": "LIST", "processing": "PROC", "speaking": "SPEK", "tool_executing": "TOOL",
		"waiting_amplifier": "WAIT", "error": "ERR", "reconnecting": "RECON",
	},
	view.NameAgentVoice: {
		"idle": "idle", "preparing": "prep", "listening": "list", "processing": "proc", "waitingForCopilot": "wait",
		"speaking": "spek", "interrupted": "intr", "suspended": "susp", "faulted": "fault", "terminating": "term",
	},
	view.NameEasyTurn: {
		"LISTENING": "LIST", "PROCESSING": "PROC", "SPEAKING": "SPEK", "INTERRUPTED": "INTR",
	},
}

// matrix returns the view as a matrix, as drawn in seed 001, with transitions from the
// row to the column. For the amplifier it contains the seed's eight states; a note
// describes the state before and after a session.
func (d *diagram) matrix() string {
	states, label := d.States, func(s string) string { return s }
	if d.view == view.NameAmplifier {
		states, label = states[1:], strings.ToUpper
	}
	first, widths := runes(`FROM \ TO`), make([]int, len(states))
	heads := make([]string, len(states))
	for i, s := range states {
		heads[i] = columns[d.view][s]
		if heads[i] == "" {
			heads[i] = s
		}
		first, widths[i] = max(first, runes(s)), max(4, runes(heads[i]))
	}
	var b strings.Builder
	row := func(name string, cells []string) {
		padded := []string{" " + pad(name, first)}
		for i, cell := range cells {
			padded = append(padded, pad(cell, widths[i]))
		}
		b.WriteString(strings.TrimRight(strings.Join(padded, " │ "), " ") + "\n")
	}
	row(`FROM \ TO`, heads)
	b.WriteString(strings.Repeat("─", first+2))
	for _, w := range widths {
		b.WriteString("┼" + strings.Repeat("─", w+2))
	}
	b.WriteString("\n")
	marks := make(map[string]bool)
	for _, from := range states {
		cells := make([]string, len(states))
		for i, to := range states {
			mark := "-"
			if t, ok := d.find(from, to); ok {
				mark = "✓"
				if t.Added {
					mark = "+"
				}
			}
			marks[mark] = true
			cells[i] = " " + mark
		}
		row(label(from), cells)
	}
	b.WriteString("\n ✓ a transition of the seed's own table")
	if marks["+"] {
		b.WriteString("   + one that is added to it")
	}
	b.WriteString("   - none\n")
	if d.view == view.NameAmplifier {
		b.WriteString(d.outside(d.States[0]))
	}
	return b.String()
}

// outside describes the transitions of a state that the matrix omits.
func (d *diagram) outside(state string) string {
	var to, from []string
	for _, t := range d.Transitions {
		switch state {
		case t.From:
			to = append(to, strings.ToUpper(t.To))
		case t.To:
			from = append(from, strings.ToUpper(t.From))
		}
	}
	text := strings.Join(from, ", ")
	if len(from) == len(d.States)-1 {
		text = "any state"
	}
	return " " + state + " is before the first session and after the end: " + state + " -> " +
		strings.Join(to, ", ") + "; " + text + " -> " + state + "\n"
}

// pad appends spaces up to a width in characters.
func pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-runes(s)))
}

func runes(s string) int { return len([]rune(s)) }
