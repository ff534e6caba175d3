package yamlfile

import (
	"errors"
	"strings"
	"testing"
)

var limits = Limits{Bytes: 1000, Lines: 50, Depth: 20}

// TestNodes checks the position and the text of each kind of value.
func TestNodes(t *testing.T) {
	docs, err := Read([]byte("# words\na: 1_0\nb: [\"x\", 'y', z, true, ~]\nc: &n {d: .5}\ne: *n\nf: !!str 5\n<<: *n\ng: |\n  two\n  lines\na: again\n---\nsecond\n"), limits)
	if err != nil {
		t.Fatal(err)
	}
	if len(docs) != 2 || docs[1].Kind != Text || docs[1].Text != "second" {
		t.Fatalf("documents: %+v", docs)
	}
	top := docs[0]
	if top.Kind != Mapping || top.Line != 2 || top.Column != 1 || len(top.Pairs) != 8 {
		t.Fatalf("the mapping: %+v", top)
	}
	at := func(i int) Node { return top.Pairs[i].Value }
	if n := at(0); n.Kind != Number || n.Text != "1_0" || n.Line != 2 || n.Column != 4 {
		t.Errorf("a number: %+v", n)
	}
	list := at(1)
	for i, want := range []struct {
		kind   Kind
		text   string
		quoted bool
	}{{Text, "x", true}, {Text, "y", true}, {Text, "z", false}, {Bool, "true", false}, {Null, "~", false}} {
		if n := list.Items[i]; n.Kind != want.kind || n.Text != want.text || n.Quoted != want.quoted {
			t.Errorf("entry %d: %+v, expected %+v", i, n, want)
		}
	}
	if n := at(2); n.Kind != Anchor || n.Text != "n" || n.Value.Pairs[0].Value.Text != ".5" || n.Value.Column != 7 {
		t.Errorf("an anchor: %+v", n)
	}
	if n := at(3); n.Kind != Alias || n.Text != "n" {
		t.Errorf("an alias: %+v", n)
	}
	if n := at(4); n.Kind != Tag || n.Value.Text != "5" {
		t.Errorf("a tag: %+v", n)
	}
	if p := top.Pairs[5]; !p.Merge || p.Key.Text != "<<" {
		t.Errorf("a merge key: %+v", p)
	}
	if n := at(6); n.Kind != Text || n.Text != "two\nlines\n" || !n.Quoted {
		t.Errorf("a block: %+v", n)
	}
	if top.Pairs[7].Key.Text != "a" || top.Pairs[7].Key.Line != 11 {
		t.Errorf("the key that is set twice: %+v", top.Pairs[7])
	}
}

// TestRefused checks that texts that are not YAML or exceed a limit are reported with
// the line.
func TestRefused(t *testing.T) {
	for _, tc := range []struct {
		text, want string
		line       int
	}{
		{"turn: {policy: manual", "invalid YAML: the brace { is not closed by a }", 1},
		{"a:\n\tb: c", "invalid YAML: a tab: indent with spaces", 2},
		{strings.Repeat("x", 1001), "the file has 1001 bytes: expected at most 1000", 0},
		{strings.Repeat("\n", 51), "the file has 51 lines: expected at most 50", 0},
		{"a\nb\xff", "the file must be UTF-8 text", 2},
		{strings.Repeat("[", 21), "nested too deeply: expected at most 20 levels", 1},
		{"a:\n" + strings.Repeat("- ", 21), "nested too deeply: expected at most 20 levels", 2},
		{"a:\n" + strings.Repeat("&a ", 21), "nested too deeply: expected at most 20 levels", 2},
		{deep(21), "nested too deeply: expected at most 20 levels", 21},
	} {
		_, err := Read([]byte(tc.text), limits)
		if e, ok := errors.AsType[*Error](err); !ok || e.Message != tc.want || e.Line != tc.line {
			t.Errorf("%.30q: %+v, expected %q on line %d", tc.text, err, tc.want, tc.line)
		}
	}
}

// TestSyntaxInWords checks that common mistakes are reported with their position and in
// plain words.
func TestSyntaxInWords(t *testing.T) {
	for _, tc := range []struct {
		text, want string
		line, col  int
	}{
		{"instructions: Say: hello\n", "a text with a colon must be in quotes", 1, 15},
		{"a:\n  b: 1\n   c: 2\n", "keys of one group must begin in the same column", 2, 6},
		{"settings:\n  greeting: \"Hi\" there\n", "must be in quotes as a whole", 2, 18},
		{"turn:\n  policy: x\n bar: y\n", "wrong indentation", 3, 2},
		{"a: [b, c\nd: e\n", "a comma or a ]", 2, 1},
		{"a: {b: 1,, c: 2}\n", "between the commas", 1, 10},
		{"a: ]\n", "this ] has no [", 1, 4},
		{"a: \"b\n", `a " is missing`, 1, 4},
		{"a: 'it's\n", "must be in quotes as a whole", 1, 8},
		{"a: @b\n", "a text that begins with @ must be in quotes", 1, 4},
		{"a: %b\n", "percent sign must be in quotes", 1, 4},
		{`a: "\d"`, `\d means nothing in double quotes`, 1, 6},
		{"a: 1\nb\n", `expected "key: value" as in the lines above`, 2, 1},
		{"a b\nc: d\n", `a key must stand on one line`, 1, 1},
		{"a: &\n", "an anchor must have a name", 1, 4},
		{"a: |x\n  b\n", "end of the line behind | or >", 1, 4},
	} {
		_, err := Read([]byte(tc.text), limits)
		e, ok := errors.AsType[*Error](err)
		if !ok || !strings.HasPrefix(e.Message, "invalid YAML: ") || !strings.Contains(e.Message, tc.want) || e.Line != tc.line || e.Column != tc.col {
			t.Errorf("%q: %+v, expected %q at %d:%d", tc.text, err, tc.want, tc.line, tc.col)
		}
	}
}

// TestByteOrderMark checks that a byte order mark at the beginning of a file is not
// part of a key.
func TestByteOrderMark(t *testing.T) {
	docs, err := Read([]byte("\ufeffa: 1\n"), limits)
	if err != nil || len(docs) != 1 || docs[0].Pairs[0].Key.Text != "a" {
		t.Errorf("%+v, %v", docs, err)
	}
}

// deep returns a mapping with n levels, one per line.
func deep(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// FuzzRead checks that no text causes a panic, and that all positions are within the
// text.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"a: &x [*x]", "<<: {a: 1}", "? [a]\n: b", "!!map {a: b}", "a: |\n  b\n c", "\"\\x", "- - -", "%YAML 1.2\n---\n",
		"a: 'b", "{", "\t", "\ufeffa: 1", "\xff\xfe", "x: *", "&", "a:\n- b\n c", "? ? ? a", "a: ~\n~: b", "[]: {}", "a: \"\\ud800\"",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		docs, err := Read(data, limits)
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Fatalf("the error is a %T", err)
			}
			return
		}
		for i := range docs {
			walk(t, &docs[i], 2+strings.Count(string(data), "\n")+strings.Count(string(data), "\r"))
		}
	})
}

func walk(t *testing.T, n *Node, lines int) {
	t.Helper()
	if n.Line < 0 || n.Line > lines || n.Column < 0 {
		t.Fatalf("a node is at %d:%d of %d lines", n.Line, n.Column, lines)
	}
	for i := range n.Pairs {
		walk(t, &n.Pairs[i].Key, lines)
		walk(t, &n.Pairs[i].Value, lines)
	}
	for i := range n.Items {
		walk(t, &n.Items[i], lines)
	}
	if n.Value != nil {
		walk(t, n.Value, lines)
	}
}
