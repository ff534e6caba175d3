// Package panel holds the web panel: what the bundler made of web/, as files. It
// decides nothing and never changes a file; whoever serves them owns the headers.
package panel

import (
	"embed"
	"io/fs"
)

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
