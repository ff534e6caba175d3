package archtest

import (
	"fmt"
	"go/ast"
	"testing"
)

// goroutinesOwned checks that every start of a goroutine is in the table of
// workers, which names its owner.
func goroutinesOwned(m *module) (found []string) {
	for _, s := range m.starts() {
		if workers[s.owner] == "" {
			found = append(found, fmt.Sprintf("%s: %s starts a goroutine: who waits for it? (archtest/tables_test.go)", m.at(s.node), s.owner))
		}
	}
	return found
}

// start is a place where a goroutine is started.
type start struct {
	node  ast.Node
	owner string // folder and function, as in the table
}

// starts returns the places outside tests where goroutines are started: go
// statements, and calls that are known to contain one.
func (m *module) starts() (list []start) {
	for _, p := range m.packages {
		if forTests(p.dir) {
			continue
		}
		for _, f := range p.shipped() {
			for _, d := range f.ast.Decls {
				owner := p.dir + ": a package variable"
				if fn, ok := d.(*ast.FuncDecl); ok {
					owner = p.dir + ": " + funcName(fn)
				}
				ast.Inspect(d, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.GoStmt:
						list = append(list, start{n, owner})
					case *ast.CallExpr:
						// Go is a method of WaitGroup, errgroup and similar types.
						if s, ok := n.Fun.(*ast.SelectorExpr); ok && (s.Sel.Name == "Go" || s.Sel.Name == "TryGo" || s.Sel.Name == "AfterFunc") {
							list = append(list, start{n, owner})
						}
					}
					return true
				})
			}
		}
	}
	return list
}

// noSleep checks that tests do not sleep, except within a bubble of
// testing/synctest, where sleeping takes no time.
func noSleep(m *module) (found []string) {
	for _, p := range m.packages {
		for _, f := range p.files {
			if !f.test && !forTests(p.dir) {
				continue
			}
			ast.Inspect(f.ast, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					if names(n.Fun, "synctest", "Test") {
						return false
					}
				case *ast.SelectorExpr:
					if names(n, "time", "Sleep") {
						found = append(found, m.at(n)+": a test that sleeps: use virtual time or testing/synctest")
					}
				}
				return true
			})
		}
	}
	return found
}

// noSkip checks that no test of a pure package skips: it needs nothing but the module.
// The recordings, whose licences keep them out of it, are the exception.
func noSkip(m *module) (found []string) {
	for _, p := range m.packages {
		if !matches(pure, p.dir) || p.dir == "audio" {
			continue
		}
		for _, f := range p.files {
			if !f.test {
				continue
			}
			ast.Inspect(f.ast, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && (s.Sel.Name == "Skip" || s.Sel.Name == "Skipf" || s.Sel.Name == "SkipNow") {
					found = append(found, m.at(n)+": a test of a pure package that skips")
				}
				return true
			})
		}
	}
	return found
}

// names reports whether an expression has the form pkg.name.
func names(e ast.Expr, pkg, name string) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	id := identOf(s.X)
	return id != nil && id.Name == pkg && s.Sel.Name == name
}

func TestWorkers(t *testing.T) {
	t.Run("owners", func(t *testing.T) {
		examples(t, goroutinesOwned, []example{
			{"go statement", map[string]string{"session/x.go": "package session\nfunc (s *Session) f() {\ngo s.f()\n}"}, []string{"session/x.go:3: session: (*Session).f starts"}},
			{"in a closure", map[string]string{"session/x.go": "package session\nfunc f() func() {\nreturn func() {\ngo f()\n}\n}"}, []string{"session/x.go:4: session: f starts"}},
			{"WaitGroup", map[string]string{"session/x.go": "package session\nfunc f() {\nwg.Go(f)\n}"}, []string{"session/x.go:3: session: f starts"}},
			{"AfterFunc", map[string]string{"session/x.go": "package session\nvar x = time.AfterFunc(1, f)"}, []string{"session/x.go:2: session: a package variable starts"}},
			{"known", map[string]string{"internal/explore/x.go": "package explore\nfunc (x *explorer) expand() {\nwg.Go(f)\n}"}, nil},
			{"in a test helper", map[string]string{"porttest/x.go": "package porttest\nfunc f() {\ngo f()\n}"}, nil},
			{"in a test", map[string]string{"session/x_test.go": "package session\nfunc f() {\ngo f()\n}"}, nil},
		})
	})
	t.Run("sleep", func(t *testing.T) {
		examples(t, noSleep, []example{
			{"test", map[string]string{"turn/x_test.go": "package turn\nfunc f() {\ntime.Sleep(1)\n}"}, []string{"turn/x_test.go:3: a test that sleeps"}},
			{"as a value", map[string]string{"turn/x_test.go": "package turn\nvar nap = time.Sleep"}, []string{"turn/x_test.go:2: a test that sleeps"}},
			{"test helper", map[string]string{"porttest/x.go": "package porttest\nvar nap = time.Sleep"}, []string{"porttest/x.go:2: a test that sleeps"}},
			{"bubble", map[string]string{"turn/x_test.go": "package turn\nfunc f() {\nsynctest.Test(t, func(t *testing.T) { time.Sleep(1) })\n}"}, nil},
			{"another Sleep", map[string]string{"turn/x_test.go": "package turn\nfunc f() {\nclock.Sleep(1)\n}"}, nil},
		})
	})
	t.Run("skip", func(t *testing.T) {
		examples(t, noSkip, []example{
			{"pure", map[string]string{"turn/x_test.go": "package turn\nfunc f() {\nt.Skipf(`no`)\n}"}, []string{"turn/x_test.go:3: a test of a pure package that skips"}},
			{"recordings", map[string]string{"audio/x_test.go": "package audio\nfunc f() {\nt.Skip()\n}"}, nil},
			{"not pure", map[string]string{"session/x_test.go": "package session\nfunc f() {\nt.SkipNow()\n}"}, nil},
		})
	})
}
