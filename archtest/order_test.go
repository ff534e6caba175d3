package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// mapsInOrder checks that results of a pure package do not depend on the order of a
// map. A loop over a map is accepted if the rule can see that the result does not
// depend on the order: the loop fills another map under the same key, counts or
// adds integers, sets a flag, or collects values that are sorted right after it; it
// may call functions of pure packages with values of the entry. Any other loop
// needs a comment `// order:` on its line or above, with the reason why the order
// does not matter. The iterators of package maps must be passed to slices.Sorted or
// a similar function, or need the comment too.
func mapsInOrder(m *module) (found []string) {
	for _, p := range m.packages {
		if !matches(pure, p.dir) {
			continue
		}
		c := m.check(p, variants[0])
		for _, f := range c.files {
			o := &ordering{info: c.info, reasons: m.reasons(f), line: m.line, add: func(n ast.Node, why string) {
				found = append(found, m.at(n)+": "+why)
			}}
			o.file(f.ast)
		}
	}
	return found
}

// reasons returns the lines covered by an `// order:` comment: its last line and
// the one below.
func (m *module) reasons(f *file) map[int]bool {
	covered := make(map[int]bool)
	for _, group := range f.ast.Comments {
		for _, c := range group.List {
			if reason, ok := strings.CutPrefix(c.Text, "// order:"); ok && strings.TrimSpace(reason) != "" {
				covered[m.line(group.End())] = true
				covered[m.line(group.End())+1] = true
			}
		}
	}
	return covered
}

// ordering checks the loops of one file.
type ordering struct {
	info    *types.Info
	reasons map[int]bool
	line    func(token.Pos) int
	add     func(ast.Node, string)
}

func (o *ordering) file(f *ast.File) {
	sorted := make(map[ast.Expr]bool) // arguments of slices.Sorted and similar functions
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BlockStmt:
			o.list(n.List)
		case *ast.CaseClause:
			o.list(n.Body)
		case *ast.CallExpr:
			s, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
			if !ok {
				return true
			}
			switch pkg := packageOf(o.info, s); {
			case pkg == "slices" && strings.HasPrefix(s.Sel.Name, "Sorted") && len(n.Args) > 0:
				sorted[n.Args[0]] = true
			case pkg == "maps" && slices.Contains([]string{"Keys", "Values", "All"}, s.Sel.Name):
				if !sorted[n] && !o.reasons[o.line(n.Pos())] {
					o.add(n, "maps."+s.Sel.Name+" has no order: sort it with slices.Sorted, or say why it does not matter (// order: ...)")
				}
			}
		}
		return true
	})
}

// list checks the loops in a list of statements.
func (o *ordering) list(stmts []ast.Stmt) {
	for i, s := range stmts {
		if l, ok := s.(*ast.LabeledStmt); ok {
			s = l.Stmt
		}
		loop, ok := s.(*ast.RangeStmt)
		if !ok {
			continue
		}
		switch t := o.info.TypeOf(loop.X); {
		case o.reasons[o.line(loop.Pos())]:
		case t == nil || t == types.Typ[types.Invalid]:
			o.add(loop, "the type that the loop ranges over is not known here: say why the order does not matter if it is a map (// order: ...)")
		case !mapLike(t):
		default:
			if why := o.loop(loop, stmts[i+1:]); why != "" {
				o.add(loop, "the order of the map may matter ("+why+"): sort the keys, or say why it does not (// order: ...)")
			}
		}
	}
}

// mapLike reports whether a type is a map, or a type parameter that may be one.
func mapLike(t types.Type) bool {
	u, ok := t.Underlying().(*types.Interface)
	if !ok {
		_, ok := t.Underlying().(*types.Map)
		return ok
	}
	for embedded := range u.EmbeddedTypes() {
		union, ok := embedded.(*types.Union)
		if !ok {
			if mapLike(embedded) {
				return true
			}
			continue
		}
		for term := range union.Terms() {
			if mapLike(term.Type()) {
				return true
			}
		}
	}
	return false
}

// judgement is the analysis of one loop.
type judgement struct {
	*ordering
	ranged   ast.Expr
	key      types.Object
	own      func(types.Object) bool // declared by the loop
	sorted   map[types.Object]bool   // sorted by the statements after the loop
	results  map[types.Object]bool   // changed by the body, but declared outside
	flags    map[types.Object]string
	returned *string
}

// loop returns why the order may matter, or an empty string.
func (o *ordering) loop(loop *ast.RangeStmt, after []ast.Stmt) string {
	j := &judgement{
		ordering: o, ranged: loop.X, sorted: make(map[types.Object]bool), results: make(map[types.Object]bool),
		flags: make(map[types.Object]string),
	}
	j.own = func(obj types.Object) bool { return loop.Pos() <= obj.Pos() && obj.Pos() <= loop.End() }
	if id, ok := loop.Key.(*ast.Ident); ok {
		j.key = o.info.Defs[id]
	}
	for _, s := range after {
		obj := o.sorts(s)
		if obj == nil {
			break
		}
		j.sorted[obj] = true
	}
	j.collect(loop)
	if why := j.block(loop.Body); why != "" {
		return why
	}
	if j.returned != nil && len(j.results) > 0 {
		return "it may return before it has seen all"
	}
	return ""
}

// sorts returns the variable that a statement sorts, or nil.
func (o *ordering) sorts(s ast.Stmt) types.Object {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return nil
	}
	call, ok := e.X.(*ast.CallExpr)
	if !ok || len(call.Args) == 0 {
		return nil
	}
	fn, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	switch pkg := packageOf(o.info, fn); {
	case pkg == "slices" && strings.HasPrefix(fn.Sel.Name, "Sort"), pkg == "sort":
		return o.object(call.Args[0])
	}
	return nil
}

// object returns the variable that an expression names, or nil.
func (o *ordering) object(e ast.Expr) types.Object {
	if id := identOf(e); id != nil {
		return o.info.ObjectOf(id)
	}
	return nil
}

// collect finds the outer variables that the body changes.
func (j *judgement) collect(loop *ast.RangeStmt) {
	outside := func(e ast.Expr) {
		obj := j.object(root(e))
		if obj != nil && !j.own(obj) {
			j.results[obj] = true
		}
	}
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				outside(e)
			}
		case *ast.IncDecStmt:
			outside(n.X)
		}
		return true
	})
}

// root returns the variable at the beginning of a.b[c].d.
func root(e ast.Expr) ast.Expr {
	for {
		switch x := e.(type) {
		case *ast.ParenExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		default:
			return e
		}
	}
}

func (j *judgement) block(b *ast.BlockStmt) string {
	for _, s := range b.List {
		if why := j.stmt(s); why != "" {
			return why
		}
	}
	return ""
}

func (j *judgement) stmt(s ast.Stmt) string {
	switch s := s.(type) {
	case *ast.EmptyStmt:
		return ""
	case *ast.BlockStmt:
		return j.block(s)
	case *ast.BranchStmt:
		if s.Tok == token.CONTINUE {
			return ""
		}
		return "it leaves the loop early"
	case *ast.DeclStmt:
		return j.calm(s)
	case *ast.IncDecStmt:
		if j.whole(s.X) && j.object(s.X) != nil {
			return ""
		}
		return "it counts in something that is not a whole number"
	case *ast.AssignStmt:
		return j.assign(s)
	case *ast.IfStmt:
		return j.condition(s)
	case *ast.RangeStmt:
		if why := j.calm(s.X); why != "" {
			return why
		}
		return j.block(s.Body)
	case *ast.ReturnStmt:
		return j.leave(s)
	case *ast.ExprStmt:
		if call, ok := s.X.(*ast.CallExpr); ok && len(call.Args) == 2 && j.builtin(call) == "delete" && j.isKey(call.Args[1]) {
			return ""
		}
		return "it calls something"
	}
	return fmt.Sprintf("it does something that this rule does not know: %T", s)
}

func (j *judgement) condition(s *ast.IfStmt) string {
	if s.Init != nil {
		if why := j.stmt(s.Init); why != "" {
			return why
		}
	}
	if why := j.calm(s.Cond); why != "" {
		return why
	}
	if why := j.block(s.Body); why != "" || s.Else == nil {
		return why
	}
	return j.stmt(s.Else)
}

// leave accepts return statements that all return the same constants.
func (j *judgement) leave(s *ast.ReturnStmt) string {
	var text strings.Builder
	for _, e := range s.Results {
		tv := j.info.Types[e]
		if tv.Value == nil && !tv.IsNil() {
			return "it returns what it has found first"
		}
		fmt.Fprintf(&text, "%v,", tv.Value)
	}
	if t := text.String(); j.returned == nil {
		j.returned = &t
	} else if *j.returned != t {
		return "it returns different values"
	}
	return ""
}

func (j *judgement) assign(s *ast.AssignStmt) string {
	if s.Tok == token.DEFINE {
		for _, e := range s.Rhs {
			if why := j.calm(e); why != "" {
				return why
			}
		}
		return ""
	}
	if len(s.Lhs) != 1 || len(s.Rhs) != 1 {
		return "it assigns several things at once"
	}
	left, right := s.Lhs[0], s.Rhs[0]
	obj := j.object(left)
	if obj != nil && !j.results[obj] && s.Tok != token.DEFINE {
		return j.calm(right) // a variable of the body
	}
	switch s.Tok {
	case token.ADD_ASSIGN, token.SUB_ASSIGN, token.MUL_ASSIGN, token.AND_ASSIGN, token.OR_ASSIGN, token.XOR_ASSIGN:
		if obj == nil || !j.whole(left) {
			return "it adds up something that is not a whole number"
		}
		return j.calm(right)
	case token.ASSIGN:
	default:
		return "the result of " + s.Tok.String() + " depends on the order"
	}
	if index, ok := left.(*ast.IndexExpr); ok {
		if t := j.info.TypeOf(index.X); t == nil || !mapLike(t) || !j.isKey(index.Index) {
			return "it assigns under another key than the map's"
		}
		return j.calm(right)
	}
	if obj == nil {
		return "it assigns to a part of something"
	}
	if call, ok := right.(*ast.CallExpr); ok && len(call.Args) > 0 && j.object(call.Args[0]) == obj {
		return j.accumulate(obj, call)
	}
	value := j.info.Types[right].Value
	if value == nil {
		return "the last one wins"
	}
	if before, ok := j.flags[obj]; ok && before != value.String() {
		return "the last one wins"
	}
	j.flags[obj] = value.String()
	return ""
}

// accumulate accepts x = append(x, ...) if x is sorted after the loop, and x =
// max(x, ...) and min.
func (j *judgement) accumulate(obj types.Object, call *ast.CallExpr) string {
	switch name := j.builtin(call); {
	case name == "append" && !j.sorted[obj]:
		return "it collects what is not sorted right after the loop"
	case name != "append" && name != "max" && name != "min":
		return "it calls something"
	}
	for _, e := range call.Args[1:] {
		if why := j.calm(e); why != "" {
			return why
		}
	}
	return ""
}

// calmPackages are packages whose functions have no side effects.
var calmPackages = []string{"cmp", "math", "math/bits", "strconv", "strings", "unicode", "unicode/utf8"}

// calmFunctions are such functions of other packages.
var calmFunctions = []string{
	"maps.Clone", "maps.Equal", "slices.Clone", "slices.Compare", "slices.Contains", "slices.Equal", "slices.Index", "slices.Max", "slices.Min",
}

// calm returns why the value of an expression may depend on the order: it uses a
// result of the loop, or calls a function that may have side effects.
func (j *judgement) calm(n ast.Node) (why string) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if obj := j.info.Uses[n]; obj != nil && j.results[obj] {
				why = "it looks at what it has built so far"
			}
		case *ast.FuncLit:
			why = "it has a function"
		case *ast.CallExpr:
			if j.info.Types[n.Fun].IsType() || slices.Contains([]string{"len", "cap", "max", "min", "append", "make"}, j.builtin(n)) {
				return true
			}
			if s, ok := n.Fun.(*ast.SelectorExpr); ok {
				pkg := packageOf(j.info, s)
				if slices.Contains(calmPackages, pkg) || slices.Contains(calmFunctions, pkg+"."+s.Sel.Name) {
					return true
				}
			}
			if j.ownFunction(n.Fun) && !slices.ContainsFunc(n.Args, func(e ast.Expr) bool { return !j.ofEntry(e) }) {
				return true
			}
			why = "it calls something"
		}
		return why == ""
	})
	return why
}

// ownFunction reports whether an expression names a function of a pure package,
// which changes only its arguments.
func (j *judgement) ownFunction(e ast.Expr) bool {
	id := identOf(e)
	if s, ok := e.(*ast.SelectorExpr); ok {
		id = s.Sel
	}
	fn, ok := j.info.Uses[id].(*types.Func)
	if !ok || fn.Signature().Recv() != nil || fn.Pkg() == nil {
		return false
	}
	dir, ok := inModule(fn.Pkg().Path())
	return ok && matches(pure, dir)
}

// ofEntry reports whether the value of an expression belongs to one entry of the
// map or is immutable: it uses only the loop's variables, the map at the key,
// constants, numbers and strings.
func (j *judgement) ofEntry(e ast.Expr) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.IndexExpr:
			if j.object(n.X) != nil && j.object(n.X) == j.object(j.ranged) && j.isKey(n.Index) {
				return false
			}
		case *ast.SelectorExpr:
			// Ignore the names of fields and of other packages' constants.
			if packageOf(j.info, n) == "" {
				ok = ok && j.ofEntry(n.X)
			}
			return false
		case *ast.Ident:
			v, isVar := j.info.Uses[n].(*types.Var)
			if isVar && !j.own(v) {
				_, plain := v.Type().Underlying().(*types.Basic)
				ok = ok && plain
			}
		}
		return ok
	})
	return ok
}

func (j *judgement) builtin(call *ast.CallExpr) string {
	if b, ok := j.info.Uses[identOf(call.Fun)].(*types.Builtin); ok {
		return b.Name()
	}
	return ""
}

func (j *judgement) isKey(e ast.Expr) bool { return j.key != nil && j.object(e) == j.key }

// whole reports whether an expression is an integer.
func (j *judgement) whole(e ast.Expr) bool {
	t := j.info.TypeOf(e)
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

func TestMapOrder(t *testing.T) {
	const line = "conv/x.go:5: the order"
	list := []example{
		{"iterator in a loop", inBody("for k := range maps.Keys(m) {\nkeys = append(keys, k)\n}"), []string{"conv/x.go:5: maps.Keys"}},
		{"iterator, sorted", inBody("keys = slices.Sorted(maps.Keys(m))"), nil},
		{"iterator, with a reason", inBody("// order: sorted by the caller\nkeys = slices.Collect(maps.Keys(m))"), nil},
		{"iterator, kept", inBody("it := maps.Values(m); _ = it"), []string{"conv/x.go:5: maps.Values"}},
		{"a slice", inBody("for _, v := range ns {\nkeys = append(keys, fmt.Sprint(v))\n}"), nil},
		{"elsewhere", map[string]string{"session/x.go": "package session\nfunc f(m map[int]int, g func(int)) {\nfor k := range m {\ng(k)\n}\n}"}, nil},
		{"a type parameter", map[string]string{
			"conv/x.go": "package conv\nfunc f[M ~map[int]int](m M, g func(int)) {\nfor k := range m {\ng(k)\n}\n}",
		}, []string{"conv/x.go:3: the order"}},
		{"a named map in a case", map[string]string{
			"conv/x.go": "package conv\ntype set map[int]bool\nfunc f(m set, g func(int)) {\nswitch {\ncase true:\nfor k := range m {\ng(k)\n}\n}\n}",
		}, []string{"conv/x.go:6: the order"}},
		{"an unknown type", map[string]string{
			"conv/x.go": "package conv\nimport \"example.com/x\"\nfunc f() {\nfor range x.All {\n}\n}",
		}, []string{"conv/x.go:4: the type"}},
	}
	for _, l := range []struct{ name, body string }{
		{"keys sorted right after", "for k := range m {\nkeys = append(keys, k)\n}\nslices.Sort(keys)"},
		{"a copy", "c := map[string]int{}\nfor k, v := range m {\nif v > 1 {\nc[k] = v\n}\n}"},
		{"a sum", "for _, v := range m {\nn += v\n}"},
		{"a count", "for _, v := range m {\nif v > 1 {\nn++\n}\n}"},
		{"a flag", "for _, v := range m {\nif v > 1 {\nyes = true\n}\n}"},
		{"any", "for _, v := range m {\nif v > 1 {\nreturn 0, 0, nil, true\n}\n}"},
		{"the largest", "for _, v := range m {\nn = max(n, v)\n}"},
		{"each through a function", "c := map[string]int{}\nfor k := range m {\nc[k] = len(lower(k, n, m[k]))\n}"},
		{"clearing", "for k, v := range m {\nif v > 1 {\ndelete(m, k)\n}\n}"},
		{"a reason above", "// order: each is handled alone\nfor k := range m {\nprint(k)\n}"},
		{"a reason beside", "for k := range m { // order: each is handled alone\nprint(k)\n}"},
		{"a reason of several lines", "// order: each is handled alone, and\n// what comes of it is sorted later\nfor k := range m {\nprint(k)\n}"},
	} {
		list = append(list, example{l.name, inBody(l.body), nil})
	}
	for _, l := range []struct{ name, body string }{
		{"keys never sorted", "for k := range m {\nkeys = append(keys, k)\n}"},
		{"keys sorted after they were used", "for k := range m {\nkeys = append(keys, k)\n}\nn = len(keys)\nslices.Sort(keys)"},
		{"other keys sorted", "for k := range m {\nkeys = append(keys, k)\n}\nslices.Sort(ns)"},
		{"the first", "for k := range m {\nreturn len(k), 0, nil, true\n}"},
		{"one of them", "for _, v := range m {\nn = v\nbreak\n}"},
		{"the last", "for _, v := range m {\nn = v\n}"},
		{"under another key", "c := map[int]string{}\nfor k, v := range m {\nc[v] = k\n}"},
		{"fractions", "for _, v := range m {\nfl += float64(v)\n}"},
		{"words", "s := \"\"\nfor k := range m {\ns += k\n}\nkeys = append(keys, s)"},
		{"a number for each", "c := map[string]int{}\nfor k := range m {\nc[k] = n\nn++\n}"},
		{"a bound", "for range m {\nif n < 3 {\nn++\n}\n}\nfor k := range m {\nif n < 3 {\nn += len(k)\n}\n}"},
		{"a function that gets more", "c := map[string]int{}\nfor k := range m {\nc[k] = len(note(k, ns))\n}"},
		{"a function value", "c, g := map[string]int{}, lower\nfor k, v := range m {\nc[k] = len(g(k, v, n))\n}"},
		{"a call", "for k := range m {\nstrings.NewReader(k).Len()\n}"},
		{"two answers", "for _, v := range m {\nif v > 1 {\nreturn 0, 0, nil, true\n}\nif v > 0 {\nreturn 0, 0, nil, false\n}\n}"},
		{"two flags", "for _, v := range m {\nif v > 1 {\nn = 1\n} else {\nn = 2\n}\n}"},
		{"a reason without words", "// order:\nfor k := range m {\nkeys = append(keys, k)\n}"},
	} {
		want := []string{line}
		switch l.name {
		case "keys sorted after they were used", "other keys sorted":
		case "under another key", "a number for each", "words", "a function that gets more", "a function value":
			want = []string{"conv/x.go:6: the order"}
		case "a bound":
			want = []string{line, "conv/x.go:10: the order"}
		case "a reason without words":
			want = []string{"conv/x.go:6: the order"}
		}
		list = append(list, example{l.name, inBody(l.body), want})
	}
	examples(t, mapsInOrder, list)
}
