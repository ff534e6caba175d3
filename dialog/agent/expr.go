package agent

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hocketvoice/hocket/dialog/value"
)

// Expressions are a small language without side effects: comparison, and, or, not, in,
// arithmetic, len(), literals, and names of slots and variables, with dots for members of maps
// and lists. Expressions are bounded in length and depth and have no loops, so that their
// evaluation always ends.

const (
	maxExprText  = 2000
	maxExprDepth = 40
	maxExprValue = 10000 // maximum size in bytes of a string result
)

// expr is a compiled expression. It is immutable.
type expr struct {
	text  string
	root  *exprNode
	names []string // slots and variables that the expression reads, in order, each once
}

type exprNode struct {
	op    string // "lit", "name", "len", "list" or an operator
	value any
	path  []string
	args  []*exprNode
}

// compileExpr parses an expression. The error says where it is invalid and what was
// expected.
func compileExpr(text string) (*expr, error) {
	if len(text) > maxExprText {
		return nil, fmt.Errorf("expression has %d characters: expected at most %d", len(text), maxExprText)
	}
	p := exprParser{text: text}
	if err := p.next(); err != nil {
		return nil, err
	}
	root, err := p.or()
	if err != nil {
		return nil, err
	}
	if p.kind != tokEnd {
		return nil, p.unexpected("an operator or the end")
	}
	return &expr{text: text, root: root, names: p.names}, nil
}

const (
	tokEnd = iota
	tokNumber
	tokString
	tokName
	tokOp
)

type exprParser struct {
	text  string
	pos   int // after the current token
	kind  int
	tok   string
	start int
	depth int
	names []string
}

func (p *exprParser) unexpected(want string) error {
	got := "the end"
	if p.kind != tokEnd {
		got = strconv.Quote(p.tok)
	}
	return fmt.Errorf("at character %d: found %s: expected %s", p.start+1, got, want)
}

func (p *exprParser) next() error {
	for p.pos < len(p.text) {
		r, n := utf8.DecodeRuneInString(p.text[p.pos:])
		if !unicode.IsSpace(r) {
			break
		}
		p.pos += n
	}
	p.start = p.pos
	if p.pos >= len(p.text) {
		p.kind, p.tok = tokEnd, ""
		return nil
	}
	rest := p.text[p.pos:]
	switch c, _ := utf8.DecodeRuneInString(rest); {
	case c >= '0' && c <= '9' || c == '.' && len(rest) > 1 && value.IsDigit(rest[1]):
		n := strings.IndexFunc(rest, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
		if n < 0 {
			n = len(rest)
		}
		p.take(tokNumber, rest[:n])
	case c == '\'' || c == '"':
		n := strings.IndexRune(rest[1:], c)
		if n < 0 {
			return fmt.Errorf("at character %d: the quote is not closed", p.start+1)
		}
		p.take(tokString, rest[:n+2])
		p.tok = rest[1 : n+1]
	case unicode.IsLetter(c) || c == '_':
		p.take(tokName, nameIn(rest))
		switch word := strings.ToLower(p.tok); word {
		case "and", "or", "not", "in":
			p.kind, p.tok = tokOp, word
		}
	default:
		op := operatorIn(rest)
		if op == "" {
			return fmt.Errorf("at character %d: unexpected character %q", p.start+1, c)
		}
		p.take(tokOp, op)
	}
	return nil
}

// take makes text, with which the rest begins, the current token.
func (p *exprParser) take(kind int, text string) {
	p.kind, p.tok = kind, text
	p.pos += len(text)
}

// nameIn returns the name with which text begins. It may contain single dots, but not end with
// one.
func nameIn(text string) string {
	n := 0
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		if !(unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '.' && n+1 < len(text) && text[n+1] != '.') {
			break
		}
		n += size
	}
	return strings.TrimRight(text[:n], ".")
}

// operatorIn returns the operator with which text begins, or "".
func operatorIn(text string) string {
	for _, op := range [...]string{"==", "!=", "<=", ">=", "<>", "&&", "||"} {
		if strings.HasPrefix(text, op) {
			return op
		}
	}
	if strings.IndexByte("=<>+-*/%()[],!", text[0]) < 0 {
		return ""
	}
	return text[:1]
}

func (p *exprParser) is(ops ...string) bool {
	if p.kind != tokOp {
		return false
	}
	return slices.Contains(ops, p.tok)
}

func (p *exprParser) binary(sub func() (*exprNode, error), ops ...string) (*exprNode, error) {
	left, err := sub()
	if err != nil {
		return nil, err
	}
	for count := 0; p.is(ops...); count++ {
		if count > 100 {
			return nil, errors.New("the expression has too many parts")
		}
		op := p.tok
		if err := p.next(); err != nil {
			return nil, err
		}
		right, err := sub()
		if err != nil {
			return nil, err
		}
		left = &exprNode{op: op, args: []*exprNode{left, right}}
	}
	return left, nil
}

func (p *exprParser) or() (*exprNode, error) { return p.binary(p.and, "or", "||") }

func (p *exprParser) and() (*exprNode, error) { return p.binary(p.not, "and", "&&") }

func (p *exprParser) not() (*exprNode, error) {
	if !p.is("not", "!") {
		return p.compare()
	}
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxExprDepth {
		return nil, errors.New("the expression is nested too deep")
	}
	if err := p.next(); err != nil {
		return nil, err
	}
	sub, err := p.not()
	if err != nil {
		return nil, err
	}
	return &exprNode{op: "not", args: []*exprNode{sub}}, nil
}

func (p *exprParser) compare() (*exprNode, error) {
	left, err := p.sum()
	if err != nil {
		return nil, err
	}
	negate := false
	if p.is("not") { // "not in"
		if err := p.next(); err != nil {
			return nil, err
		}
		if !p.is("in") {
			return nil, p.unexpected(`"in"`)
		}
		negate = true
	}
	if !p.is("==", "=", "!=", "<>", "<", "<=", ">", ">=", "in") {
		return left, nil
	}
	op := p.tok
	if err := p.next(); err != nil {
		return nil, err
	}
	right, err := p.sum()
	if err != nil {
		return nil, err
	}
	switch op {
	case "=":
		op = "=="
	case "<>":
		op = "!="
	}
	n := &exprNode{op: op, args: []*exprNode{left, right}}
	if negate {
		n = &exprNode{op: "not", args: []*exprNode{n}}
	}
	if p.is("==", "=", "!=", "<>", "<", "<=", ">", ">=") {
		return nil, p.unexpected(`"and" or "or": comparisons do not chain`)
	}
	return n, nil
}

func (p *exprParser) sum() (*exprNode, error) { return p.binary(p.product, "+", "-") }

func (p *exprParser) product() (*exprNode, error) { return p.binary(p.unary, "*", "/", "%") }

func (p *exprParser) unary() (*exprNode, error) {
	p.depth++
	defer func() { p.depth-- }()
	if p.depth > maxExprDepth {
		return nil, errors.New("the expression is nested too deep")
	}
	if p.is("-", "+") {
		op := p.tok
		if err := p.next(); err != nil {
			return nil, err
		}
		sub, err := p.unary()
		if err != nil || op == "+" {
			return sub, err
		}
		return &exprNode{op: "neg", args: []*exprNode{sub}}, nil
	}
	return p.primary()
}

func (p *exprParser) primary() (*exprNode, error) {
	switch p.kind {
	case tokNumber:
		f, err := strconv.ParseFloat(p.tok, 64)
		if err != nil {
			return nil, p.unexpected("a number")
		}
		n := &exprNode{op: "lit", value: value.Number(f)}
		return n, p.next()
	case tokString:
		n := &exprNode{op: "lit", value: p.tok}
		return n, p.next()
	case tokName:
		return p.name()
	case tokOp:
		switch p.tok {
		case "(":
			if err := p.next(); err != nil {
				return nil, err
			}
			n, err := p.or()
			if err != nil {
				return nil, err
			}
			if !p.is(")") {
				return nil, p.unexpected(`")"`)
			}
			return n, p.next()
		case "[":
			return p.list()
		}
	}
	return nil, p.unexpected("a value")
}

func (p *exprParser) list() (*exprNode, error) {
	n := &exprNode{op: "list"}
	if err := p.next(); err != nil {
		return nil, err
	}
	for !p.is("]") {
		item, err := p.sum()
		if err != nil {
			return nil, err
		}
		if n.args = append(n.args, item); len(n.args) > 100 {
			return nil, errors.New("the list has too many entries")
		}
		if p.is(",") {
			if err := p.next(); err != nil {
				return nil, err
			}
		} else if !p.is("]") {
			return nil, p.unexpected(`"," or "]"`)
		}
	}
	return n, p.next()
}

func (p *exprParser) name() (*exprNode, error) {
	name := p.tok
	if err := p.next(); err != nil {
		return nil, err
	}
	switch strings.ToLower(name) {
	case "true":
		return &exprNode{op: "lit", value: true}, nil
	case "false":
		return &exprNode{op: "lit", value: false}, nil
	case "none", "null", "nil":
		return &exprNode{op: "lit"}, nil
	}
	if p.is("(") {
		if name != "len" {
			return nil, fmt.Errorf("unknown function %q: expected len", name)
		}
		if err := p.next(); err != nil {
			return nil, err
		}
		arg, err := p.or()
		if err != nil {
			return nil, err
		}
		if !p.is(")") {
			return nil, p.unexpected(`")"`)
		}
		n := &exprNode{op: "len", args: []*exprNode{arg}}
		return n, p.next()
	}
	path := strings.Split(name, ".")
	if !slices.Contains(p.names, path[0]) {
		p.names = append(p.names, path[0])
	}
	return &exprNode{op: "name", path: path}, nil
}
