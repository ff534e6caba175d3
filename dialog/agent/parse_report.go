package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// This file reports the problems of an agent's files.

// ignoredField is an unknown field: the index of its warning, the warning's message, and
// the number of further places that have the field.
type ignoredField struct {
	problem, places int
	message         string
}

// maxProblems bounds the number of reported problems.
const maxProblems = 500

func (r *reader) report(s Severity, at node, suggestion, format string, args ...any) {
	if len(r.problems) >= maxProblems {
		return
	}
	r.problems = append(r.problems, Problem{
		Severity: s, File: at.file, Line: at.line, Column: at.column,
		Message: fmt.Sprintf(format, args...), Suggestion: suggestion,
	})
}

func (r *reader) fail(at node, format string, args ...any) {
	r.report(SeverityError, at, "", format, args...)
}

func (r *reader) warn(at node, format string, args ...any) {
	r.report(SeverityWarning, at, "", format, args...)
}

// unknown reports an unknown name and suggests the nearest known one.
func (r *reader) unknown(at node, what, name string, candidates []string) {
	r.report(SeverityError, at, nearest(name, candidates), "unknown %s %q", what, name)
}

// undeclared reports a name that the files do not declare. It is only a warning for files
// of Soni, which declare such names in code.
func (r *reader) undeclared(at node, what, name string, candidates []string, note string) {
	if r.lenient {
		r.report(SeverityWarning, at, "", "%s %q is not declared: %s", what, name, note)
		return
	}
	r.unknown(at, what, name, candidates)
}

// fields calls the handler of each field of a mapping. A field without a handler is a
// warning, a repeated field an error.
func (r *reader) fields(n node, what string, handlers map[string]func(key, value node)) {
	if n.kind != nodeMapping {
		if n.given() {
			r.fail(n, "%s is %s: expected a mapping of fields", what, n.kind)
		}
		return
	}
	seen := make(map[string]bool, len(n.pairs))
	for _, p := range n.pairs {
		name := p.key.text
		if seen[name] {
			r.fail(p.key, "%s: field %q is given twice", what, name)
			continue
		}
		seen[name] = true
		h, ok := handlers[name]
		if !ok && len(r.problems) < maxProblems {
			r.unknownField(p.key, what, nearest(name, slices.Sorted(maps.Keys(handlers))))
			continue
		}
		if h != nil {
			h(p.key, p.value)
		}
	}
}

// unknownField warns of an unknown field. Unless the field is similar to a known one, there
// is one warning for all slots, flows or steps that have it.
func (r *reader) unknownField(key node, what, suggestion string) {
	kind, _, _ := strings.Cut(what, " ")
	if _, step, ok := strings.Cut(what, ", step "); ok {
		_, kind, _ = strings.Cut(step, " ") // "(collect)"
	}
	kind += "." + key.text
	if u, told := r.ignored[kind]; told && suggestion == "" {
		u.places++
		r.problems[u.problem].Message = fmt.Sprintf("%s, here and at %d more", u.message, u.places)
		return
	}
	message := fmt.Sprintf("%s: unknown field %q is ignored", what, key.text)
	if suggestion == "" {
		if r.ignored == nil {
			r.ignored = make(map[string]*ignoredField)
		}
		r.ignored[kind] = &ignoredField{problem: len(r.problems), message: message}
	}
	r.report(SeverityWarning, key, suggestion, "%s", message)
}
