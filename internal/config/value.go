package config

import (
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/hocketvoice/hocket/internal/yamlfile"
)

// This file converts the nodes of the document to the fields of the structs.

// value reads the value of a key.
func (d *decoder) value(n *yamlfile.Node, v reflect.Value, f field, path string) {
	switch n.Kind {
	case yamlfile.Anchor, yamlfile.Alias, yamlfile.Tag:
		d.add(d.position(n), path, "", "is %s: expected the value itself", describe(n))
		return
	case yamlfile.Null:
		if !f.section() { // a section may be empty if all of its keys are commented out
			d.add(d.position(n), path, "", "has no value: %s, or no key at all", f.expected())
		}
		return
	default:
	}
	switch {
	case f.section():
		d.section(n, v, f, path)
	case f.typ.Kind() == reflect.Slice:
		d.list(n, v, f, path)
	case f.typ == reflect.TypeFor[Engines]() && n.Kind == yamlfile.Sequence:
		d.engines(n, v, f, path)
	default:
		d.scalar(n, v, f, path)
	}
}

// engines reads a list of engines.
func (d *decoder) engines(n *yamlfile.Node, v reflect.Value, f field, path string) {
	var names []string
	list := reflect.New(reflect.TypeFor[[]string]()).Elem() // an entry must not be a list in turn
	elem := f
	elem.typ = list.Type()
	d.list(n, list, elem, path)
	for i := range list.Len() {
		name := list.Index(i).String()
		if name != "" && slices.Contains(names, name) {
			d.add(d.position(&n.Items[i]), path, "", "has %s twice: expected each engine once", name)
		}
		names = append(names, name)
	}
	v.SetString(strings.Join(names, " "))
}

// section reads a section. A section that begins with a policy may be only its name,
// and dead_air may be off.
func (d *decoder) section(n *yamlfile.Node, v reflect.Value, f field, path string) {
	if n.Kind == yamlfile.Mapping {
		d.mapping(n.Pairs, v, path+".")
		for _, k := range fieldsOf(f.typ) {
			if _, set := d.at[path+"."+k.name]; k.required && !set {
				d.add(d.at[path], path, "", "has no %s: %s", k.name, k.expected())
			}
		}
		return
	}
	keys := fieldsOf(f.typ)
	for _, k := range keys {
		at := d.position(n)
		switch text := wordOf(n); {
		case k.name == "policy" && text != "":
			// `turn: silence` means `turn: {policy: silence}`.
			d.at[path+".policy"] = at
			d.scalar(n, v.FieldByIndex(k.index), k, path+".policy")
			return
		case k.name == "off" && text == "off":
			d.at[path+".off"] = at
			v.FieldByIndex(k.index).SetBool(true)
			return
		}
	}
	d.add(d.position(n), path, "", "is %s: expected keys (%s)", describe(n), strings.Join(names(keys), ", "))
}

func (d *decoder) list(n *yamlfile.Node, v reflect.Value, f field, path string) {
	if n.Kind != yamlfile.Sequence {
		suggestion := ""
		if w := wordOf(n); w != "" {
			suggestion = fmt.Sprintf("%s: [%s]", f.name, w)
		}
		d.add(d.position(n), path, suggestion, "is %s: expected a list", describe(n))
		return
	}
	if len(n.Items) == 0 && !f.empty {
		d.add(d.position(n), path, "", "is empty: expected at least one entry, or no key at all")
		return
	}
	list := reflect.MakeSlice(f.typ, len(n.Items), len(n.Items))
	elem := f
	elem.typ = f.typ.Elem()
	for i := range n.Items {
		node := &n.Items[i]
		entry := path + "[" + strconv.Itoa(i) + "]"
		d.at[entry] = d.position(node)
		d.value(node, list.Index(i), elem, entry)
	}
	v.Set(list)
}

func (d *decoder) scalar(n *yamlfile.Node, v reflect.Value, f field, path string) {
	at := d.position(n)
	if s, ok := v.Addr().Interface().(scalar); ok {
		// No value contains a space.
		word, what := wordOf(n), describe(n)
		if err := s.set(word); err != nil {
			d.add(at, path, "", "is %s: %v", what, err)
		}
		return
	}
	if f.typ.Kind() == reflect.Bool {
		if n.Kind == yamlfile.Bool {
			v.SetBool(strings.EqualFold(n.Text, "true"))
			return
		}
		suggestion := map[string]string{"yes": "true", "on": "true", "1": "true", "no": "false", "off": "false", "0": "false"}[strings.ToLower(wordOf(n))]
		d.add(at, path, suggestion, "is %s: expected true or false", describe(n))
		return
	}
	text, ok := n.Text, n.Kind == yamlfile.Text
	switch {
	case len(f.oneof) > 0 && !(ok && slices.Contains(f.oneof, text)):
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

// elsewhere reports whether a path is not a file name but a URL, or the name of an
// environment variable with one.
func elsewhere(text string) bool {
	return strings.Contains(text, "://") || strings.HasPrefix(text, "${")
}

// wordOf returns a text, number or truth value as written in the file, or "" for other
// nodes.
func wordOf(n *yamlfile.Node) string {
	switch n.Kind {
	case yamlfile.Text, yamlfile.Number, yamlfile.Bool:
		return n.Text
	default:
		return ""
	}
}

// describe describes a node in a problem.
func describe(n *yamlfile.Node) string {
	switch n.Kind {
	case yamlfile.Mapping:
		return "a group of keys"
	case yamlfile.Sequence:
		return "a list"
	case yamlfile.Null:
		return "empty"
	case yamlfile.Anchor:
		return "an anchor"
	case yamlfile.Alias:
		return "an alias"
	case yamlfile.Tag:
		return "a tag"
	case yamlfile.Number, yamlfile.Bool:
		return n.Text
	default:
		return quoted(wordOf(n))
	}
}

// shown returns a key as shown in messages: in quotes unless it is a plain word.
func shown(key string) string {
	odd := strings.IndexFunc(key, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
	})
	if key == "" || len(key) > 40 || odd >= 0 {
		return quoted(key)
	}
	return key
}

// quoted returns a text of the file in quotes, shortened for a message.
func quoted(text string) string {
	if r := []rune(text); len(r) > 40 {
		text = string(r[:40]) + "..."
	}
	return strconv.Quote(text)
}
