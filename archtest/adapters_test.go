package archtest

import (
	"io/fs"
	"path"
	"testing"
)

// adapterFiles are the files that every adapter has, so that all are organized
// alike.
var adapterFiles = []string{"doc.go", "options.go", "README.md"}

// adaptersAlike checks that the folders of providers, tools and legs have these
// files.
func adaptersAlike(m *module) (found []string) {
	for _, p := range m.packages {
		if !matches([]string{"provider/*", "tool/*", "leg/*"}, p.dir) {
			continue
		}
		for _, name := range adapterFiles {
			if _, err := fs.Stat(m.fs, path.Join(p.dir, name)); err != nil {
				found = append(found, p.dir+": has no "+name+", which every adapter has")
			}
		}
	}
	return found
}

func TestAdapters(t *testing.T) {
	examples(t, adaptersAlike, []example{
		{"all", map[string]string{"leg/sip/doc.go": "package sip", "leg/sip/options.go": "package sip", "leg/sip/README.md": ""}, nil},
		{"one", map[string]string{"provider/x/options.go": "package x"}, []string{"provider/x: has no doc.go", "provider/x: has no README.md"}},
		{"elsewhere", map[string]string{"turn/x.go": "package turn"}, nil},
	})
}
