package panel

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const web = "../../web"

// TestBundleIsThatOfTheSources: what is committed under dist is what the sources
// and the lockfile make, byte for byte, beside the pages and their icon.
func TestBundleIsThatOfTheSources(t *testing.T) {
	install(t)
	out := t.TempDir()
	run(t, []string{"OUTDIR=" + out}, "node", "build.mjs")
	built := os.DirFS(out)
	made := names(t, built)
	want := append([]string{"icon.svg", "index.html", "microphone.html"}, made...)
	slices.Sort(want)
	if got := names(t, Files()); !slices.Equal(want, got) {
		t.Fatalf("committed are %v, the sources make %v: 'npm run build' in web/ writes them", got, made)
	}
	for _, name := range made {
		a, err := fs.ReadFile(Files(), name)
		if err != nil {
			t.Fatal(err)
		}
		b, err := fs.ReadFile(built, name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s is not what the sources make: 'npm run build' in web/ writes it", name)
		}
	}
}

// TestPanelAsksNobodyElse: the page and its style name no other host, and hold no
// script or style of their own, which the policy would refuse.
func TestPanelAsksNobodyElse(t *testing.T) {
	for _, name := range []string{"index.html", "panel.css", "microphone.html", "microphone.css"} {
		b, err := fs.ReadFile(Files(), name)
		if err != nil {
			t.Fatal(err)
		}
		for _, never := range []string{"http:", "https:", "//", "<style", "<script>", "style=", "@import"} {
			if bytes.Contains(b, []byte(never)) {
				t.Errorf("%s contains %q", name, never)
			}
		}
	}
}

// TestLockfileNamesNoRegistry: npm finds packages by name and checks them by
// their hash; where from is the business of who installs.
func TestLockfileNamesNoRegistry(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(web, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if strings.Contains(line, `"resolved"`) {
			t.Errorf("package-lock.json: %s", strings.TrimSpace(line))
		}
	}
}

// TestWeb: the types hold, and the tests of the store and of the readers pass.
func TestWeb(t *testing.T) {
	install(t)
	run(t, nil, "npm", "run", "--silent", "check")
	run(t, nil, "npm", "run", "--silent", "test")
}

// install gives web/ the packages of the lockfile, or skips the test.
func install(t *testing.T) {
	t.Helper()
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("there is no %s on this machine; the panel is built and tested with Node 20 or later", name)
		}
	}
	lock, err := os.ReadFile(filepath.Join(web, "package-lock.json"))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(lock)
	stamp, hash := filepath.Join(web, "node_modules", ".installed"), hex.EncodeToString(sum[:])
	if b, err := os.ReadFile(stamp); err == nil && string(b) == hash {
		return
	}
	// Nothing of a package runs when it is installed.
	c := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	c.Dir = web
	if out, err := c.CombinedOutput(); err != nil {
		t.Skipf("npm cannot install the packages of web/package-lock.json here: %v\n%s", err, out)
	}
	if err := os.WriteFile(stamp, []byte(hash), 0o644); err != nil {
		t.Fatal(err)
	}
}

// run runs a command in web/.
func run(t *testing.T, env []string, name string, args ...string) {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir, c.Env = web, append(os.Environ(), env...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	if testing.Verbose() {
		t.Logf("%s", out)
	}
}

// names are the files of a folder.
func names(t *testing.T, files fs.FS) (list []string) {
	t.Helper()
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
