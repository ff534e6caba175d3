package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"testing"
)

// noInit checks that there are no init functions.
func noInit(m *module) (found []string) {
	for _, p := range m.packages {
		for _, f := range p.files {
			for _, d := range f.ast.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
					found = append(found, m.at(fn)+": an init function: let a constructor do it")
				}
			}
		}
	}
	return found
}

// noGlobals checks that package variables are not changed, except by tests.
func noGlobals(m *module) (found []string) {
	for _, p := range m.packages {
		for _, v := range variants {
			c := m.check(p, v)
			for _, f := range c.files {
				globalChanges(c.info, f.ast, p.dir, func(n ast.Node, why string) {
					found = append(found, m.at(n)+": "+why)
				})
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// globalChanges reports where package variables are changed. A pure package must
// also not take a pointer to one, as a method with a pointer receiver does, except
// for those in the table of shared tables, because changes through the pointer
// cannot be detected.
func globalChanges(info *types.Info, f *ast.File, dir string, add func(ast.Node, string)) {
	strict := matches(pure, dir)
	// global returns the package variable at the root of an expression, or nil. A
	// variable's pointees count as part of it.
	global := func(e ast.Expr) *types.Var {
		for {
			switch x := e.(type) {
			case *ast.ParenExpr:
				e = x.X
			case *ast.StarExpr:
				e = x.X
			case *ast.IndexExpr:
				e = x.X
			case *ast.SliceExpr:
				e = x.X
			case *ast.SelectorExpr:
				if packageOf(info, x) != "" {
					e = x.Sel
					continue
				}
				e = x.X
			case *ast.Ident:
				v, ok := info.Uses[x].(*types.Var)
				if ok && !v.IsField() && v.Pkg() != nil && v.Parent() == v.Pkg().Scope() {
					return v
				}
				return nil
			default:
				return nil
			}
		}
	}
	changed := func(e ast.Expr, how string) {
		if v := global(e); v != nil {
			add(e, fmt.Sprintf("package variable %s is %s", v.Name(), how))
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				changed(e, "assigned")
			}
		case *ast.IncDecStmt:
			changed(n.X, "assigned")
		case *ast.RangeStmt:
			if n.Tok == token.ASSIGN {
				changed(n.Key, "assigned")
				changed(n.Value, "assigned")
			}
		case *ast.CallExpr:
			if b, ok := info.Uses[identOf(n.Fun)].(*types.Builtin); ok && slices.Contains([]string{"delete", "clear", "copy"}, b.Name()) {
				changed(n.Args[0], "changed by "+b.Name())
			}
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && strict && pointerMethod(info, s) {
				changed(s.X, "handed to a method as a pointer")
			}
		case *ast.UnaryExpr:
			if v := global(n.X); strict && n.Op == token.AND && v != nil && sharedTables[dir+": "+v.Name()] == "" {
				changed(n.X, "handed out as a pointer")
			}
		}
		return true
	})
}

// pointerMethod reports whether x.f takes the address of x.
func pointerMethod(info *types.Info, s *ast.SelectorExpr) bool {
	sel := info.Selections[s]
	if sel == nil || sel.Kind() != types.MethodVal {
		return false
	}
	if _, ok := sel.Recv().Underlying().(*types.Pointer); ok {
		return false
	}
	_, ok := sel.Obj().(*types.Func).Signature().Recv().Type().(*types.Pointer)
	return ok
}

func TestState(t *testing.T) {
	t.Run("init", func(t *testing.T) {
		examples(t, noInit, []example{
			{"function", map[string]string{"session/x.go": "package session\n\nfunc init() {}"}, []string{"session/x.go:3: an init function"}},
			{"in a test", map[string]string{"session/x_test.go": "package session\n\nfunc init() {}"}, []string{"session/x_test.go:3: an init function"}},
			{"method", map[string]string{"session/x.go": "package session\n\ntype t int\nfunc (t) init() {}"}, nil},
		})
	})
	t.Run("variables", func(t *testing.T) {
		one := func(dir, body string) map[string]string {
			return map[string]string{dir + "/x.go": "package x\nimport \"sync\"\nvar n, m, s, p, mu = 1, map[int]int{}, struct{ f [3]int }{}, new(int), sync.Mutex{}\nfunc f() {\n" + body + "\n}"}
		}
		var list []example
		for _, body := range []string{
			"n = 2", "n++", "n += 1", "m[1] = 2", "s.f[0] = 1", "*p = 2", "(n) = 2",
			"delete(m, 1)", "clear(m)", "copy(s.f[:], nil)", "for n = range 3 {\n}", "_, n = 1, 2",
			"func() { n = 1 }()",
		} {
			list = append(list, example{"not " + body, one("session", body), []string{"session/x.go:5: package variable"}})
		}
		for _, body := range []string{"n := 2; n++; _ = n", "s := s; s.f[0] = 1", "mu.Lock()", "_ = &n"} {
			list = append(list, example{body, one("session", body), nil})
		}
		for _, body := range []string{"mu.Lock()", "_ = &n", "_ = &s.f[1]"} {
			list = append(list, example{"not when pure: " + body, one("turn", body), []string{"turn/x.go:5: package variable"}})
		}
		list = append(list,
			example{"of another package", map[string]string{
				"conv/x.go":    "package conv\n\nvar Limit = 3",
				"session/x.go": "package session\nimport \"github.com/hocketvoice/hocket/conv\"\nfunc f() {\nconv.Limit = 4\n}",
			}, []string{"session/x.go:4: package variable Limit"}},
			example{"of the standard library", map[string]string{
				"session/x.go": "package session\nimport \"io\"\nfunc f() {\nio.EOF = nil\n}",
			}, []string{"session/x.go:4: package variable EOF"}},
			example{"behind a build tag", map[string]string{
				"provider/flite/x.go": "//go:build flite && cgo\n\npackage flite\nimport \"C\"\nvar n int\nfunc f() { n = int(C.flite_init()) }",
			}, []string{"provider/flite/x.go:6: package variable n"}},
			example{"without the build tag", map[string]string{
				"provider/flite/x.go": "//go:build !flite || !cgo\n\npackage flite\nvar n int\nfunc f() { n = 1 }",
			}, []string{"provider/flite/x.go:5: package variable n"}},
			example{"in a test", map[string]string{
				"session/x.go": "package session\nvar n int", "session/x_test.go": "package session\nfunc f() { n = 1 }",
			}, nil},
		)
		examples(t, noGlobals, list)
	})
}
