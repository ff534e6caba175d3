package agent

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/hocketvoice/hocket/dialog/value"
	"github.com/hocketvoice/hocket/internal/yamlfile"
)

// Bounds of what Parse reads, so that no file takes it long.
const (
	maxFileSize  = 256 << 10
	maxFileLines = 20_000 // parsing takes quadratic time in the entries of a mapping
	maxYAMLDepth = 100
	maxYAMLNodes = 200_000
)

// node is a value in a file, with its position.
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

// readYAML parses a file. It returns syntax errors as problems.
func readYAML(f File) (node, []Problem) {
	docs, err := yamlfile.Read(f.Data, yamlfile.Limits{Bytes: maxFileSize, Lines: maxFileLines, Depth: maxYAMLDepth})
	if err != nil {
		p := Problem{Severity: SeverityError, File: f.Name, Message: err.Error()}
		if at, ok := errors.AsType[*yamlfile.Error](err); ok {
			p.Line, p.Column = at.Line, at.Column
		}
		return node{}, []Problem{p}
	}
	var out node
	c := nodeReader{file: f.Name, anchors: make(map[string]*yamlfile.Node)}
	for i := range docs {
		n := c.read(&docs[i], 0)
		if out.kind == nodeMissing {
			out = n
		} else if n.kind == nodeMapping && out.kind == nodeMapping {
			out.pairs = append(out.pairs, n.pairs...) // documents of one file are parts of one agent
		}
	}
	return out, c.problems
}

// nodeReader resolves anchors, aliases, tags and merge keys.
type nodeReader struct {
	file     string
	anchors  map[string]*yamlfile.Node
	nodes    int
	problems []Problem
	stopped  bool
}

func (c *nodeReader) problem(n node, suggestion, message string) {
	c.problems = append(c.problems, Problem{
		Severity: SeverityError, File: c.file, Line: n.line, Column: n.column, Message: message, Suggestion: suggestion,
	})
}

func (c *nodeReader) read(n *yamlfile.Node, depth int) node {
	out := node{file: c.file, line: n.Line, column: n.Column}
	c.nodes++
	if c.nodes > maxYAMLNodes || depth > maxYAMLDepth {
		if !c.stopped {
			c.stopped = true
			c.problem(out, "", fmt.Sprintf("the file is too large: expected at most %d values, %d levels deep", maxYAMLNodes, maxYAMLDepth))
		}
		return out
	}
	switch n.Kind {
	case yamlfile.Null:
		out.kind = nodeNull
	case yamlfile.Text, yamlfile.Number, yamlfile.Bool:
		out.kind, out.text, out.quoted = nodeScalar, n.Text, n.Quoted
	case yamlfile.Mapping:
		out.kind = nodeMapping
		for i := range n.Pairs {
			c.pair(&out, &n.Pairs[i], depth)
		}
		if len(out.pairs) > 0 {
			out.line, out.column = out.pairs[0].key.line, out.pairs[0].key.column
		}
	case yamlfile.Sequence:
		out.kind = nodeSequence
		for i := range n.Items {
			out.items = append(out.items, c.read(&n.Items[i], depth+1))
		}
	case yamlfile.Anchor:
		c.anchors[n.Text] = n.Value
		return c.read(n.Value, depth+1)
	case yamlfile.Alias:
		target, ok := c.anchors[n.Text]
		if !ok {
			c.problem(out, nearest(n.Text, slices.Sorted(maps.Keys(c.anchors))), fmt.Sprintf("the alias *%s has no anchor before it", n.Text))
			return out
		}
		return c.read(target, depth+1)
	case yamlfile.Tag:
		return c.read(n.Value, depth+1)
	case yamlfile.Nothing:
	}
	return out
}

func (c *nodeReader) pair(out *node, p *yamlfile.Pair, depth int) {
	if p.Merge {
		merged := c.read(&p.Value, depth+1)
		for _, m := range append([]node{merged}, merged.items...) {
			for _, p := range m.pairs {
				if _, there := out.find(p.key.text); !there {
					out.pairs = append(out.pairs, p)
				}
			}
		}
		return
	}
	key := c.read(&p.Key, depth+1)
	if key.kind == nodeMissing || key.kind == nodeNull {
		key.kind, key.text = nodeScalar, p.Key.Text
	}
	if key.kind != nodeScalar {
		c.problem(key, "", key.kind.String()+" before the colon: expected a name")
		return
	}
	value := c.read(&p.Value, depth+1)
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

// given reports whether the value is present and not null.
func (n node) given() bool { return n.kind != nodeMissing && n.kind != nodeNull }

// plain converts a node to a Go value: string, int64, float64, bool, []any, map[string]any
// or nil.
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

// scalar returns the value of a scalar by the rules of YAML.
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
