package agent

// Node is a value in a YAML file with its position, for other readers of such files. The
// zero value is a missing value.
type Node struct{ n node }

// Field is a key of a mapping with its value.
type Field struct{ Key, Value Node }

// ReadYAML reads a YAML file of any content, within the size limits of an agent's files. It
// returns syntax errors as problems.
func ReadYAML(f File) (Node, []Problem) {
	n, problems := readYAML(f)
	return Node{n}, problems
}

// Warning returns a warning at the position of the node.
func (n Node) Warning(message string) Problem {
	return Problem{Severity: SeverityWarning, File: n.n.file, Line: n.n.line, Column: n.n.column, Message: message}
}

// Given reports whether the value is present and not null.
func (n Node) Given() bool { return n.n.given() }

// IsList reports whether the value is a list.
func (n Node) IsList() bool { return n.n.kind == nodeSequence }

// Text returns the text of a scalar, and "" for any other value.
func (n Node) Text() string { return n.n.text }

// Plain returns the value as a string, int64, float64, bool, []any, map[string]any or nil.
func (n Node) Plain() any { return n.n.plain() }

// Get returns the value of a key of a mapping.
func (n Node) Get(key string) Node {
	found, _ := n.n.find(key)
	return Node{found}
}

// Fields returns the fields of a mapping in the order of the file.
func (n Node) Fields() []Field {
	list := make([]Field, len(n.n.pairs))
	for i, p := range n.n.pairs {
		list[i] = Field{Node{p.key}, Node{p.value}}
	}
	return list
}

// Items returns the entries of a list.
func (n Node) Items() []Node {
	list := make([]Node, len(n.n.items))
	for i, item := range n.n.items {
		list[i] = Node{item}
	}
	return list
}
