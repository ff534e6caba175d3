package agent

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/hocketvoice/hocket/dialog/value"
)

// This file evaluates expressions.

// Eval evaluates the expression. lookup returns the value of a name, or nil if it has none.
func (e *expr) Eval(lookup func(string) any) (any, error) {
	v, err := e.root.eval(lookup)
	if err != nil {
		return nil, fmt.Errorf("expression %q: %w", e.text, err)
	}
	return v, nil
}

// Truth evaluates the expression as a condition.
func (e *expr) Truth(lookup func(string) any) (bool, error) {
	v, err := e.Eval(lookup)
	return truthy(v), err
}

func (n *exprNode) eval(lookup func(string) any) (any, error) {
	switch n.op {
	case "lit":
		return n.value, nil
	case "name":
		return reach(lookup(n.path[0]), n.path[1:]), nil
	case "and", "&&", "or", "||":
		left, err := n.args[0].eval(lookup)
		if err != nil {
			return nil, err
		}
		if t := truthy(left); t == (n.op == "or" || n.op == "||") {
			return t, nil
		}
		right, err := n.args[1].eval(lookup)
		return truthy(right), err
	}
	args := make([]any, len(n.args))
	for i, a := range n.args {
		v, err := a.eval(lookup)
		if err != nil {
			return nil, err
		}
		args[i] = v
	}
	switch n.op {
	case "list":
		return args, nil
	case "not":
		return !truthy(args[0]), nil
	case "len":
		return int64(value.Length(args[0])), nil
	case "neg":
		f, ok := value.ToNumber(args[0])
		if !ok {
			return nil, fmt.Errorf("%s is not a number", kindOf(args[0]))
		}
		return value.Number(-f), nil
	case "in":
		return member(args[0], args[1]), nil
	case "==":
		return value.Equal(args[0], args[1]), nil
	case "!=":
		return !value.Equal(args[0], args[1]), nil
	case "<", "<=", ">", ">=":
		return order(n.op, args[0], args[1]), nil
	default:
		return arithmetic(n.op, args[0], args[1])
	}
}

func arithmetic(op string, a, b any) (any, error) {
	if op == "+" {
		s, sok := a.(string)
		t, tok := b.(string)
		if sok && tok {
			if _, num := value.ToNumber(a); !num {
				if len(s)+len(t) > maxExprValue {
					return nil, errors.New("the text is too long")
				}
				return s + t, nil
			}
		}
	}
	x, xok := value.ToNumber(a)
	y, yok := value.ToNumber(b)
	if !xok || !yok {
		bad := a
		if xok {
			bad = b
		}
		return nil, fmt.Errorf("%q needs numbers, got %s", op, kindOf(bad))
	}
	var f float64
	switch op {
	case "+":
		f = x + y
	case "-":
		f = x - y
	case "*":
		f = x * y
	case "/", "%":
		if y == 0 {
			return nil, errors.New("division by zero")
		}
		if f = x / y; op == "%" {
			f = math.Mod(x, y)
		}
	default:
		panic(fmt.Sprintf("dialog: unexpected operator %q", op))
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, errors.New("the result is not a finite number")
	}
	return value.Number(f), nil
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case string:
		return "text"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	case map[string]any:
		return "a map"
	default:
		return fmt.Sprintf("%v", v)
	}
}

// reach follows a path into maps and lists.
func reach(v any, path []string) any {
	for _, key := range path {
		switch c := v.(type) {
		case map[string]any:
			v = c[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(c) {
				return nil
			}
			v = c[i]
		default:
			return nil
		}
	}
	return v
}

func truthy(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		return v != ""
	case int64:
		return v != 0
	case float64:
		return v != 0
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	default:
		return true
	}
}

// order compares numbers as numbers and texts as texts. It reports false for values that
// cannot be compared.
func order(op string, a, b any) bool {
	c := 0
	if x, ok := value.ToNumber(a); ok {
		y, ok := value.ToNumber(b)
		if !ok {
			return false
		}
		switch {
		case x < y:
			c = -1
		case x > y:
			c = 1
		}
	} else {
		x, xok := a.(string)
		y, yok := b.(string)
		if !xok || !yok {
			return false
		}
		c = strings.Compare(x, y)
	}
	switch op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	default:
		return c >= 0
	}
}

func member(a, b any) bool {
	switch b := b.(type) {
	case []any:
		for _, v := range b {
			if value.Equal(a, v) {
				return true
			}
		}
	case string:
		s, ok := a.(string)
		return ok && strings.Contains(b, s)
	case map[string]any:
		s, ok := a.(string)
		_, there := b[s]
		return ok && there
	}
	return false
}

// CaseMatches reports whether a value matches a case of a branch: the value itself, true or
// false, yes or no, or a comparison (">1000").
func CaseMatches(value any, pattern string) bool {
	p := strings.TrimSpace(pattern)
	for _, op := range [...]string{">=", "<=", "!=", "==", ">", "<"} {
		rest, ok := strings.CutPrefix(p, op)
		if !ok {
			continue
		}
		rest = strings.TrimSpace(rest)
		switch op {
		case "==":
			return sameText(value, rest)
		case "!=":
			return !sameText(value, rest)
		}
		return value != nil && order(op, value, rest)
	}
	return sameText(value, p)
}

// sameText compares a value with the text of a case.
func sameText(val any, text string) bool {
	lower := strings.ToLower(text)
	switch v := val.(type) {
	case nil:
		return lower == "none" || lower == "null" || lower == ""
	case bool:
		if v {
			return lower == "true" || lower == "yes"
		}
		return lower == "false" || lower == "no"
	case string:
		if strings.EqualFold(v, text) {
			return true
		}
		switch lower {
		case "yes", "true":
			return strings.EqualFold(v, "true") || strings.EqualFold(v, "yes")
		case "no", "false":
			return strings.EqualFold(v, "false") || strings.EqualFold(v, "no")
		}
		return false
	}
	if x, ok := value.ToNumber(val); ok {
		y, ok := value.ToNumber(text)
		return ok && x == y
	}
	return false
}
