package config

import (
	"maps"
	"reflect"
	"strings"
)

// field is a key of a section.
type field struct {
	name     string
	index    []int
	typ      reflect.Type
	oneof    []string
	required bool // must be set if its section is
	empty    bool // an empty list has a meaning
	path     bool // a file name, relative to the config file
}

// fieldsOf returns the keys of a section in the order of its struct, including those of
// inlined structs.
func fieldsOf(t reflect.Type) []field {
	var list []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case option == "inline":
			for _, in := range fieldsOf(f.Type) {
				in.index = append([]int{i}, in.index...)
				list = append(list, in)
			}
		case name != "":
			list = append(list, field{
				name: name, index: []int{i}, typ: f.Type,
				oneof:    strings.Fields(f.Tag.Get("oneof")),
				required: f.Tag.Get("required") == "true",
				empty:    f.Tag.Get("empty") == "true",
				path:     f.Tag.Get("path") == "true",
			})
		}
	}
	return list
}

// section reports whether the field has keys of its own.
func (f field) section() bool { return f.typ.Kind() == reflect.Struct }

func names(list []field) []string {
	all := make([]string, len(list))
	for i := range list {
		all[i] = list[i].name
	}
	return all
}

// Key is a key of the config.
type Key struct {
	Path string // "limits.feedback[].after"
	Type string // as described in the documentation
}

// Keys returns all keys that have values, in the order of the documentation.
func Keys() []Key { return keysOf(reflect.TypeFor[Config](), "") }

func keysOf(t reflect.Type, prefix string) []Key {
	var list []Key
	for _, f := range fieldsOf(t) {
		path := prefix + f.name
		switch {
		case f.section():
			list = append(list, keysOf(f.typ, path+".")...)
		case f.typ.Kind() == reflect.Slice && f.typ.Elem().Kind() == reflect.Struct:
			list = append(list, keysOf(f.typ.Elem(), path+"[].")...)
		default:
			list = append(list, Key{path, f.kind()})
		}
	}
	return list
}

// KeyOf returns the key of a field of [Config]: "limits.waiting" for "Limits.Waiting",
// "dead_air.steps[0].after" for "DeadAir.Steps[0].After". It returns an empty string if
// there is no such field.
func KeyOf(field string) string {
	var path []string
	for t := reflect.TypeFor[Config](); field != ""; {
		var name, index string
		name, field, _ = strings.Cut(field, ".")
		if i := strings.IndexByte(name, '['); i >= 0 {
			name, index = name[:i], name[i:]
		}
		f, ok := t.FieldByName(name)
		if !ok {
			return ""
		}
		key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		path = append(path, key+index)
		if t = f.Type; t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			break
		}
	}
	return strings.Join(path, ".")
}

// kind describes the field's type.
func (f field) kind() string {
	if f.typ.Kind() == reflect.Slice {
		elem := f
		elem.typ = f.typ.Elem()
		return "list of " + elem.kind()
	}
	if s, ok := reflect.New(f.typ).Interface().(scalar); ok {
		return s.kind()
	}
	switch {
	case f.typ == reflect.TypeFor[Engines]():
		return "`" + strings.Join(f.oneof, "`, `") + "`, or a list of them"
	case len(f.oneof) > 0:
		return "`" + strings.Join(f.oneof, "`, `") + "`"
	case f.path:
		return "path"
	case f.typ.Kind() == reflect.Bool:
		return "`true`, `false`"
	default:
		return "text"
	}
}

// expected describes the accepted values.
func (f field) expected() string {
	switch s, ok := reflect.New(f.typ).Interface().(scalar); {
	case ok:
		return s.set("").Error()
	case f.typ.Kind() == reflect.Slice:
		return "expected a list"
	case len(f.oneof) > 0:
		return "expected one of " + strings.Join(f.oneof, ", ")
	case f.typ.Kind() == reflect.Bool:
		return "expected true or false"
	default:
		return "expected a text"
	}
}

// Or returns c with unset fields taken from d, for example the settings of an agent
// completed by the config of the installation. Lists are not merged. Neither c nor d is
// changed.
func (c *Config) Or(d *Config) *Config {
	merged := *c
	merged.at = make(map[string]Position, len(c.at)+len(d.at))
	maps.Copy(merged.at, d.at)
	maps.Copy(merged.at, c.at)
	fill(reflect.ValueOf(&merged).Elem(), reflect.ValueOf(d).Elem(), "", c.at)
	return &merged
}

func fill(dst, src reflect.Value, prefix string, set map[string]Position) {
	for _, f := range fieldsOf(dst.Type()) {
		path := prefix + f.name
		to, from := dst.FieldByIndex(f.index), src.FieldByIndex(f.index)
		if f.section() {
			fill(to, from, path+".", set)
		} else if _, ok := set[path]; !ok {
			to.Set(from)
		}
	}
}

// Changed returns the keys whose values in c are not those in d, in the order of the
// documentation. A list is one key.
func (c *Config) Changed(d *Config) []string {
	return changed(reflect.ValueOf(c).Elem(), reflect.ValueOf(d).Elem(), "")
}

func changed(a, b reflect.Value, prefix string) (keys []string) {
	for _, f := range fieldsOf(a.Type()) {
		x, y := a.FieldByIndex(f.index), b.FieldByIndex(f.index)
		switch {
		case f.section():
			keys = append(keys, changed(x, y, prefix+f.name+".")...)
		case !reflect.DeepEqual(x.Interface(), y.Interface()):
			keys = append(keys, prefix+f.name)
		}
	}
	return keys
}
