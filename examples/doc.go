// Package examples embeds the agents in this folder, so that the program contains
// them. It does not compile them.
package examples

import "embed"

// Files contains the agents, one folder each.
//
//go:embed */*.yaml
var Files embed.FS
