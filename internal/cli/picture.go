package cli

import (
	"fmt"
	"slices"
	"strings"
)

// This file prints the machine as a picture for Mermaid and Graphviz. Transitions that
// all active states share are drawn once, from a frame around these states.

// arrow is an arrow of a picture. An empty end is the frame around the active states.
type arrow struct {
	from, to string
	causes   []string
	added    bool
}

// foldable is the minimum number of active states in a frame.
const foldable = 3

// arrows returns the arrows of the picture. Transitions that all active states have are
// combined.
func (d *diagram) arrows() (list []arrow, framed bool) {
	folded := make(map[string]arrow) // by direction and outer state
	if len(d.active) >= foldable {
		for _, s := range d.States {
			if slices.Contains(d.active, s) {
				continue
			}
			if a, ok := d.fold(s, false); ok {
				folded[">"+s] = a
			}
			if a, ok := d.fold(s, true); ok {
				folded["<"+s] = a
			}
		}
	}
	drawn := make(map[string]bool)
	for _, t := range d.Transitions {
		key := ">" + t.To
		if slices.Contains(d.active, t.To) {
			key = "<" + t.From
		}
		a, ok := folded[key]
		if !ok || slices.Contains(d.active, t.From) == slices.Contains(d.active, t.To) {
			list = append(list, arrow{t.From, t.To, t.Causes, t.Added})
			continue
		}
		if !drawn[key] {
			drawn[key] = true
			list = append(list, a)
		}
	}
	return list, len(folded) > 0
}

// fold returns the arrow between the frame and a state outside, if each active state
// has such a transition. If back is set, the arrow leads into the frame.
func (d *diagram) fold(outside string, back bool) (arrow, bool) {
	a := arrow{to: outside, added: true}
	if back {
		a = arrow{from: outside, added: true}
	}
	for _, s := range d.active {
		from, to := s, outside
		if back {
			from, to = outside, s
		}
		t, ok := d.find(from, to)
		if !ok {
			return arrow{}, false
		}
		a.added = a.added && t.Added
		for _, cause := range t.Causes {
			if !slices.Contains(a.causes, cause) {
				a.causes = append(a.causes, cause)
			}
		}
	}
	return a, true
}

// labelled is the maximum number of causes shown at an arrow.
const labelled = 3

// label returns the text of an arrow: its first causes and the number of the others.
// The table and the JSON contain all of them.
func label(causes []string, newline string) string {
	shown := causes[:min(labelled, len(causes))]
	text := strings.Join(shown, newline)
	if n := len(causes) - len(shown); n > 0 {
		text += fmt.Sprintf("%s+%d more", newline, n)
	}
	return text
}

// parent returns the first part of a sub-state's name ("processing.waiting"), and leaf
// the last.
func parent(state string) string { before, _, _ := strings.Cut(state, "."); return before }

func leaf(state string) string { return state[strings.LastIndexByte(state, '.')+1:] }

// identifier converts a state's name to an identifier of both languages.
func identifier(state string) string {
	return strings.NewReplacer(".", "_", "-", "_").Replace(state)
}

// The frame around the active states.
const (
	frameName  = "conversation"
	frameTitle = "a conversation goes on"
)

// groups splits a list of states by their parents.
func groups(states []string) [][]string {
	var list [][]string
	for _, s := range states {
		if n := len(list); n > 0 && parent(list[n-1][0]) == parent(s) {
			list[n-1] = append(list[n-1], s)
			continue
		}
		list = append(list, []string{s})
	}
	return list
}

// mermaid returns the picture for Mermaid (stateDiagram-v2).
func (d *diagram) mermaid() string {
	arrows, framed := d.arrows()
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	declare := func(indent string, states []string) {
		for _, group := range groups(states) {
			if len(group) == 1 {
				fmt.Fprintf(&b, "%sstate %q as %s\n", indent, group[0], identifier(group[0]))
				continue
			}
			fmt.Fprintf(&b, "%sstate %s {\n", indent, parent(group[0]))
			for _, s := range group {
				fmt.Fprintf(&b, "%s    state %q as %s\n", indent, leaf(s), identifier(s))
			}
			fmt.Fprintf(&b, "%s}\n", indent)
		}
	}
	rest := d.States
	if framed {
		rest = d.outsiders()
		fmt.Fprintf(&b, "    state %q as %s\n    state %s {\n", frameTitle, frameName, frameName)
		declare("        ", d.active)
		b.WriteString("    }\n")
	}
	declare("    ", rest)
	fmt.Fprintf(&b, "    [*] --> %s\n", identifier(d.Initial))
	for _, a := range arrows {
		from, to := frameName, frameName
		if a.from != "" {
			from = identifier(a.from)
		}
		if a.to != "" {
			to = identifier(a.to)
		}
		fmt.Fprintf(&b, "    %s --> %s", from, to)
		if !d.bare {
			fmt.Fprintf(&b, " : %s", label(a.causes, "<br>"))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// outsiders returns the states that are not active.
func (d *diagram) outsiders() []string {
	return slices.DeleteFunc(slices.Clone(d.States), func(s string) bool { return slices.Contains(d.active, s) })
}

// dot returns the picture for Graphviz.
func (d *diagram) dot() string {
	arrows, framed := d.arrows()
	var b strings.Builder
	title := "hocket"
	if d.view != "" {
		title = "hocket, as " + string(d.view) + " sees it"
	}
	fmt.Fprintf(&b, "digraph machine {\n  label=%q; labelloc=t; compound=true; rankdir=TB; nodesep=0.4; ranksep=0.6;\n", title)
	b.WriteString("  graph [fontname=\"sans-serif\", style=\"rounded\", color=\"#888888\"];\n")
	b.WriteString("  node [fontname=\"sans-serif\", shape=box, style=\"rounded,filled\", fillcolor=\"#f4f4f4\", color=\"#444444\"];\n")
	b.WriteString("  edge [fontname=\"sans-serif\", fontsize=9, color=\"#666666\", fontcolor=\"#444444\"];\n")
	declare := func(indent string, states []string) {
		for _, group := range groups(states) {
			if len(group) == 1 {
				fmt.Fprintf(&b, "%s%s [label=%q, id=%q];\n", indent, identifier(group[0]), group[0], group[0])
				continue
			}
			fmt.Fprintf(&b, "%ssubgraph cluster_%s {\n%s  label=%q;\n", indent, parent(group[0]), indent, parent(group[0]))
			for _, s := range group {
				fmt.Fprintf(&b, "%s  %s [label=%q, id=%q];\n", indent, identifier(s), leaf(s), s)
			}
			fmt.Fprintf(&b, "%s}\n", indent)
		}
	}
	rest := d.States
	if framed {
		rest = d.outsiders()
		fmt.Fprintf(&b, "  subgraph cluster_%s {\n    label=%q;\n", frameName, frameTitle)
		declare("    ", d.active)
		b.WriteString("  }\n")
	}
	declare("  ", rest)
	fmt.Fprintf(&b, "  start [shape=point, width=0.15, label=\"\"];\n  start -> %s;\n", identifier(d.Initial))
	for _, a := range arrows {
		b.WriteString(d.edge(a))
	}
	b.WriteString("}\n")
	return b.String()
}

// edge returns an arrow for Graphviz. An arrow at the frame ends at a state inside it
// and is clipped at the border.
func (d *diagram) edge(a arrow) string {
	from, to, more := a.from, a.to, ""
	if from == "" {
		from, more = d.active[len(d.active)/2], ", ltail=cluster_"+frameName
	}
	if to == "" {
		to, more = d.active[len(d.active)/2], ", lhead=cluster_"+frameName
	}
	if a.added {
		more += ", style=dashed"
	}
	causes := ""
	if !d.bare {
		causes = label(a.causes, `\n`)
	}
	return "  " + identifier(from) + " -> " + identifier(to) + ` [label="` + causes + `"` + more + "];\n"
}
