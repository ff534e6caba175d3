// Package panel holds the web panel as files: the page and its icon, which have their
// place in dist, and beside them what the bundler made of web/. It decides nothing and
// never changes a file; whoever serves them sends [ContentSecurityPolicy] with them.
package panel

import (
	"embed"
	"io/fs"
)

// ContentSecurityPolicy is the header Content-Security-Policy that must go with
// the panel's files: scripts and styles come from files alone, and nothing from
// elsewhere. The panel is tested in a browser that holds it to this.
const ContentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; " +
	"connect-src 'self'; media-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed dist
var dist embed.FS

// Files is the bundle, with index.html at its root.
func Files() fs.FS {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		panic("panel: " + err.Error()) // the name above is a valid path
	}
	return files
}
