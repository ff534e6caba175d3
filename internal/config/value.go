package config

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// This file: from a node of the document to a field of the struct.

// value reads what a key is set to.
func (d *decoder) value(n ast.Node, v reflect.Value, f field, path string) {
	switch node := n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		d.add(d.position(n.GetToken()), path, "", "is %s: expected the value itself", describe(n))
		return
	case *ast.NullNode:
		if !f.section() { // A section may be empty: all its keys commented out.
			d.add(d.position(node.GetToken()), path, "", "has no value: %s, or no key at all", f.expected())
		}
		return
	}
	switch {
	case f.section():
		d.section(n, v, f, path)
	case f.typ.Kind() == reflect.Slice:
		d.list(n, v, f, path)
	default:
		d.scalar(n, v, f, path)
	}
}

// section reads a group of keys. One that begins with a policy may be its name
// alone, and dead_air may be off.
func (d *decoder) section(n ast.Node, v reflect.Value, f field, path string) {
	in, ok := n.(*ast.MappingNode)
	if ok {
		d.mapping(in.Values, v, path+".")
		return
	}
	keys := fieldsOf(f.typ)
	for _, k := range keys {
		at := d.position(n.GetToken())
		switch text := wordOf(n); {
		case k.name == "policy" && text != "":
			// `turn: silence` is short for `turn: {policy: silence}`.
			d.at[path+".policy"] = at
			d.scalar(n, v.FieldByIndex(k.index), k, path+".policy")
			return
		case k.name == "off" && text == "off":
			d.at[path+".off"] = at
			v.FieldByIndex(k.index).SetBool(true)
			return
		}
	}
	d.add(d.position(n.GetToken()), path, "", "is %s: expected keys (%s)", describe(n), strings.Join(names(keys), ", "))
}

func (d *decoder) list(n ast.Node, v reflect.Value, f field, path string) {
	in, ok := n.(*ast.SequenceNode)
	if !ok {
		suggestion := ""
		if w := wordOf(n); w != "" {
			suggestion = fmt.Sprintf("%s: [%s]", f.name, w)
		}
		d.add(d.position(n.GetToken()), path, suggestion, "is %s: expected a list", describe(n))
		return
	}
	if len(in.Values) == 0 && !f.empty {
		d.add(d.position(in.GetToken()), path, "", "is empty: expected at least one entry, or no key at all")
		return
	}
	list := reflect.MakeSlice(f.typ, len(in.Values), len(in.Values))
	elem := f
	elem.typ = f.typ.Elem()
	for i, node := range in.Values {
		entry := path + "[" + strconv.Itoa(i) + "]"
		d.at[entry] = d.position(firstToken(node))
		d.value(node, list.Index(i), elem, entry)
		if !elem.section() {
			continue
		}
		for _, k := range fieldsOf(elem.typ) {
			if _, set := d.at[entry+"."+k.name]; k.required && !set {
				d.add(d.at[entry], entry, "", "has no %s: %s", k.name, k.expected())
			}
		}
	}
	v.Set(list)
}

// firstToken is where a node begins; a block mapping's own token is a colon.
func firstToken(n ast.Node) *token.Token {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return m.Values[0].Key.GetToken()
	}
	return n.GetToken()
}

func (d *decoder) scalar(n ast.Node, v reflect.Value, f field, path string) {
	at := d.position(n.GetToken())
	if s, ok := v.Addr().Interface().(scalar); ok {
		// A word with a space in it is none of their values.
		word, what := wordOf(n), describe(n)
		if err := s.set(word); err != nil {
			d.add(at, path, "", "is %s: %v", what, err)
		}
		return
	}
	if f.typ.Kind() == reflect.Bool {
		b, ok := n.(*ast.BoolNode)
		if ok {
			v.SetBool(b.Value)
			return
		}
		suggestion := map[string]string{"yes": "true", "on": "true", "1": "true", "no": "false", "off": "false", "0": "false"}[strings.ToLower(wordOf(n))]
		d.add(at, path, suggestion, "is %s: expected true or false", describe(n))
		return
	}
	text, ok := textOf(n)
	switch {
	case len(f.oneof) > 0 && !slices.Contains(f.oneof, text):
		d.add(at, path, Nearest(wordOf(n), f.oneof), "is %s: expected one of %s", describe(n), strings.Join(f.oneof, ", "))
	case !ok:
		suggestion := ""
		if w := wordOf(n); w != "" {
			suggestion = strconv.Quote(w)
		}
		d.add(at, path, suggestion, "is %s: expected a text", describe(n))
	case f.path && text != "" && d.dir != "" && !filepath.IsAbs(text) && !elsewhere(text):
		v.SetString(filepath.Join(d.dir, text))
	default:
		v.SetString(text)
	}
}

// elsewhere reports whether a path is none: a URL, or the name of a variable in the
// environment that holds it.
func elsewhere(text string) bool {
	return strings.Contains(text, "://") || strings.HasPrefix(text, "${")
}

// keyText is a key as it stands in the file.
func keyText(pair *ast.MappingValueNode) string {
	if k, ok := pair.Key.(*ast.StringNode); ok {
		return k.Value
	}
	return pair.Key.GetToken().Value
}

// textOf is the text that a node is, if it is one.
func textOf(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	default:
		return "", false
	}
}

// wordOf is the text, number or truth value as it stands in the file, empty for
// everything else.
func wordOf(n ast.Node) string {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value
	default:
		text, _ := textOf(n)
		return text
	}
}

// describe says what a node is, for problems.
func describe(n ast.Node) string {
	switch n := n.(type) {
	case *ast.MappingNode:
		return "a group of keys"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "empty"
	case *ast.AnchorNode:
		return "an anchor"
	case *ast.AliasNode:
		return "an alias"
	case *ast.TagNode:
		return "a tag"
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value
	default:
		text, _ := textOf(n)
		return quoted(text)
	}
}

// shown is a key as messages have it: in quotes unless it is a plain word.
func shown(key string) string {
	odd := strings.IndexFunc(key, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
	})
	if key == "" || len(key) > 40 || odd >= 0 {
		return quoted(key)
	}
	return key
}

// quoted is a text of the file in quotes, cut to what fits a message.
func quoted(text string) string {
	if r := []rune(text); len(r) > 40 {
		text = string(r[:40]) + "..."
	}
	return strconv.Quote(text)
}
