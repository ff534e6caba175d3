package explore

import (
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/conv/view"
)

// Chart is the machine, or a view of it, as reached by the exploration, for programs
// that draw it.
type Chart struct {
	View        string   `json:"view"` // empty for the machine itself
	Initial     string   `json:"initial"`
	States      []string `json:"states"`
	Transitions []Arrow  `json:"transitions"`
}

// Arrow is a transition of a chart.
type Arrow struct {
	From   string   `json:"from"`
	To     string   `json:"to"`
	Causes []string `json:"causes"`
	Added  bool     `json:"added,omitempty"` // by a row that is not in the seed's own table
}

// NewChart returns the chart of a view, or of the machine if name is empty.
func NewChart(name string) (*Chart, error) {
	if name == "" {
		return phases(), nil
	}
	v := view.Name(name)
	states, err := v.States()
	if err != nil {
		return nil, err
	}
	c := &Chart{View: name, States: states}
	added := make(map[Edge]bool)
	for _, t := range Tables() {
		if t.View != v {
			continue
		}
		c.Initial = t.Initial
		for _, e := range t.Edges() {
			added[e.Edge] = e.Added
		}
	}
	for _, t := range Known().View(v) {
		c.Transitions = append(c.Transitions, Arrow{t.From, t.To, t.Causes, added[Edge{From: t.From, To: t.To}]})
	}
	return c, nil
}

// phases returns the chart of the machine itself.
func phases() *Chart {
	c := &Chart{Initial: conv.Idle.String()}
	for _, p := range conv.Phases() {
		c.States = append(c.States, p.String())
	}
	for _, t := range Known().Phases {
		c.Transitions = append(c.Transitions, Arrow{From: t.From, To: t.To, Causes: t.Causes})
	}
	return c
}
