package agent

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	yamltoken "github.com/goccy/go-yaml/token"
	"github.com/hocketvoice/hocket/dialog/value"
)

// Bounds of what Parse reads, so that no file takes it long.
const (
	maxFileSize  = 256 << 10
	maxFileLines = 20_000 // the parser's time grows with the square of a mapping's entries
	maxYAMLDepth = 100
	maxYAMLNodes = 200_000
)

// node is a place in a file.
type node struct {
	file         string
	line, column int
	kind         nodeKind
	text         string // scalars: the text; keys too
	quoted       bool   // scalars: written in quotes or as a block
	pairs        []pair // mappings, in the order of the file
	items        []node // sequences
}

type nodeKind int

const (
	nodeMissing nodeKind = iota
	nodeNull
	nodeScalar
	nodeMapping
	nodeSequence
)

func (k nodeKind) String() string {
	return [...]string{"nothing", "nothing", "a single value", "a mapping", "a list"}[k]
}

type pair struct {
	key   node
	value node
}

// readYAML turns a file into nodes. What is wrong with its syntax comes back as
// a problem.
func readYAML(f File) (node, []Problem) {
	problem := func(line, column int, format string, args ...any) []Problem {
		return []Problem{{Severity: SeverityError, File: f.Name, Line: line, Column: column, Message: fmt.Sprintf(format, args...)}}
	}
	if len(f.Data) > maxFileSize {
		return node{}, problem(0, 0, "the file has %d bytes: want at most %d", len(f.Data), maxFileSize)
	}
	if n := bytes.Count(f.Data, []byte("\n")); n > maxFileLines {
		return node{}, problem(0, 0, "the file has %d lines: want at most %d", n, maxFileLines)
	}
	if line := tooDeep(f.Data); line > 0 {
		return node{}, problem(line, 1, "nested too deep: want at most %d levels", maxYAMLDepth)
	}
	tree, err := parseYAML(f.Data)
	if err != nil {
		var syntax yaml.Error
		if errors.As(err, &syntax) && syntax.GetToken() != nil && syntax.GetToken().Position != nil {
			pos := syntax.GetToken().Position
			return node{}, problem(pos.Line, pos.Column, "%s", syntax.GetMessage())
		}
		return node{}, problem(0, 0, "%v", err)
	}
	var out node
	c := nodeReader{file: f.Name, anchors: make(map[string]ast.Node)}
	for i, doc := range tree.Docs {
		if doc == nil || doc.Body == nil {
			continue
		}
		n := c.read(doc.Body, 0)
		if i == 0 || out.kind == nodeMissing {
			out = n
		} else if n.kind == nodeMapping && out.kind == nodeMapping {
			out.pairs = append(out.pairs, n.pairs...) // "---" between parts of one agent
		}
	}
	return out, c.problems
}

// parseYAML calls the YAML parser. A parser of outside bytes that panics must
// not take the program with it.
func parseYAML(data []byte) (tree *ast.File, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the YAML parser failed: %v", r)
		}
	}()
	return parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
}

// tooDeep is the line on which brackets or markers nest too deep, or 0. The
// parser recurses, and a goroutine's stack that overflows cannot be recovered.
func tooDeep(data []byte) int {
	depth, line, lead := 0, 1, 0
	atStart := true
	for i, c := range data {
		switch c {
		case '\n':
			line++
			lead, atStart = 0, true
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth = max(0, depth-1)
		}
		if atStart {
			switch c {
			case '-', '?', ':', '!', '&', '|', '>':
				if i+1 < len(data) && (data[i+1] == ' ' || data[i+1] == '\t' || c == '!' || c == '&') {
					lead++
				}
			case ' ', '\t':
			default:
				if lead == 0 {
					atStart = false
				}
			}
		}
		if depth > maxYAMLDepth || lead > maxYAMLDepth {
			return line
		}
	}
	return 0
}

type nodeReader struct {
	file     string
	anchors  map[string]ast.Node
	nodes    int
	problems []Problem
	stopped  bool
}

func (c *nodeReader) read(n ast.Node, depth int) node {
	out := node{file: c.file}
	if n == nil {
		return out
	}
	if tok := n.GetToken(); tok != nil && tok.Position != nil {
		out.line, out.column = tok.Position.Line, tok.Position.Column
	}
	c.nodes++
	if c.nodes > maxYAMLNodes || depth > maxYAMLDepth {
		if !c.stopped {
			c.stopped = true
			c.problems = append(c.problems, Problem{
				Severity: SeverityError, File: c.file, Line: out.line, Column: out.column,
				Message: fmt.Sprintf("too much: want at most %d values, %d levels deep", maxYAMLNodes, maxYAMLDepth),
			})
		}
		return out
	}
	switch n := n.(type) {
	case *ast.NullNode:
		out.kind = nodeNull
	case *ast.StringNode:
		out.kind, out.text = nodeScalar, n.Value
		out.quoted = n.Token != nil && (n.Token.Type == yamltoken.SingleQuoteType || n.Token.Type == yamltoken.DoubleQuoteType)
	case *ast.LiteralNode:
		out.kind, out.quoted = nodeScalar, true
		if n.Value != nil {
			out.text = n.Value.Value
		}
	case *ast.MappingNode:
		out.kind = nodeMapping
		for _, v := range n.Values {
			c.pair(&out, v, depth)
		}
		if len(out.pairs) > 0 {
			out.line, out.column = out.pairs[0].key.line, out.pairs[0].key.column
		}
	case *ast.MappingValueNode:
		out.kind = nodeMapping
		c.pair(&out, n, depth)
		if len(out.pairs) > 0 {
			out.line, out.column = out.pairs[0].key.line, out.pairs[0].key.column
		}
	case *ast.SequenceNode:
		out.kind = nodeSequence
		for _, v := range n.Values {
			out.items = append(out.items, c.read(v, depth+1))
		}
	case *ast.AnchorNode:
		if n.Name != nil {
			c.anchors[n.Name.String()] = n.Value
		}
		return c.read(n.Value, depth+1)
	case *ast.AliasNode:
		name := ""
		if n.Value != nil {
			name = n.Value.String()
		}
		target, ok := c.anchors[name]
		if !ok {
			c.problems = append(c.problems, Problem{
				Severity: SeverityError, File: c.file, Line: out.line, Column: out.column,
				Message: fmt.Sprintf("the alias *%s has no anchor before it", name), Suggestion: nearest(name, slices.Sorted(maps.Keys(c.anchors))),
			})
			return out
		}
		return c.read(target, depth+1)
	case *ast.TagNode:
		return c.read(n.Value, depth+1)
	case ast.ScalarNode:
		out.kind = nodeScalar
		if tok := n.GetToken(); tok != nil {
			out.text = tok.Value
		}
	default:
		// Comments and directives carry nothing.
	}
	return out
}

func (c *nodeReader) pair(out *node, v *ast.MappingValueNode, depth int) {
	if v == nil || v.Key == nil {
		return
	}
	if v.Key.IsMergeKey() {
		merged := c.read(v.Value, depth+1)
		for _, m := range append([]node{merged}, merged.items...) {
			for _, p := range m.pairs {
				if _, there := out.find(p.key.text); !there {
					out.pairs = append(out.pairs, p)
				}
			}
		}
		return
	}
	key := c.read(v.Key, depth+1)
	if key.kind == nodeMissing || key.kind == nodeNull {
		if tok := v.Key.GetToken(); tok != nil {
			key.text = tok.Value
		}
		key.kind = nodeScalar
	}
	if key.kind != nodeScalar {
		c.problems = append(c.problems, Problem{
			Severity: SeverityError, File: c.file, Line: key.line, Column: key.column,
			Message: "a name is expected before the colon, got " + key.kind.String(),
		})
		return
	}
	value := c.read(v.Value, depth+1)
	if value.line == 0 {
		value.line, value.column = key.line, key.column
	}
	out.pairs = append(out.pairs, pair{key, value})
}

func (n node) find(key string) (node, bool) {
	for _, p := range n.pairs {
		if p.key.text == key {
			return p.value, true
		}
	}
	return node{}, false
}

// given reports whether there is something.
func (n node) given() bool { return n.kind != nodeMissing && n.kind != nodeNull }

// plain is a node as a plain Go value: string, int64, float64, bool, []any,
// map[string]any.
func (n node) plain() any {
	switch n.kind {
	case nodeScalar:
		return n.scalar()
	case nodeMapping:
		m := make(map[string]any, len(n.pairs))
		for _, p := range n.pairs {
			m[p.key.text] = p.value.plain()
		}
		return m
	case nodeSequence:
		s := make([]any, 0, len(n.items))
		for _, item := range n.items {
			s = append(s, item.plain())
		}
		return s
	case nodeMissing, nodeNull:
		return nil
	default:
		return nil
	}
}

// scalar is the value of a scalar by YAML's rules.
func (n node) scalar() any {
	if n.quoted {
		return n.text
	}
	switch strings.ToLower(n.text) {
	case "true":
		return true
	case "false":
		return false
	}
	if i, err := strconv.ParseInt(strings.ReplaceAll(n.text, "_", ""), 0, 64); err == nil && i > -value.MaxNumber && i < value.MaxNumber && !strings.HasPrefix(n.text, "0") || n.text == "0" {
		return i
	}
	if f, ok := value.ToNumber(n.text); ok && strings.ContainsAny(n.text, ".eE") {
		return value.Number(f)
	}
	return n.text
}
