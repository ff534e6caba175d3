package archtest

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layerOf returns the layer of a package. ok is false if it has none.
func layerOf(dir string) (layer int, ok bool) {
	for _, l := range layers {
		if matches(l.dirs, dir) {
			return l.layer, true
		}
	}
	return 0, false
}

// forTests reports whether a package is for tests only.
func forTests(dir string) bool {
	layer, ok := layerOf(dir)
	return ok && layer == testOnly
}

// matches reports whether one of the patterns matches a folder.
func matches(patterns []string, dir string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, dir)
		return ok && err == nil
	})
}

func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		panic(err) // the pattern is valid
	}
	return p
}

// importsGoDown checks that every package has a layer and imports only lower ones.
// The same holds for tests, which may also import packages for tests. An external
// test (package x_test) may import its package and everything that a user of the
// package may import.
func importsGoDown(m *module) (found []string) {
	for _, p := range m.packages {
		layer, ok := layerOf(p.dir)
		if !ok {
			found = append(found, fmt.Sprintf("%s: package %s has no layer: give it one in archtest/tables_test.go", m.at(p.files[0].ast), p.dir))
			continue
		}
		for _, f := range p.files {
			for _, spec := range f.ast.Imports {
				if only := wrapped[moduleOf(importPath(spec))]; only != "" && only != p.dir && !f.test {
					found = append(found, fmt.Sprintf("%s: %s imports %s: only %s may", m.at(spec), p.dir, importPath(spec), only))
				}
				dir, ok := inModule(importPath(spec))
				if external := f.test && strings.HasSuffix(f.ast.Name.Name, "_test"); !ok || dir == p.dir || external {
					continue
				}
				if why := mayImport(p.dir, layer, dir, f.test); why != "" {
					found = append(found, fmt.Sprintf("%s: %s imports %s: %s", m.at(spec), p.dir, dir, why))
				}
			}
		}
	}
	return found
}

// mayImport returns why a package must not import another, or an empty string.
func mayImport(from string, layer int, to string, test bool) string {
	target, ok := layerOf(to)
	only := onlyImportedBy[to]
	switch {
	case !ok:
		return "it has no layer"
	case target == testOnly && layer != testOnly && !test:
		return "it is there for tests alone"
	case layer == testOnly || target == testOnly:
		return ""
	case target == layer && roomBefore(from, to):
	case target >= layer:
		return fmt.Sprintf("it is in layer %d, expected one below %d", target, layer)
	case only != nil && !slices.Contains(only, from):
		return fmt.Sprintf("only %v may", only)
	}
	return ""
}

// roomBefore reports whether two packages are in the same list of rooms, the second
// before the first.
func roomBefore(from, to string) bool {
	return slices.ContainsFunc(rooms, func(list []string) bool {
		i, j := slices.Index(list, from), slices.Index(list, to)
		return j >= 0 && j < i
	})
}

func TestLayers(t *testing.T) {
	examples(t, importsGoDown, []example{
		{"down", map[string]string{
			"conv/x.go": `package conv; import _ "github.com/hocketvoice/hocket/turn"`,
			"turn/x.go": `package turn`,
		}, nil},
		{"up", map[string]string{
			"turn/x.go": "package turn\nimport _ \"github.com/hocketvoice/hocket/conv\"",
			"conv/x.go": `package conv`,
		}, []string{"turn/x.go:2: turn imports conv: it is in layer 1, expected one below 0"}},
		{"beside", map[string]string{
			"conv/x.go": "package conv\nimport _ \"github.com/hocketvoice/hocket/port\"",
			"port/x.go": `package port`,
		}, []string{"conv/x.go:2: conv imports port"}},
		{"a module that is wrapped", map[string]string{
			"internal/config/x.go":      "package config\nimport _ \"github.com/goccy/go-yaml/ast\"",
			"internal/config/x_test.go": "package config\nimport _ \"github.com/goccy/go-yaml\"",
			"internal/yamlfile/x.go":    `package yamlfile; import _ "github.com/goccy/go-yaml"`,
		}, []string{"internal/config/x.go:2: internal/config imports github.com/goccy/go-yaml/ast: only internal/yamlfile may"}},
		{"beside, in a test", map[string]string{
			"leg/sip/x_test.go": "package sip\nimport _ \"github.com/hocketvoice/hocket/leg/file\"",
			"leg/file/x.go":     `package file`,
		}, []string{"leg/sip/x_test.go:2: leg/sip imports leg/file"}},
		{"the room before", map[string]string{
			"dialog/x.go":       `package dialog; import _ "github.com/hocketvoice/hocket/dialog/value"`,
			"dialog/value/x.go": `package value`,
		}, nil},
		{"the room behind", map[string]string{
			"dialog/x.go":       `package dialog`,
			"dialog/value/x.go": "package value\nimport _ \"github.com/hocketvoice/hocket/dialog\"",
		}, []string{"dialog/value/x.go:2: dialog/value imports dialog: it is in layer 0, expected one below 0"}},
		{"a room of others", map[string]string{
			"turn/x.go":         "package turn\nimport _ \"github.com/hocketvoice/hocket/dialog/value\"",
			"dialog/value/x.go": `package value`,
		}, []string{"turn/x.go:2: turn imports dialog/value: it is in layer 0, expected one below 0"}},
		{"an external test", map[string]string{
			"session/x_test.go": `package session_test; import _ "github.com/hocketvoice/hocket/leg/file"`,
			"leg/file/x.go":     `package file`,
		}, nil},
		{"behind a build tag", map[string]string{
			"turn/x.go": "//go:build never\n\npackage turn\nimport _ \"github.com/hocketvoice/hocket/conv\"",
			"conv/x.go": `package conv`,
		}, []string{"turn/x.go:4: turn imports conv"}},
		{"no place", map[string]string{"util/x.go": `package util`}, []string{"util/x.go:1: package util has no layer"}},
		{"no place, deeper", map[string]string{"internal/wire/sip/parse/x.go": `package parse`}, []string{"internal/wire/sip/parse/x.go:1: package"}},
		{"a fake in a program", map[string]string{
			"session/x.go":  "package session\nimport _ \"github.com/hocketvoice/hocket/porttest\"",
			"porttest/x.go": `package porttest`,
		}, []string{"session/x.go:2: session imports porttest: it is there for tests alone"}},
		{"a fake in a test", map[string]string{
			"session/x_test.go": `package session; import _ "github.com/hocketvoice/hocket/porttest"`,
			"porttest/x.go":     `package porttest`,
		}, nil},
		{"the config below the wiring", map[string]string{
			"session/x.go":         "package session\nimport _ \"github.com/hocketvoice/hocket/internal/config\"",
			"internal/config/x.go": `package config`,
		}, []string{"session/x.go:2: session imports internal/config: only [internal/app internal/cli internal/model internal/settings] may"}},
		{"the config in the wiring", map[string]string{
			"internal/app/x.go":    `package app; import _ "github.com/hocketvoice/hocket/internal/config"`,
			"internal/config/x.go": `package config`,
		}, nil},
	})
}
