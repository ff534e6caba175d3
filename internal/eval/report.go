package eval

import (
	"fmt"
	"slices"
	"strings"
)

// The parts of an evaluation, in the order of the report.
const (
	PartVoice       = "voice"
	PartEndpointing = "endpointing"
	PartBargeIn     = "barge-in"
	PartEcho        = "echo"
	PartWords       = "words"
	PartAnswers     = "answers"
)

// Parts returns all parts.
func Parts() []string {
	return []string{PartVoice, PartEndpointing, PartBargeIn, PartEcho, PartWords, PartAnswers}
}

// Value is what was measured on a split of the data.
type Value struct {
	Value float64 `json:"value"`
	N     int     `json:"n"` // of which it is a share or a median
	// Voices are the values of the single voices, if there are several.
	Voices map[string]float64 `json:"voices,omitempty"`
}

// Neighbour is a published figure of others, measured on other data unless Same is set.
type Neighbour struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Same  bool    `json:"same,omitempty"` // measured on the same kind of calls
}

// Goal is the limit of a figure.
type Goal struct {
	AtMost bool    `json:"at_most"` // else at least
	Value  float64 `json:"value"`
}

// Met reports whether a value reaches the goal.
func (g Goal) Met(v float64) bool {
	if g.AtMost {
		return v <= g.Value
	}
	return v >= g.Value
}

// Figure is a row of the report.
type Figure struct {
	Part       string           `json:"part"`
	Name       string           `json:"name"`
	Unit       string           `json:"unit"`           // "%", "ms" or ""
	Values     map[string]Value `json:"values"`         // by split
	Goal       *Goal            `json:"goal,omitempty"` // of the unseen data
	Neighbours []Neighbour      `json:"neighbours,omitempty"`
}

// Missed reports whether the figure has a goal that is missed on unseen data.
func (f *Figure) Missed() bool {
	v, ok := f.Values[Unseen]
	return ok && f.Goal != nil && !f.Goal.Met(v.Value)
}

// Point is a point of a curve.
type Point struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
	// Label is the setting to which the point belongs.
	Label string `json:"label,omitempty"`
}

// Series is a line of a curve.
type Series struct {
	Name   string  `json:"name"`
	Points []Point `json:"points"`
}

// Curve is a picture of the report.
type Curve struct {
	Name   string   `json:"name"` // of the file
	Title  string   `json:"title"`
	X      string   `json:"x"` // the names of the axes
	Y      string   `json:"y"`
	Series []Series `json:"series"`
	// Goal is the region that is aimed at: up to X and Y, or from them on.
	Goal *Point `json:"goal,omitempty"`
}

// Report is the result of an evaluation.
type Report struct {
	Data       string   `json:"data"`
	Recordings int      `json:"recordings"`
	Figures    []Figure `json:"figures"`
	Curves     []Curve  `json:"curves"`
	Notes      []string `json:"notes,omitempty"` // what could not be measured, and why
}

// Missed reports whether a goal is missed on unseen data.
func (r *Report) Missed() bool {
	return slices.ContainsFunc(r.Figures, func(f Figure) bool { return f.Missed() })
}

func (r *Report) note(text string) { r.Notes = append(r.Notes, text) }

// format prints a value in its unit.
func format(v float64, unit string) string {
	switch unit {
	case "%":
		return fmt.Sprintf("%.1f %%", v)
	case "ms":
		return fmt.Sprintf("%.0f ms", v)
	}
	return strings.TrimPrefix(fmt.Sprintf("%.3f", v), "0")
}

// Table returns the report as a table. Data seen and unseen have columns of their own.
func (r *Report) Table() string {
	var b strings.Builder
	rows := [][]string{{"", "unseen", "of", "voices", "seen", "of", "gap", "goal", "", "others"}}
	part := ""
	for _, f := range r.Figures {
		if f.Part != part {
			part = f.Part
			rows = append(rows, []string{part})
		}
		rows = append(rows, f.row())
	}
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		if len(row) == 1 {
			continue
		}
		for i, cell := range row[:len(row)-1] {
			width[i] = max(width[i], len([]rune(cell)))
		}
	}
	for _, row := range rows {
		if len(row) == 1 {
			fmt.Fprintf(&b, "\n%s\n", row[0])
			continue
		}
		line := ""
		for c, cell := range row {
			pad := strings.Repeat(" ", max(0, width[c]-len([]rune(cell))))
			switch {
			case c == 0:
				line += "  " + cell + pad
			case c == len(row)-1:
				line += "  " + cell
			default:
				line += "  " + pad + cell
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "\nnote: %s", n)
	}
	if len(r.Notes) > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

// row returns the cells of a figure.
func (f *Figure) row() []string {
	cell := func(split string) (value, n string) {
		v, ok := f.Values[split]
		if !ok {
			return "", ""
		}
		return format(v.Value, f.Unit), fmt.Sprint(v.N)
	}
	row := make([]string, 10)
	row[0] = f.Name
	row[1], row[2] = cell(Unseen)
	row[4], row[5] = cell(Seen)
	u, isUnseen := f.Values[Unseen]
	s, isSeen := f.Values[Seen]
	if isUnseen && len(u.Voices) > 1 {
		least, most := u.extremes()
		row[3] = short(least, f.Unit) + "-" + short(most, f.Unit)
	}
	if isUnseen && isSeen {
		row[6] = signed(u.Value-s.Value, f.Unit)
	}
	if f.Goal != nil {
		sign := ">= "
		if f.Goal.AtMost {
			sign = "<= "
		}
		row[7] = sign + short(f.Goal.Value, f.Unit)
		if isUnseen {
			row[8] = "met"
			if f.Missed() {
				row[8] = "MISSED"
			}
		}
	}
	var near []string
	for _, n := range f.Neighbours {
		mark := ""
		if n.Same {
			mark = "*"
		}
		near = append(near, n.Name+mark+" "+short(n.Value, f.Unit))
	}
	row[9] = strings.Join(near, ", ")
	return row
}

// extremes returns the least and the greatest value of the voices.
func (v *Value) extremes() (least, most float64) {
	first := true
	for _, x := range v.Voices {
		if first || x < least {
			least = x
		}
		if first || x > most {
			most = x
		}
		first = false
	}
	return least, most
}

// short prints a value without its unit.
func short(v float64, unit string) string {
	if unit == "" {
		return strings.TrimPrefix(fmt.Sprintf("%.3g", v), "0")
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", v), ".0")
}

func signed(v float64, unit string) string {
	if v > 0 {
		return "+" + short(v, unit)
	}
	return short(v, unit)
}
