package archtest

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/build/constraint"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

// modulePath is the module's path in go.mod.
const modulePath = "github.com/hocketvoice/hocket"

// file is one Go file of the module.
type file struct {
	path        string // relative to the module's root, with slashes
	src         []byte
	ast         *ast.File
	test        bool // its name ends in _test.go
	generated   bool
	constrained bool // has a //go:build line
}

// pkg is a package: a folder with Go files, including tests.
type pkg struct {
	dir   string // relative to the module's root; "." is the root
	files []*file
}

// name returns the package's name, without the suffix of external tests.
func (p *pkg) name() string { return strings.TrimSuffix(p.files[0].ast.Name.Name, "_test") }

// shipped returns the files that are not tests.
func (p *pkg) shipped() []*file {
	return slices.DeleteFunc(slices.Clone(p.files), func(f *file) bool { return f.test })
}

// module is a parsed module.
type module struct {
	fs       fs.FS
	fset     *token.FileSet
	packages []*pkg            // sorted by dir
	texts    map[string]string // Markdown files and the Makefile, by path
	ready    map[string]*checked
}

// ignored reports whether a folder is ignored by git or the go command.
func ignored(name string) bool {
	switch name {
	case ".":
		return false
	case "testdata", "third_party", "node_modules", "bin", "reports", "vendor":
		return true
	}
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

// load parses every Go file of a file system.
func load(fsys fs.FS) (*module, error) {
	m := &module{
		fs: fsys, fset: elsewhere().fset,
		texts: make(map[string]string), ready: make(map[string]*checked),
	}
	byDir := make(map[string]*pkg)
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && ignored(d.Name()):
			return fs.SkipDir
		case d.IsDir():
			return nil
		case path.Ext(p) == ".md" || p == "Makefile":
			src, err := fs.ReadFile(fsys, p)
			m.texts[p] = string(src)
			return err
		case path.Ext(p) != ".go":
			return nil
		}
		f, err := m.parse(p)
		if err != nil {
			return err
		}
		dir := path.Dir(p)
		if byDir[dir] == nil {
			byDir[dir] = &pkg{dir: dir}
		}
		byDir[dir].files = append(byDir[dir].files, f)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		m.packages = append(m.packages, byDir[dir])
	}
	return m, nil
}

func (m *module) parse(p string) (*file, error) {
	src, err := fs.ReadFile(m.fs, p)
	if err != nil {
		return nil, err
	}
	tree, err := parser.ParseFile(m.fset, p, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	f := &file{path: p, src: src, ast: tree, test: strings.HasSuffix(p, "_test.go"), generated: ast.IsGenerated(tree)}
	for _, group := range tree.Comments {
		if group.Pos() > tree.Package {
			break
		}
		for _, c := range group.List {
			f.constrained = f.constrained || constraint.IsGoBuild(c.Text)
		}
	}
	return f, nil
}

// at returns the position of a node as path:line.
func (m *module) at(n ast.Node) string {
	p := m.fset.Position(n.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

func (m *module) line(pos token.Pos) int { return m.fset.Position(pos).Line }

// variant is a combination of build settings.
type variant struct {
	name string
	cgo  bool
	tags []string
}

// variants are the combinations with which the program is built. Every file that is
// compiled on the machine of this test belongs to one of them.
var variants = []variant{
	{name: "all", cgo: true, tags: []string{"pocketsphinx", "flite", "silero_embed"}},
	{name: "pure"},
}

// checked is a type-checked package.
type checked struct {
	*types.Package
	info  *types.Info
	files []*file
	err   error
}

// check type-checks a package without its tests. Declarations of packages outside
// the module and the standard library are unknown, and not reported, unless a pure
// package imports them.
func (m *module) check(p *pkg, v variant) *checked {
	key := v.name + " " + p.dir
	if c, ok := m.ready[key]; ok {
		return c
	}
	c := &checked{info: &types.Info{
		Types: make(map[ast.Expr]types.TypeAndValue), Uses: make(map[*ast.Ident]types.Object),
		Defs: make(map[*ast.Ident]types.Object), Selections: make(map[*ast.SelectorExpr]*types.Selection),
	}}
	m.ready[key] = c
	var trees []*ast.File
	for _, f := range p.shipped() {
		if m.builds(f, v) {
			c.files = append(c.files, f)
			trees = append(trees, f.ast)
		}
	}
	conf := types.Config{
		Importer:    importerFunc(func(path string) (*types.Package, error) { return m.importPath(path, v) }),
		FakeImportC: true,
		Error: func(err error) {
			if c.err == nil {
				c.err = err
			}
		},
	}
	c.Package, _ = conf.Check(path.Join(modulePath, p.dir), m.fset, trees, c.info)
	return c
}

// builds reports whether a file belongs to a variant.
func (m *module) builds(f *file, v variant) bool {
	ctxt := build.Default
	ctxt.CgoEnabled, ctxt.BuildTags = v.cgo, v.tags
	ctxt.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f.src)), nil }
	ok, err := ctxt.MatchFile(path.Split(f.path))
	return err == nil && ok
}

type importerFunc func(string) (*types.Package, error)

func (f importerFunc) Import(path string) (*types.Package, error) { return f(path) }

var errElsewhere = errors.New("not looked at")

func (m *module) importPath(name string, v variant) (*types.Package, error) {
	if dir, ok := inModule(name); ok {
		i := slices.IndexFunc(m.packages, func(p *pkg) bool { return p.dir == dir })
		if i < 0 {
			return nil, fmt.Errorf("no package %s", name)
		}
		return m.check(m.packages[i], v).Package, nil
	}
	if !standard(name) && pureModules[moduleOf(name)] == "" {
		return nil, errElsewhere
	}
	return elsewhere().Import(name)
}

// inModule converts an import path to a folder of the module.
func inModule(name string) (dir string, ok bool) {
	if name == modulePath {
		return ".", true
	}
	return strings.CutPrefix(name, modulePath+"/")
}

// standard reports whether an import path belongs to the standard library.
func standard(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return !strings.Contains(first, ".")
}

// moduleOf returns the module of an import path on a code host.
func moduleOf(name string) string {
	parts := strings.SplitN(name, "/", 4)
	return strings.Join(parts[:min(3, len(parts))], "/")
}

// outside imports packages of the standard library and the module cache from
// source.
type outside struct {
	fset *token.FileSet
	std  types.Importer
	dirs map[string]string // folder by module
	done map[string]*types.Package
}

// elsewhere is the only importer of this process. It caches packages for all
// modules, and its file set contains all positions. Tests must use it one after the
// other.
var elsewhere = sync.OnceValue(func() *outside {
	fset := token.NewFileSet()
	// The importer uses this variable. Without cgo it does not need to run a tool.
	build.Default.CgoEnabled = false
	return &outside{
		fset: fset, std: importer.ForCompiler(fset, "source", nil),
		dirs: moduleFolders(), done: make(map[string]*types.Package),
	}
})

func (o *outside) Import(name string) (*types.Package, error) {
	if standard(name) {
		return o.std.Import(name)
	}
	if p := o.done[name]; p != nil {
		return p, nil
	}
	mod := moduleOf(name)
	bp, err := build.ImportDir(filepath.Join(o.dirs[mod], strings.TrimPrefix(name, mod)), 0)
	if err != nil {
		return nil, err
	}
	var trees []*ast.File
	for _, n := range bp.GoFiles {
		tree, err := parser.ParseFile(o.fset, filepath.Join(bp.Dir, n), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		trees = append(trees, tree)
	}
	conf := types.Config{Importer: o, IgnoreFuncBodies: true}
	p, err := conf.Check(name, o.fset, trees, nil)
	o.done[name] = p
	return p, err
}

var requirement = regexp.MustCompile(`(?m)^(?:require)?\s+(\S+\.\S+)\s+(v\S+)`)

// moduleFolders returns the folders of go.mod's modules in the module cache.
func moduleFolders() map[string]string {
	cache := os.Getenv("GOMODCACHE")
	if cache == "" {
		first, _, _ := strings.Cut(build.Default.GOPATH, string(filepath.ListSeparator))
		cache = filepath.Join(first, "pkg", "mod")
	}
	gomod, err := os.ReadFile(filepath.Join("..", "go.mod"))
	if err != nil {
		return nil
	}
	dirs := make(map[string]string)
	for _, match := range requirement.FindAllStringSubmatch(string(gomod), -1) {
		dirs[match[1]] = filepath.Join(cache, filepath.FromSlash(match[1])+"@"+match[2])
	}
	return dirs
}

// A rule checks a module and returns the violations as "path:line: why".
type rule func(*module) []string

// example is a small module for testing a rule.
type example struct {
	name  string
	files map[string]string
	want  []string // prefixes of the violations, in order; none if the rule is satisfied
}

// examples tests a rule.
func examples(t *testing.T, r rule, list []example) {
	t.Helper()
	for _, ex := range list {
		t.Run(ex.name, func(t *testing.T) {
			fsys := make(fstest.MapFS)
			for name, src := range ex.files {
				fsys[name] = &fstest.MapFile{Data: []byte(src)}
			}
			m, err := load(fsys)
			if err != nil {
				t.Fatal(err)
			}
			got := r(m)
			ok := len(got) == len(ex.want)
			for i := 0; ok && i < len(got); i++ {
				ok = strings.HasPrefix(got[i], ex.want[i])
			}
			if !ok {
				t.Errorf("found\n\t%s\nexpected\n\t%s", strings.Join(got, "\n\t"), strings.Join(ex.want, "\n\t"))
			}
		})
	}
}

// inBody returns a file with one function of package conv, whose body starts on the
// fifth line.
func inBody(body string) map[string]string {
	imports := ""
	for _, p := range []string{"fmt", "maps", "slices", "strings", "time"} {
		if strings.Contains(body, p+".") {
			imports += fmt.Sprintf("import %q; ", p)
		}
	}
	return map[string]string{"conv/x.go": "package conv\n\n" + imports + "\nfunc f(m map[string]int, ns []int) (n int, fl float64, keys []string, yes bool) {\n" + body + "\nreturn\n}\nfunc lower(s string, a, b int) string\nfunc note(s string, ns []int) string\n"}
}
