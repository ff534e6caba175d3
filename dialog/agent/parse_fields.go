package agent

import (
	"strings"

	"github.com/hocketvoice/hocket/dialog/value"
)

// This file reads fields: texts, lists of texts, numbers, messages and expressions.

// text reads a scalar as text.
func (c *compiler) text(n node, what string) string {
	switch n.kind {
	case nodeScalar:
		return n.text
	case nodeNull, nodeMissing:
		return ""
	case nodeMapping, nodeSequence:
	}
	c.fail(n, "%s: want text, got %s", what, n.kind)
	return ""
}

// texts reads a list of texts, or a single text.
func (c *compiler) texts(n node, what string) []string {
	switch n.kind {
	case nodeScalar:
		return []string{n.text}
	case nodeSequence:
		var out []string
		for _, item := range n.items {
			if item.kind != nodeScalar {
				c.fail(item, "%s: want text, got %s", what, item.kind)
				continue
			}
			out = append(out, item.text)
		}
		return out
	case nodeNull, nodeMissing:
		return nil
	case nodeMapping:
	}
	c.fail(n, "%s: want a list, got %s", what, n.kind)
	return nil
}

func (c *compiler) boolean(n node, what string, def bool) bool {
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
	c.fail(n, "%s: want true or false", what)
	return def
}

func (c *compiler) number(n node, what string, low, high float64) (float64, bool) {
	if n.kind == nodeScalar {
		if f, ok := value.ToNumber(strings.TrimSpace(n.text)); ok {
			if f >= low && f <= high {
				return f, true
			}
			c.fail(n, "%s is %v: want %v to %v", what, f, low, high)
			return 0, false
		}
	}
	c.fail(n, "%s: want a number", what)
	return 0, false
}

func (c *compiler) count(n node, what string, low, high int) (int, bool) {
	f, ok := c.number(n, what, float64(low), float64(high))
	if ok && f != float64(int(f)) {
		c.fail(n, "%s is %v: want a whole number", what, f)
		return 0, false
	}
	return int(f), ok
}

// message compiles a message: one text, or a list of variants.
func (c *compiler) message(n node, what string) Variants {
	if n.kind == nodeMapping { // responses: {default: .., variations: [..]}
		var out Variants
		c.fields(n, what, map[string]func(key, value node){
			"default":    func(_, v node) { out = append(out, c.message(v, what)...) },
			"variations": func(_, v node) { out = append(out, c.message(v, what)...) },
		})
		return out
	}
	items := n.items
	if n.kind == nodeScalar {
		items = []node{n}
	} else if n.kind != nodeSequence {
		if n.given() {
			c.fail(n, "%s: want text, got %s", what, n.kind)
		}
		return nil
	}
	var out Variants
	for _, item := range items {
		if item.kind != nodeScalar {
			c.fail(item, "%s: want text, got %s", what, item.kind)
			continue
		}
		t, err := CompileTemplate(strings.TrimSpace(item.text))
		if err != nil {
			c.fail(item, "%s: %v", what, err)
			continue
		}
		for _, name := range t.Names {
			c.refs = append(c.refs, nameRef{at: item, name: name, what: what, shows: true})
		}
		out = append(out, t)
	}
	return out
}

// expression compiles an expression.
func (c *compiler) expression(n node, what string) *expr {
	text := c.text(n, what)
	if strings.TrimSpace(text) == "" {
		c.fail(n, "%s: want an expression", what)
		return nil
	}
	e, err := compileExpr(text)
	if err != nil {
		c.fail(n, "%s: %v", what, err)
		return nil
	}
	for _, name := range e.names {
		c.refs = append(c.refs, nameRef{at: n, name: name, what: what})
	}
	return e
}

// expressionIf compiles an expression. It returns nil if there is none.
func (c *compiler) expressionIf(n node, what string) *expr {
	if !n.given() {
		return nil
	}
	return c.expression(n, what)
}
