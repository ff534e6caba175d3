package agent

// Node is a place in a YAML file: what other readers of such files see of it. The zero
// value is a place with nothing.
type Node struct{ n node }

// Field is a key of a mapping, and what stands behind it.
type Field struct{ Key, Value Node }

// ReadYAML reads a file of any content within the bounds of an agent's files. What is
// wrong with its syntax comes back as errors.
func ReadYAML(f File) (Node, []Problem) {
	n, problems := readYAML(f)
	return Node{n}, problems
}

// Warning is a problem at this place.
func (n Node) Warning(message string) Problem {
	return Problem{Severity: SeverityWarning, File: n.n.file, Line: n.n.line, Column: n.n.column, Message: message}
}

// Given reports whether something stands there that is not null.
func (n Node) Given() bool { return n.n.given() }

// IsList reports whether it is a list.
func (n Node) IsList() bool { return n.n.kind == nodeSequence }

// Text is the text of a single value, "" of anything else.
func (n Node) Text() string { return n.n.text }

// Plain is the value as string, int64, float64, bool, []any, map[string]any or nil.
func (n Node) Plain() any { return n.n.plain() }

// Get is what stands behind a key of a mapping.
func (n Node) Get(key string) Node {
	found, _ := n.n.find(key)
	return Node{found}
}

// Fields are the keys of a mapping in the order of the file.
func (n Node) Fields() []Field {
	list := make([]Field, len(n.n.pairs))
	for i, p := range n.n.pairs {
		list[i] = Field{Node{p.key}, Node{p.value}}
	}
	return list
}

// Items are the entries of a list.
func (n Node) Items() []Node {
	list := make([]Node, len(n.n.items))
	for i, item := range n.n.items {
		list[i] = Node{item}
	}
	return list
}
