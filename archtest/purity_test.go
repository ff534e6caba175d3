package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"testing"
)

// impure are the functions and variables of allowed packages that depend on the
// machine or the clock.
var impure = map[string]map[string]string{
	"time": {
		"Now": "the clock", "Since": "the clock", "Until": "the clock",
		"After": "a timer", "AfterFunc": "a timer", "Tick": "a timer", "NewTimer": "a timer", "NewTicker": "a timer", "Sleep": "a timer",
		"Local": "the machine's time zone", "LoadLocation": "the machine's time zones",
	},
	"fmt": {
		"Print": "output", "Printf": "output", "Println": "output",
		"Scan": "input", "Scanf": "input", "Scanln": "input",
	},
}

// local are the functions of package time whose result has the machine's time zone,
// unless it is converted at once.
var local = []string{"Unix", "UnixMilli", "UnixMicro"}

// isPure checks that pure packages use no goroutines, channels, clocks, random
// numbers, input, output or logs.
func isPure(m *module) (found []string) {
	for _, p := range m.packages {
		if !matches(pure, p.dir) {
			continue
		}
		c := m.check(p, variants[0])
		for _, f := range p.shipped() {
			add := func(n ast.Node, format string, args ...any) {
				found = append(found, fmt.Sprintf("%s: %s", m.at(n), fmt.Sprintf(format, args...)))
			}
			if f.constrained {
				add(f.ast, "a build constraint: a pure package is the same everywhere")
			}
			for _, spec := range f.ast.Imports {
				name := importPath(spec)
				dir, own := inModule(name)
				switch {
				case own && !matches(pure, dir):
					add(spec, "%s is not pure", dir)
				case own, standard(name) && slices.Contains(pureImports, name), pureModules[moduleOf(name)] != "":
				default:
					add(spec, "%q is not among the imports of pure packages", name)
				}
			}
			impurities(c.info, f.ast, add)
		}
	}
	return found
}

// impurities reports statements and names that are not allowed in a pure package.
func impurities(info *types.Info, f *ast.File, add func(ast.Node, string, ...any)) {
	corrected := make(map[ast.Expr]bool) // calls whose result is converted to another time zone at once
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			add(n, "a goroutine")
		case *ast.ChanType:
			add(n, "a channel")
		case *ast.SendStmt, *ast.SelectStmt:
			add(n, "a channel")
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				add(n, "a channel")
			}
		case *ast.CallExpr:
			if b, ok := info.Uses[identOf(n.Fun)].(*types.Builtin); ok && (b.Name() == "print" || b.Name() == "println") {
				add(n, "%s: output", b.Name())
			}
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && (s.Sel.Name == "UTC" || s.Sel.Name == "In") {
				corrected[s.X] = true
			}
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && slices.Contains(local, s.Sel.Name) && packageOf(info, s) == "time" && !corrected[n] {
				add(n, "time.%s: the machine's time zone; say UTC() or In(...) at once", s.Sel.Name)
			}
		case *ast.SelectorExpr:
			if why := impure[packageOf(info, n)][n.Sel.Name]; why != "" {
				add(n, "%s.%s: %s", packageOf(info, n), n.Sel.Name, why)
			}
			if fn, ok := info.Uses[n.Sel].(*types.Func); ok && fn.FullName() == "(time.Time).Local" {
				add(n, "Local: the machine's time zone")
			}
		}
		return true
	})
}

// identOf returns an expression that is a name, or nil.
func identOf(e ast.Expr) *ast.Ident {
	id, _ := ast.Unparen(e).(*ast.Ident)
	return id
}

// packageOf returns the path of the package in package.Name, or an empty string.
func packageOf(info *types.Info, s *ast.SelectorExpr) string {
	if name, ok := info.Uses[identOf(s.X)].(*types.PkgName); ok {
		return name.Imported().Path()
	}
	return ""
}

func TestPurity(t *testing.T) {
	examples(t, isPure, []example{
		{"quiet", inBody(`keys = append(keys, fmt.Sprint(time.Second, time.UnixMilli(3).UTC()))`), nil},
		{"clock", inBody(`_ = time.Now()`), []string{"conv/x.go:5: time.Now: the clock"}},
		{"clock as a value", inBody(`now := time.Now; _ = now`), []string{"conv/x.go:5: time.Now"}},
		{"clock under another name", map[string]string{
			"conv/x.go": "package conv\nimport clock \"time\"\nvar x = clock.Now()",
		}, []string{"conv/x.go:3: time.Now"}},
		{"another thing with the clock's name", map[string]string{
			"conv/x.go": "package conv\ntype clock struct{ Now int }\nfunc f(time clock) int { return time.Now }",
		}, nil},
		{"timer", inBody(`<-time.After(time.Second)`), []string{"conv/x.go:5: a channel", "conv/x.go:5: time.After: a timer"}},
		{"time zone", inBody(`_ = time.Unix(0, 0)`), []string{"conv/x.go:5: time.Unix"}},
		{"time zone, method", inBody(`_ = time.Time{}.Local()`), []string{"conv/x.go:5: Local"}},
		{"goroutine", inBody(`go f(nil, nil)`), []string{"conv/x.go:5: a goroutine"}},
		{"channel", inBody(`c := make(chan int, 1); c <- 1`), []string{"conv/x.go:5: a channel", "conv/x.go:5: a channel"}},
		{"select", inBody(`select {}`), []string{"conv/x.go:5: a channel"}},
		{"output", inBody(`fmt.Println(n); println(n)`), []string{"conv/x.go:5: fmt.Println: output", "conv/x.go:5: println: output"}},
		{"imports", map[string]string{
			"audio/x.go": "package audio\nimport (\n_ \"math/rand/v2\"\n_ \"os\"\n_ \"net\"\n_ \"log/slog\"\n_ \"sync\"\n_ \"github.com/pion/rtp\"\n_ \"github.com/goccy/go-yaml\"\n)",
		}, []string{"audio/x.go:3:", "audio/x.go:4:", "audio/x.go:5:", "audio/x.go:6:", "audio/x.go:7:", "audio/x.go:8:"}},
		{"imports of the wire", map[string]string{
			"internal/wire/sip/x.go": "package sip\nimport _ \"crypto/rand\"",
		}, []string{"internal/wire/sip/x.go:2:"}},
		{"an impure package of the module", map[string]string{
			"conv/x.go":         "package conv\nimport _ \"github.com/hocketvoice/hocket/server/panel\"",
			"server/panel/x.go": "package panel",
		}, []string{"conv/x.go:2: server/panel is not pure"}},
		{"a build constraint", map[string]string{"turn/x.go": "//go:build linux\n\npackage turn"}, []string{"turn/x.go:3: a build constraint"}},
		{"elsewhere", map[string]string{"session/x.go": "package session\nimport \"time\"\nvar x = time.Now()"}, nil},
		{"in tests", map[string]string{"conv/x_test.go": "package conv\nimport \"time\"\nvar x = time.Now()"}, nil},
	})
}
