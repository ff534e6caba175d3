//go:build peers

package panel

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestPeerChromium: the panel in a browser, against a stand-in for the server
// and against the program itself.
func TestPeerChromium(t *testing.T) {
	if chromium() == "" {
		t.Skip("there is no Chromium on this machine: 'make deps' installs it where apt-get can")
	}
	install(t)
	run(t, []string{"HOCKET=" + program(t)}, "npm", "run", "--silent", "e2e")
}

// program builds hocket as this machine can.
func program(t *testing.T) string {
	t.Helper()
	tags, err := exec.Command("sh", "../../scripts/tags").Output()
	if err != nil {
		t.Fatalf("scripts/tags: %v", err)
	}
	path := filepath.Join(t.TempDir(), "hocket")
	out, err := exec.Command("go", "build", "-buildvcs=false", "-tags", strings.TrimSpace(string(tags)), "-o", path, "../../cmd/hocket").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// chromium is the browser that web/e2e/browser.ts finds.
func chromium() string {
	if runtime.GOOS != "linux" && os.Getenv("CHROMIUM") == "" {
		return ""
	}
	for _, path := range []string{os.Getenv("CHROMIUM"), "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"} {
		if path == "" {
			continue
		}
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}
