package archtest

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

// here is this module, parsed once.
var here = sync.OnceValues(func() (*module, error) { return load(os.DirFS("..")) })

// TestModule checks the module against every rule.
func TestModule(t *testing.T) {
	m, err := here()
	if err != nil {
		t.Fatal(err)
	}
	if len(m.packages) < 10 {
		t.Fatalf("only %d packages were found", len(m.packages))
	}
	for _, r := range []struct {
		name string
		rule rule
	}{
		{"layers", importsGoDown},
		{"purity", isPure},
		{"map order", mapsInOrder},
		{"init", noInit},
		{"package variables", noGlobals},
		{"package comments", packagesExplained},
		{"doc comments", exportsExplained},
		{"sizes", sizes},
		{"goroutines", goroutinesOwned},
		{"sleep", noSleep},
		{"skip", noSkip},
		{"adapters", adaptersAlike},
		{"tables", tablesUsed},
	} {
		t.Run(r.name, func(t *testing.T) {
			for _, f := range r.rule(m) {
				t.Error(f)
			}
		})
	}
}

// TestTypesOfPurePackages checks that types are known in all pure packages, as some
// rules require.
func TestTypesOfPurePackages(t *testing.T) {
	m, err := here()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range m.packages {
		if matches(pure, p.dir) {
			if c := m.check(p, variants[0]); c.err != nil {
				t.Errorf("%s: %v", p.dir, c.err)
			}
		}
	}
}

// tablesUsed reports exceptions that are no longer needed.
func tablesUsed(m *module) (found []string) {
	add := func(table, entry string) {
		found = append(found, "archtest/tables_test.go: "+table+": nothing needs "+entry+" any more")
	}
	functions := make(map[string]int) // number of lines by folder and name, as in the tables
	for _, p := range m.packages {
		for _, f := range p.shipped() {
			for _, fn := range functionsOf(f) {
				functions[p.dir+": "+funcName(fn)] = m.line(fn.End()) - m.line(fn.Pos()) + 1
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(longFunctions)) {
		if functions[name] <= longFunction {
			add("longFunctions", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(longFiles)) {
		if src, err := fs.ReadFile(m.fs, name); err != nil || strings.Count(string(src), "\n") <= longFile {
			add("longFiles", name)
		}
	}
	owners := make(map[string]bool)
	for _, s := range m.starts() {
		owners[s.owner] = true
	}
	for _, name := range slices.Sorted(maps.Keys(workers)) {
		if !owners[name] {
			add("workers", name)
		}
	}
	return found
}

func TestTables(t *testing.T) {
	m, err := load(fstest.MapFS{}) // an empty module needs no exceptions
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(tablesUsed(m)), len(longFiles)+len(longFunctions)+len(workers); got != want {
		t.Errorf("%d entries are not needed, expected all %d", got, want)
	}
	for _, l := range layers {
		for _, d := range l.dirs {
			if _, err := path.Match(d, ""); err != nil {
				t.Errorf("pattern %q: %v", d, err)
			}
		}
	}
}
