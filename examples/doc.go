// Package examples holds the agents of this folder, so that the program has them
// wherever it runs. It never changes them and does not compile them: who serves
// one does.
package examples

import "embed"

// Files are the agents, a folder each.
//
//go:embed */*.yaml
var Files embed.FS
