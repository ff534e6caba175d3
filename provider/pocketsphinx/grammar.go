package pocketsphinx

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Limits of one expectation; a larger grammar would cost more than it helps.
const (
	maxPhraseBytes = 4096
	maxDepth       = 32
	maxArcs        = 100000
)

// Dropped is a part of an expectation that cannot be recognized.
type Dropped struct {
	Phrase string // as given
	Err    error  // the syntax error, or the words that are not in the dictionary
}

func (d Dropped) String() string { return fmt.Sprintf("%q: %v", d.Phrase, d.Err) }

// graph is a word graph. Each path from start to final is an expected form.
type graph struct {
	states, start, final int
	arcs                 []arc
	words                []string
}

// arc is a transition with probability prob. word is an index into graph.words, or
// -1 for a transition without a word.
type arc struct {
	from, to, word int
	prob           float64
}

// compile builds one word graph for all phrases with equal probability. A phrase is
// a JSGF right-hand side (words, sequences, alternatives with |, groups in
// parentheses, options in brackets, * and +; weights /0.5/ and tags {x} are
// ignored), which includes plain words. known reports whether the dictionary
// contains a word. Alternatives with unknown words are omitted. The omitted parts
// are returned; the graph is nil if nothing remains.
//
// Source: JSpeech Grammar Format, W3C note of 5 June 2000, section 4.
func compile(phrases []string, known func(string) bool) (*graph, []Dropped) {
	var dropped []Dropped
	var nodes []*node
	var names []string // of nodes
	for _, p := range phrases {
		n, err := parsePhrase(p)
		if err != nil {
			dropped = append(dropped, Dropped{p, err})
			continue
		}
		var missing []string
		n = n.prune(known, &missing)
		if len(missing) > 0 {
			dropped = append(dropped, Dropped{p, fmt.Errorf("not in the dictionary: %s", strings.Join(missing, ", "))})
		}
		if n != nil && !n.empty() {
			nodes, names = append(nodes, n), append(names, p)
		}
	}
	if len(nodes) == 0 {
		return nil, dropped
	}
	b := &builder{g: graph{states: 2, start: 0, final: 1}, index: map[string]int{}}
	for i, n := range nodes {
		if len(b.g.arcs) > maxArcs {
			for _, p := range names[i:] {
				dropped = append(dropped, Dropped{p, errors.New("the grammar is too large")})
			}
			break
		}
		from := b.state()
		b.arc(b.g.start, from, -1, 1/float64(len(nodes)))
		b.add(n, from, b.g.final)
	}
	return &b.g, dropped
}

// node is a part of a right-hand side.
type node struct {
	kind kind
	word string
	subs []*node
}

type kind int

const (
	wordNode kind = iota
	sequence
	choice
	option   // zero or one of subs[0]
	closure  // zero or more
	repeated // one or more
)

// empty reports whether the node matches only silence.
func (n *node) empty() bool {
	switch n.kind {
	case wordNode:
		return false
	default:
		for _, s := range n.subs {
			if !s.empty() {
				return false
			}
		}
		return true
	}
}

// prune removes what needs an unknown word. It returns nil if the node cannot be
// spoken any more.
func (n *node) prune(known func(string) bool, missing *[]string) *node {
	var subs []*node
	for _, s := range n.subs {
		p := s.prune(known, missing)
		if p != nil {
			subs = append(subs, p)
		} else if n.kind == sequence || n.kind == repeated {
			return nil
		}
	}
	switch {
	case n.kind == wordNode:
		if !known(n.word) {
			*missing = append(*missing, n.word)
			return nil
		}
		return n
	case n.kind == choice && len(subs) == 0:
		return nil
	case len(subs) == 0: // an option without speakable content
		return &node{kind: sequence}
	}
	return &node{kind: n.kind, subs: subs}
}

// builder converts nodes to a graph.
type builder struct {
	g     graph
	index map[string]int
}

func (b *builder) state() int {
	b.g.states++
	return b.g.states - 1
}

func (b *builder) arc(from, to, word int, prob float64) {
	b.g.arcs = append(b.g.arcs, arc{from, to, word, prob})
}

func (b *builder) word(w string) int {
	i, ok := b.index[w]
	if !ok {
		i = len(b.g.words)
		b.index[w] = i
		b.g.words = append(b.g.words, w)
	}
	return i
}

func (b *builder) add(n *node, from, to int) {
	switch n.kind {
	case wordNode:
		b.arc(from, to, b.word(n.word), 1)
	case sequence:
		for i, s := range n.subs {
			next := to
			if i < len(n.subs)-1 {
				next = b.state()
			}
			b.add(s, from, next)
			from = next
		}
		if len(n.subs) == 0 {
			b.arc(from, to, -1, 1)
		}
	case choice:
		for _, s := range n.subs {
			start := b.state()
			b.arc(from, start, -1, 1/float64(len(n.subs)))
			b.add(s, start, to)
		}
	case option:
		start := b.state()
		b.arc(from, start, -1, 0.5)
		b.add(n.subs[0], start, to)
		b.arc(from, to, -1, 0.5)
	case closure, repeated:
		// The loop gets its own states, so that neighbors cannot enter it.
		in, out := b.state(), b.state()
		b.arc(from, in, -1, 1)
		b.add(n.subs[0], in, out)
		b.arc(out, in, -1, 0.5)
		b.arc(out, to, -1, 0.5)
		if n.kind == closure {
			b.arc(from, to, -1, 0.5)
		}
	}
}

// parsePhrase parses a JSGF right-hand side.
func parsePhrase(s string) (*node, error) {
	if len(s) > maxPhraseBytes {
		return nil, fmt.Errorf("the phrase has %d bytes: expected at most %d", len(s), maxPhraseBytes)
	}
	p := &parser{in: []rune(strings.TrimRight(strings.TrimSpace(s), ".?!;,"))}
	n, err := p.alternatives(0)
	if err != nil {
		return nil, err
	}
	if p.at < len(p.in) {
		return nil, fmt.Errorf("unexpected %q at character %d", p.in[p.at], p.at+1)
	}
	if n.empty() {
		return nil, errors.New("the phrase has no word")
	}
	return n, nil
}

type parser struct {
	in []rune
	at int
}

// peek skips spaces and returns the next character, or 0 at the end.
func (p *parser) peek() rune {
	for p.at < len(p.in) && unicode.IsSpace(p.in[p.at]) {
		p.at++
	}
	if p.at == len(p.in) {
		return 0
	}
	return p.in[p.at]
}

func (p *parser) alternatives(depth int) (*node, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("groups are nested deeper than %d", maxDepth)
	}
	var subs []*node
	for {
		n, err := p.sequence(depth)
		if err != nil {
			return nil, err
		}
		subs = append(subs, n)
		if p.peek() != '|' {
			break
		}
		p.at++
	}
	if len(subs) == 1 {
		return subs[0], nil
	}
	return &node{kind: choice, subs: subs}, nil
}

func (p *parser) sequence(depth int) (*node, error) {
	seq := &node{kind: sequence}
	for {
		n, err := p.item(depth)
		if err != nil {
			return nil, err
		}
		if n == nil {
			return seq, nil
		}
		seq.subs = append(seq.subs, n)
	}
}

// item parses one word or group with its repetition, or returns nil at the end of a
// sequence.
func (p *parser) item(depth int) (*node, error) {
	var n *node
	switch r := p.peek(); r {
	case 0, '|', ')', ']':
		return nil, nil
	case '(', '[':
		open := p.at
		p.at++
		sub, err := p.alternatives(depth + 1)
		if err != nil {
			return nil, err
		}
		closing := map[rune]rune{'(': ')', '[': ']'}[r]
		if p.peek() != closing {
			return nil, fmt.Errorf("%q at character %d is not closed", r, open+1)
		}
		p.at++
		n = sub
		if r == '[' {
			n = &node{kind: option, subs: []*node{sub}}
		}
	case '/':
		if err := p.skip('/'); err != nil {
			return nil, err
		}
		return p.item(depth)
	case '{':
		if err := p.skip('}'); err != nil {
			return nil, err
		}
		return &node{kind: sequence}, nil
	case '<':
		return nil, fmt.Errorf("rule reference at character %d: rule references are not supported", p.at+1)
	case '*', '+':
		return nil, fmt.Errorf("%q at character %d has nothing to repeat", r, p.at+1)
	default:
		from := p.at
		w := p.word()
		switch {
		case w == "" && p.at > from: // only punctuation
			return p.item(depth)
		case w == "":
			return nil, fmt.Errorf("unexpected %q at character %d", r, p.at+1)
		}
		n = &node{kind: wordNode, word: w}
	}
	switch p.peek() {
	case '*':
		p.at++
		n = &node{kind: closure, subs: []*node{n}}
	case '+':
		p.at++
		n = &node{kind: repeated, subs: []*node{n}}
	}
	return n, nil
}

// skip skips a weight or a tag.
func (p *parser) skip(end rune) error {
	open := p.at
	for p.at++; p.at < len(p.in); p.at++ {
		if p.in[p.at] == end {
			p.at++
			return nil
		}
	}
	return fmt.Errorf("%q at character %d is not closed", p.in[open], open+1)
}

// word parses one word and converts it to lower case. It drops surrounding
// punctuation and quotes, and converts the typographic apostrophe to the plain one.
func (p *parser) word() string {
	var b strings.Builder
	for ; p.at < len(p.in); p.at++ {
		r := p.in[p.at]
		switch {
		case r == '’':
			b.WriteByte('\'')
		case strings.ContainsRune("\",;.?!", r):
			if r != '.' || p.at+1 == len(p.in) || !unicode.IsLetter(p.in[p.at+1]) {
				continue
			}
			b.WriteRune(r)
		case unicode.IsSpace(r) || strings.ContainsRune("()[]{}|<>*+/", r):
			return b.String()
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}
