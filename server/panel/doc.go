// Package panel contains the files of the web panel: the page and its icon, which are
// kept in dist, and the output of the bundler for web/. The handler that serves them
// must send [ContentSecurityPolicy].
package panel

import (
	"embed"
	"io/fs"
)

// ContentSecurityPolicy is the value of the header Content-Security-Policy for the
// panel's files: scripts and styles are loaded from files of the same origin only, and
// nothing from other origins.
const ContentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
	"connect-src 'self'; media-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed dist
var dist embed.FS

// Files returns the files, with index.html at the root.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic("panel: " + err.Error()) // the name above is a valid path
	}
	return files
}
