package archtest

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

var sentenceEnd = regexp.MustCompile(`[.!?]['")\]]*(\s|$)`)

// packagesExplained checks that every package has a comment of at least two
// sentences in doc.go. The comment of a command may be in main.go.
func packagesExplained(m *module) (found []string) {
	for _, p := range m.packages {
		var where []string
		sentences := 0
		for _, f := range p.files {
			if f.ast.Doc != nil && !f.test && !f.generated {
				where = append(where, path.Base(f.path))
				sentences = len(sentenceEnd.FindAllString(f.ast.Doc.Text(), -1))
			}
		}
		first := m.at(p.files[0].ast)
		switch {
		case len(where) == 0:
			found = append(found, first+": package "+p.dir+" has no doc comment, expected one in doc.go")
		case len(where) > 1:
			found = append(found, fmt.Sprintf("%s: package %s has a doc comment in each of %v, expected one in doc.go", first, p.dir, where))
		case where[0] != "doc.go" && (p.name() != "main" || where[0] != "main.go"):
			found = append(found, fmt.Sprintf("%s: the doc comment of package %s is in %s, expected in doc.go", first, p.dir, where[0]))
		case sentences < 2:
			found = append(found, first+": the doc comment of package "+p.dir+" has less than two sentences: what does it decide, what does it never do, who owns what?")
		}
	}
	return found
}

// exportsExplained checks that every exported name of a public package has a
// comment. The comment of a group covers its names, and a method needs no comment
// if an interface of its package describes it.
func exportsExplained(m *module) (found []string) {
	for _, p := range m.packages {
		if !matches(public, p.dir) {
			continue
		}
		explained := explainedMethods(p)
		for _, f := range p.shipped() {
			for _, d := range f.ast.Decls {
				for _, name := range unexplained(d, explained) {
					found = append(found, fmt.Sprintf("%s: %s has no doc comment", m.at(name), name.Name))
				}
			}
		}
	}
	return found
}

// explainedMethods returns the methods with comments in the package's interfaces.
func explainedMethods(p *pkg) map[string]bool {
	names := make(map[string]bool)
	for _, f := range p.shipped() {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if i, ok := n.(*ast.InterfaceType); ok {
				for _, method := range i.Methods.List {
					for _, name := range method.Names {
						names[name.Name] = names[name.Name] || method.Doc != nil || method.Comment != nil
					}
				}
			}
			return true
		})
	}
	return names
}

// customary are methods described by the standard library.
var customary = []string{"String", "Error", "Unwrap", "Is", "MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText"}

// unexplained returns the exported names without a comment in a declaration.
func unexplained(d ast.Decl, explained map[string]bool) (names []*ast.Ident) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc != nil || !d.Name.IsExported() {
			return nil
		}
		if d.Recv != nil && (!ast.IsExported(receiver(d)) || explained[d.Name.Name] || slices.Contains(customary, d.Name.Name)) {
			return nil
		}
		return []*ast.Ident{d.Name}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && s.Doc == nil && s.Comment == nil && (d.Doc == nil || d.Lparen.IsValid()) {
					names = append(names, s.Name)
				}
				names = append(names, unexplainedMembers(s)...)
			case *ast.ValueSpec:
				if s.Doc != nil || s.Comment != nil || d.Doc != nil {
					continue
				}
				for _, n := range s.Names {
					if n.IsExported() {
						names = append(names, n)
					}
				}
			}
		}
	}
	return names
}

// unexplainedMembers returns the methods without a comment of an exported
// interface. Fields need no comment.
func unexplainedMembers(s *ast.TypeSpec) (names []*ast.Ident) {
	i, ok := s.Type.(*ast.InterfaceType)
	if !ok || !s.Name.IsExported() {
		return nil
	}
	for _, method := range i.Methods.List {
		for _, n := range method.Names {
			if n.IsExported() && method.Doc == nil && method.Comment == nil {
				names = append(names, n)
			}
		}
	}
	return names
}

// receiver returns the name of a method's type.
func receiver(d *ast.FuncDecl) string {
	e := d.Recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// funcName returns a function's name as used in the tables.
func funcName(d *ast.FuncDecl) string {
	switch {
	case d.Recv == nil:
		return d.Name.Name
	case isPointer(d.Recv.List[0].Type):
		return "(*" + receiver(d) + ")." + d.Name.Name
	}
	return receiver(d) + "." + d.Name.Name
}

func isPointer(e ast.Expr) bool {
	_, ok := e.(*ast.StarExpr)
	return ok
}

func TestComments(t *testing.T) {
	t.Run("packages", func(t *testing.T) {
		examples(t, packagesExplained, []example{
			{"two sentences", map[string]string{"turn/doc.go": "// Package turn decides. It\n// never plays.\npackage turn", "turn/x.go": "package turn"}, nil},
			{"one sentence", map[string]string{"turn/doc.go": "// Package turn decides version 2.5 of it.\npackage turn"}, []string{"turn/doc.go:2: the doc comment of package turn has less than two sentences"}},
			{"none", map[string]string{"turn/x.go": "package turn"}, []string{"turn/x.go:1: package turn has no doc comment"}},
			{"another place", map[string]string{"turn/x.go": "// Package turn decides. It never plays.\npackage turn"}, []string{"turn/x.go:2: the doc comment of package turn is in x.go"}},
			{"two places", map[string]string{"turn/doc.go": "// Package turn decides. It never plays.\npackage turn", "turn/x.go": "// X.\npackage turn"}, []string{"turn/doc.go:2: package turn has a doc comment in each of [doc.go x.go]"}},
			{"tests alone", map[string]string{"detector/x_test.go": "// Package detector has tests. No more.\npackage detector"}, []string{"detector/x_test.go:2: package detector has no doc comment"}},
			{"a command", map[string]string{"cmd/hocket/main.go": "// Hocket talks. And listens.\npackage main"}, nil},
		})
	})
	t.Run("exports", func(t *testing.T) {
		examples(t, exportsExplained, []example{
			{"all explained", map[string]string{"turn/x.go": `package turn

// T is.
type T struct{ F int }

// M does.
func (T) M() {}

func (T) String() string { return "" }

func (t) M() {}

// Some.
const (
	A = 1
	B = 2
)

var V = 1 // is

type t int

// I is.
type I interface {
	// N does.
	N()
}

func (T) N() {}
`}, nil},
			{"none explained", map[string]string{"turn/x.go": `package turn

type T struct{}

func (*T) M() {}

func F() {}

const A = 1

var V, w = 1, 2

// These are.
type (
	I interface {
		N()
	}
)

func (T) N() {}
`}, []string{
				"turn/x.go:3: T has no", "turn/x.go:5: M has no", "turn/x.go:7: F has no", "turn/x.go:9: A has no", "turn/x.go:11: V has no",
				"turn/x.go:15: I has no", "turn/x.go:16: N has no", "turn/x.go:20: N has no",
			}},
			{"not public", map[string]string{"internal/media/x.go": "package media\nfunc F() {}"}, nil},
			{"a test", map[string]string{"turn/x_test.go": "package turn\nfunc TestF() {}"}, nil},
		})
	})
}

func TestFuncName(t *testing.T) {
	m, err := load(fstest.MapFS{"turn/x.go": &fstest.MapFile{Data: []byte("package turn\nfunc F() {}\nfunc (t T) G() {}\nfunc (t *T) H() {}\nfunc (t *T[A, B]) I() {}")}})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range m.packages[0].files[0].ast.Decls {
		names = append(names, funcName(d.(*ast.FuncDecl)))
	}
	if got, want := strings.Join(names, " "), "F T.G (*T).H (*T).I"; got != want {
		t.Errorf("names %s, expected %s", got, want)
	}
}
