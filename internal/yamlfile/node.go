package yamlfile

import (
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Kind is the kind of a node.
type Kind int

// The kinds of nodes.
const (
	Nothing Kind = iota // no value, or one that is not data
	Null
	Text
	Number
	Bool
	Mapping
	Sequence
	Anchor // of Value, with the name Text
	Alias  // refers to the anchor Text
	Tag    // Text, applied to Value
)

// Node is a value and its position.
type Node struct {
	Kind         Kind
	Line, Column int    // where the value begins, from 1; 0 if unknown
	Text         string // of a single value as written in the file, without quotes
	Quoted       bool   // the text is quoted, or a block
	Pairs        []Pair // of a mapping, in the order of the file
	Items        []Node // of a sequence
	Value        *Node  // of an anchor or a tag
}

// Pair is a key of a mapping and its value. If the key is not a single value, its kind
// shows it, and its text is the character with which it begins.
type Pair struct {
	Key, Value Node
	Merge      bool // the key is <<
}

// reader converts the library's tree to nodes.
type reader struct {
	depth   int
	tooDeep int // the first line that is nested too deeply
}

func (r *reader) node(n ast.Node, depth int) Node {
	if n == nil {
		return Node{}
	}
	t := n.GetToken()
	var out Node
	out.Line, out.Column = place(t)
	if depth > r.depth {
		if r.tooDeep == 0 {
			r.tooDeep = max(out.Line, 1)
		}
		return out
	}
	if t != nil {
		out.Text = t.Value
	}
	switch n := n.(type) {
	case *ast.NullNode:
		out.Kind = Null
	case *ast.BoolNode:
		out.Kind = Bool
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		out.Kind = Number
	case *ast.StringNode:
		out.Kind, out.Text = Text, n.Value
		out.Quoted = t != nil && (t.Type == token.SingleQuoteType || t.Type == token.DoubleQuoteType)
	case *ast.LiteralNode:
		out.Kind, out.Quoted, out.Text = Text, true, ""
		if n.Value != nil {
			out.Text = n.Value.Value
		}
	case *ast.MappingNode:
		out.Kind = Mapping
		for _, v := range n.Values {
			r.pair(&out, v, depth)
		}
		if !n.IsFlowStyle { // its token is the first colon
			out.atFirst()
		}
	case *ast.MappingValueNode:
		out.Kind = Mapping
		r.pair(&out, n, depth)
		out.atFirst()
	case *ast.SequenceNode:
		out.Kind = Sequence
		for _, v := range n.Values {
			out.Items = append(out.Items, r.node(v, depth+1))
		}
	case *ast.AnchorNode:
		out.Kind, out.Text = Anchor, name(n.Name)
		value := r.node(n.Value, depth+1)
		out.Value = &value
	case *ast.AliasNode:
		out.Kind, out.Text = Alias, name(n.Value)
	case *ast.TagNode:
		out.Kind = Tag
		value := r.node(n.Value, depth+1)
		out.Value = &value
	default:
		// Comments and directives contain no data.
	}
	return out
}

// name returns the name of an anchor.
func name(n ast.Node) string {
	if n == nil {
		return ""
	}
	return n.String()
}

// atFirst moves the node's position to that of its first key.
func (n *Node) atFirst() {
	if len(n.Pairs) > 0 {
		n.Line, n.Column = n.Pairs[0].Key.Line, n.Pairs[0].Key.Column
	}
}

func (r *reader) pair(out *Node, v *ast.MappingValueNode, depth int) {
	if v == nil || v.Key == nil {
		return
	}
	out.Pairs = append(out.Pairs, Pair{
		Key: r.node(v.Key, depth+1), Value: r.node(v.Value, depth+1), Merge: v.Key.IsMergeKey(),
	})
}
