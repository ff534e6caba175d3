//go:build peers

package examples_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// outside is the version under which the module is published for the outside
// programs.
var outside = module.Version{Path: "github.com/hocketvoice/hocket", Version: "v0.0.1"}

// TestPeerOutside checks that two programs in modules of their own can use hocket
// from a module proxy, as they would use a published version: one holds a spoken
// call, the other serves browsers.
func TestPeerOutside(t *testing.T) {
	tags, heard := engines(t), weights(t)
	env := proxied(t)
	agent, err := filepath.Abs("clinic")
	if err != nil {
		t.Fatal(err)
	}
	call := program(t, "call", env)
	lean(t, call, env...)
	if out := run(t, call, env, build(t, call, tags, env...), agent, heard); out != clinicCall {
		t.Errorf("it printed\n%sexpected\n%s", out, clinicCall)
	}
	serves(t, build(t, program(t, "browsers", env), tags, env...), agent)
}

// program copies a program of this folder into a module of its own that requires hocket.
func program(t *testing.T, name string, env []string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	source, err := os.ReadFile(filepath.Join(name, "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), source, 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, dir, env, "go", "mod", "init", "example.com/"+name)
	run(t, dir, env, "go", "get", outside.String())
	return dir
}

// proxied publishes the module in this tree to a proxy folder, and returns an
// environment that uses only this proxy and the modules downloaded for this
// module's build, without a network.
func proxied(t *testing.T) (env []string) {
	t.Helper()
	proxy, cache := t.TempDir(), t.TempDir()
	publish(t, filepath.Join(proxy, "github.com", "hocketvoice", "hocket", "@v"))
	known := strings.TrimSpace(run(t, ".", nil, "go", "env", "GOMODCACHE"))
	return []string{
		"GOMODCACHE=" + cache, "GOFLAGS=-mod=mod -modcacherw", "GOSUMDB=off", "GOTOOLCHAIN=local", "GOWORK=off", "GONOPROXY=none", "GOPRIVATE=",
		"GOPROXY=file://" + filepath.ToSlash(proxy) + ",file://" + filepath.ToSlash(filepath.Join(known, "cache", "download")),
	}
}

// source is a file of the module.
type source struct{ root, path string }

func (f source) Path() string                 { return f.path }
func (f source) Lstat() (os.FileInfo, error)  { return os.Lstat(filepath.Join(f.root, f.path)) }
func (f source) Open() (io.ReadCloser, error) { return os.Open(filepath.Join(f.root, f.path)) }

// publish writes the files of one version for a proxy.
func publish(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	var files []zip.File
	for name := range strings.SplitSeq(strings.TrimRight(run(t, root, nil, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"), "\x00"), "\x00") {
		if info, err := os.Lstat(filepath.Join(root, name)); err == nil && info.Mode().IsRegular() {
			files = append(files, source{root, name})
		}
	}
	w, err := os.Create(filepath.Join(dir, outside.Version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	if err := zip.Create(w, outside, files); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		outside.Version + ".mod":  string(mod),
		outside.Version + ".info": fmt.Sprintf(`{"Version":%q}`, outside.Version),
		"list":                    outside.Version + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
