package agent

import (
	"strings"
	"time"

	"github.com/hocketvoice/hocket/dialog/value"
)

// This file reads fields: texts, lists of texts, numbers, messages and expressions.

// reader reads the fields of files. It collects the problems and the names that are used.
type reader struct {
	problems []Problem

	// lenient reports whether the files are written for Soni, whose actions and validators
	// are registered in code. An undeclared name is only a warning then.
	lenient bool

	refs    []nameRef // names that templates and expressions read
	ignored map[string]*ignoredField
}

// nameRef is a use of a slot or variable. It is checked when all names are known.
type nameRef struct {
	at    node
	name  string
	what  string
	shows bool // whether users or other slots get the value

	builtin bool // in a built-in flow
}

// text reads a scalar as text.
func (r *reader) text(n node, what string) string {
	switch n.kind {
	case nodeScalar:
		return n.text
	case nodeNull, nodeMissing:
		return ""
	case nodeMapping, nodeSequence:
	}
	r.fail(n, "%s is %s: expected text", what, n.kind)
	return ""
}

// texts reads a list of texts, or a single text.
func (r *reader) texts(n node, what string) []string {
	switch n.kind {
	case nodeScalar:
		return []string{n.text}
	case nodeSequence:
		var out []string
		for _, item := range n.items {
			if item.kind != nodeScalar {
				r.fail(item, "%s is %s: expected text", what, item.kind)
				continue
			}
			out = append(out, item.text)
		}
		return out
	case nodeNull, nodeMissing:
		return nil
	case nodeMapping:
	}
	r.fail(n, "%s is %s: expected a list", what, n.kind)
	return nil
}

// boolean reads a truth value. A missing one is def.
func (r *reader) boolean(n node, what string, def bool) bool {
	if !n.given() {
		return def
	}
	if n.kind == nodeScalar {
		switch strings.ToLower(n.text) {
		case "true", "yes", "on":
			return true
		case "false", "no", "off":
			return false
		}
	}
	r.fail(n, "%s: expected true or false", what)
	return def
}

// number reads a number from low to high.
func (r *reader) number(n node, what string, low, high float64) (float64, bool) {
	if n.kind == nodeScalar {
		if f, ok := value.ToNumber(strings.TrimSpace(n.text)); ok {
			if f >= low && f <= high {
				return f, true
			}
			r.fail(n, "%s is %v: expected %v to %v", what, f, low, high)
			return 0, false
		}
	}
	r.fail(n, "%s: expected a number", what)
	return 0, false
}

// count reads a whole number from low to high.
func (r *reader) count(n node, what string, low, high int) (int, bool) {
	f, ok := r.number(n, what, float64(low), float64(high))
	if ok && f != float64(int(f)) {
		r.fail(n, "%s is %v: expected a whole number", what, f)
		return 0, false
	}
	return int(f), ok
}

// message compiles a message: one text, or a list of variants.
func (r *reader) message(n node, what string) Variants {
	if n.kind == nodeMapping { // responses: {default: .., variations: [..]}
		var out Variants
		r.fields(n, what, map[string]func(key, value node){
			"default":    func(_, v node) { out = append(out, r.message(v, what)...) },
			"variations": func(_, v node) { out = append(out, r.message(v, what)...) },
		})
		return out
	}
	items := n.items
	if n.kind == nodeScalar {
		items = []node{n}
	} else if n.kind != nodeSequence {
		if n.given() {
			r.fail(n, "%s is %s: expected text", what, n.kind)
		}
		return nil
	}
	var out Variants
	for _, item := range items {
		if item.kind != nodeScalar {
			r.fail(item, "%s is %s: expected text", what, item.kind)
			continue
		}
		t, err := CompileTemplate(strings.TrimSpace(item.text))
		if err != nil {
			r.fail(item, "%s: %v", what, err)
			continue
		}
		for _, name := range t.Names {
			r.refs = append(r.refs, nameRef{at: item, name: name, what: what, shows: true})
		}
		out = append(out, t)
	}
	return out
}

// expression compiles an expression.
func (r *reader) expression(n node, what string) *expr {
	text := r.text(n, what)
	if strings.TrimSpace(text) == "" {
		r.fail(n, "%s: expected an expression", what)
		return nil
	}
	e, err := compileExpr(text)
	if err != nil {
		r.fail(n, "%s: %v", what, err)
		return nil
	}
	for _, name := range e.names {
		r.refs = append(r.refs, nameRef{at: n, name: name, what: what})
	}
	return e
}

// expressionIf compiles an expression. It returns nil if there is none.
func (r *reader) expressionIf(n node, what string) *expr {
	if !n.given() {
		return nil
	}
	return r.expression(n, what)
}

// textMap reads a mapping of texts.
func (r *reader) textMap(n node, what string) map[string]string {
	if n.kind != nodeMapping {
		if n.given() {
			r.fail(n, "%s is %s: expected a mapping", what, n.kind)
		}
		return nil
	}
	m := make(map[string]string, len(n.pairs))
	for _, p := range n.pairs {
		m[p.key.text] = r.text(p.value, what+"."+p.key.text)
	}
	return m
}

// duration reads a duration of at most an hour; a number is seconds.
func (r *reader) duration(n node, what string) time.Duration {
	text := strings.TrimSpace(r.text(n, what))
	if f, ok := value.ToNumber(text); ok && f >= 0 && f <= 3600 {
		return time.Duration(f * float64(time.Second))
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > time.Hour {
		r.fail(n, "%s: expected a duration such as 5s, at most an hour", what)
		return 0
	}
	return d
}
