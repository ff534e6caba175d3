package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog/value"
)

// Severity says how serious a problem is.
type Severity string

// The severities.
const (
	SeverityError   Severity = "error"   // the agent cannot run
	SeverityWarning Severity = "warning" // the agent runs, but something is ignored or doubtful
)

// Problem is an error or a warning about an agent's files.
type Problem struct {
	Severity Severity `json:"severity"`
	File     string   `json:"file"`
	Line     int      `json:"line,omitempty"`   // from 1; 0 stands for the whole file
	Column   int      `json:"column,omitempty"` // from 1
	Message  string   `json:"message"`
	// Suggestion is what to write instead, or "".
	Suggestion string `json:"suggestion,omitempty"`
	// Belongs is another file that the key belongs in, or "".
	Belongs string `json:"belongs,omitempty"`
}

// String formats the problem on one line: file:line:column: severity: message.
func (p Problem) String() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File)
		if p.Line > 0 {
			fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
		}
		b.WriteString(": ")
	}
	fmt.Fprintf(&b, "%s: %s", p.Severity, p.Message)
	if p.Belongs != "" {
		b.WriteString(": it belongs in " + p.Belongs)
	}
	if p.Suggestion != "" {
		fmt.Fprintf(&b, " (did you mean %q?)", p.Suggestion)
	}
	return b.String()
}

// HasErrors reports whether one of the problems is an error.
func HasErrors(problems []Problem) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return p.Severity == SeverityError })
}

// nearest returns the candidate whose spelling is nearest to name, or "".
func nearest(name string, candidates []string) string {
	limit := max(1, min(3, len(name)/3))
	best, distance := "", limit+1
	lower := strings.ToLower(name)
	for _, c := range candidates {
		if c == name || c == "" {
			continue
		}
		d := value.EditDistance(lower, strings.ToLower(c), limit)
		if d < distance || d == distance && d <= limit && c < best {
			best, distance = c, d
		}
	}
	if best != "" || len(name) < 4 {
		return best
	}
	for _, c := range candidates { // "destination" for "destination_city"
		if c != name && len(c) >= 4 && (strings.HasPrefix(lower, strings.ToLower(c)+"_") || strings.HasPrefix(strings.ToLower(c), lower+"_")) {
			return c
		}
	}
	return ""
}

// SortProblems sorts problems by file, in the given order, and by position.
func SortProblems(problems []Problem, files []File) {
	order := make(map[string]int, len(files))
	for i, f := range files {
		order[f.Name] = i
	}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(order[a.File], order[b.File]), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}
