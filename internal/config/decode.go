package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds of a file. The parser's time grows with the square of the nesting, and
// for some texts of the size.
const (
	maxSize     = 64 << 10
	maxNesting  = 100
	maxProblems = 100 // more than that is no config at all
)

// Load reads a config file. The error is [Problems] where the file is wrong;
// the config is then what could be read of it, so that whoever checks it further
// can report everything at once. Names of files in it are relative to its
// folder.
func Load(path string) (*Config, error) {
	data, err := os.ReadFile(path)
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, fmt.Errorf("%s: %w", path, pathErr.Err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	d := decoder{file: path, dir: filepath.Dir(path)}
	return d.config(data, nil)
}

// Parse reads a config file from memory; name is its name in problems. It
// returns what [Load] does. Names of files in it stay as they are.
func Parse(name string, data []byte) (*Config, error) {
	d := decoder{file: name}
	return d.config(data, nil)
}

// ParseSettings reads the named sections ("turn", "barge_in") of the `settings:`
// of an agent's file, and nothing else of it. It returns what [Load] does.
func ParseSettings(name string, data []byte, sections ...string) (*Config, error) {
	d := decoder{file: name}
	return d.config(data, sections)
}

// Where tells where a key is set, or else the section that it would be in, or
// the file.
func (c *Config) Where(path string) Position {
	for {
		if at, ok := c.at[path]; ok || path == "" {
			return at
		}
		path = path[:max(0, strings.LastIndexAny(path, ".["))]
	}
}

// Sets reports whether the file sets the key.
func (c *Config) Sets(path string) bool {
	_, ok := c.at[path]
	return ok
}

// Problem is a problem with a key, at the place where it is set.
func (c *Config) Problem(path, message string) Problem {
	return Problem{Position: c.Where(path), Key: path, Message: message}
}

// decoder reads one document and collects what is wrong with it.
type decoder struct {
	file, dir string
	problems  Problems
	at        map[string]Position
}

// add notes a problem.
func (d *decoder) add(at Position, key, suggestion, format string, args ...any) {
	if d.full() {
		return
	}
	d.problems = append(d.problems, Problem{
		Position: at, Key: key, Message: fmt.Sprintf(format, args...), Suggestion: suggestion,
	})
}

// full reports whether there are enough problems.
func (d *decoder) full() bool { return len(d.problems) == maxProblems }

func (d *decoder) position(t *token.Token) Position {
	if t == nil || t.Position == nil {
		return Position{File: d.file}
	}
	return Position{File: d.file, Line: t.Position.Line, Column: t.Position.Column}
}

// config reads a whole file, or only some sections of an agent's settings.
func (d *decoder) config(data []byte, sections []string) (*Config, error) {
	c := &Config{at: map[string]Position{"": {File: d.file}}}
	d.at = c.at
	body := d.document(data)
	if body == nil {
		return c, d.problems.Err()
	}
	top, ok := body.(*ast.MappingNode)
	switch {
	case !ok:
		d.add(d.position(body.GetToken()), "", "", "the file is %s: expected keys and values, such as language: en", describe(body))
	case sections != nil:
		for _, pair := range top.Values {
			if keyText(pair) == "settings" {
				d.settings(pair, c, sections)
			}
		}
	default:
		d.top(top, c)
	}
	return c, d.problems.Err()
}

// IsAgent reports whether a file is an agent's and not a config: it has flows or what
// belongs to them, or instructions, at the top or among its settings. A file of other
// settings alone may be either, and is read as a config.
func IsAgent(data []byte) bool {
	d := decoder{}
	top, ok := d.document(data).(*ast.MappingNode)
	return ok && slices.ContainsFunc(top.Values, func(p *ast.MappingValueNode) bool {
		if in, ok := p.Value.(*ast.MappingNode); ok && keyText(p) == "settings" {
			return slices.ContainsFunc(in.Values, func(p *ast.MappingValueNode) bool { return keyText(p) == "instructions" })
		}
		return keyText(p) == "instructions" || slices.Contains(agentKeys, keyText(p))
	})
}

// agentKeys are found at the top of an agent's file alone.
var agentKeys = []string{"flows", "slots", "actions"}

// top reads the keys of the file: those of the config, and `settings`.
func (d *decoder) top(top *ast.MappingNode, c *Config) {
	for _, pair := range top.Values {
		if key := keyText(pair); slices.Contains(agentKeys, key) {
			d.add(d.position(pair.Key.GetToken()), "", "", "this is an agent (it has %s): expected a config file", key)
			return
		}
	}
	rest := make([]*ast.MappingValueNode, 0, len(top.Values))
	for _, pair := range top.Values {
		if keyText(pair) == "settings" {
			d.settings(pair, c, nil)
			continue
		}
		rest = append(rest, pair)
	}
	d.mapping(rest, reflect.ValueOf(c).Elem(), "")
}

// settings reads what stands under `settings`; sections, if not nil, are those
// that matter.
func (d *decoder) settings(pair *ast.MappingValueNode, c *Config, sections []string) {
	if in, ok := pair.Value.(*ast.MappingNode); ok {
		pairs := in.Values
		if sections != nil {
			pairs = slices.DeleteFunc(slices.Clone(pairs), func(p *ast.MappingValueNode) bool {
				return !slices.Contains(sections, keyText(p))
			})
		}
		d.mapping(pairs, reflect.ValueOf(c).Elem(), "")
	} else if _, ok := pair.Value.(*ast.NullNode); !ok {
		d.add(d.position(pair.Value.GetToken()), "settings", "", "is %s: expected keys and values", describe(pair.Value))
	}
}

// document parses the YAML and returns what is in it, nil if nothing is.
func (d *decoder) document(data []byte) (body ast.Node) {
	switch {
	case len(data) > maxSize:
		d.add(Position{File: d.file}, "", "", "the file has %d bytes: expected at most %d", len(data), maxSize)
		return nil
	case !utf8.Valid(data):
		good := 0
		for r, n := utf8.DecodeRune(data); r != utf8.RuneError || n != 1; r, n = utf8.DecodeRune(data[good:]) {
			good += n
		}
		d.add(Position{File: d.file, Line: 1 + bytes.Count(data[:good], []byte("\n"))}, "", "", "the file is no UTF-8 text")
		return nil
	}
	if line := tooDeep(data); line > 0 {
		d.add(Position{File: d.file, Line: line}, "", "", "nested too deeply: expected at most %d levels", maxNesting)
		return nil
	}
	file, err := parse(data)
	if err != nil {
		at, message := Position{File: d.file}, err.Error()
		if y, ok := errors.AsType[yaml.Error](err); ok {
			at, message = d.position(y.GetToken()), y.GetMessage()
		}
		d.add(at, "", "", "no valid YAML: %s", message)
		return nil
	}
	for i, doc := range file.Docs {
		switch {
		case doc.Body == nil:
		case body != nil:
			d.add(d.position(doc.Body.GetToken()), "", "", "document %d of the file begins here: expected one", i+1)
			return body
		default:
			body = doc.Body
		}
	}
	return body
}

// parse calls the YAML library, which panics on some texts that are no YAML.
func parse(data []byte) (file *ast.File, err error) {
	defer func() {
		if recover() != nil {
			file, err = nil, errors.New("the text cannot be parsed")
		}
	}()
	return parser.ParseBytes(data, 0, parser.AllowDuplicateMapKey())
}

// tooDeep is the first line on which the text nests deeper than any config, 0
// if none does. It counts brackets without regard to quotes: a config has few.
func tooDeep(data []byte) int {
	open, line := 0, 0
	for text := range bytes.Lines(data) {
		line++
		marks := 0 // "- - - a": each opens a level on the same line
		for i, b := range text {
			switch b {
			case '[', '{':
				open++
			case ']', '}':
				open = max(0, open-1)
			case '-', '?', ':':
				if i+1 == len(text) || text[i+1] <= ' ' {
					marks++
				}
			}
			if open > maxNesting || marks > maxNesting {
				return line
			}
		}
	}
	return 0
}

// mapping reads the keys of a section into its struct. prefix is the section's
// path with its dot.
func (d *decoder) mapping(pairs []*ast.MappingValueNode, v reflect.Value, prefix string) {
	fields := fieldsOf(v.Type())
	lines := make(map[string]int)
	for _, pair := range pairs {
		if d.full() {
			return
		}
		key, at := keyText(pair), d.position(pair.Key.GetToken())
		if line, twice := lines[key]; twice {
			d.add(at, prefix+key, "", "is set twice: the first time on line %d", line)
			continue
		}
		lines[key] = at.Line
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == key })
		if i < 0 {
			d.add(at, prefix+shown(key), d.meant(key, prefix, fields), "unknown key")
			continue
		}
		path := prefix + key
		if before, set := d.at[path]; set && !fields[i].section() {
			d.add(at, path, "", "is set twice: the first time on line %d, under settings", before.Line)
			continue
		}
		d.at[path] = at
		d.value(pair.Value, v.FieldByIndex(fields[i].index), fields[i], path)
	}
}

// meant is the key that an unknown one was probably meant to be: one of the same
// section, or the same name in another.
func (d *decoder) meant(key, prefix string, fields []field) string {
	choices := names(fields)
	if prefix == "" {
		choices = append(choices, "settings")
	}
	near, folded := Nearest(key, choices), fold(key)
	if fold(near) == folded {
		return near
	}
	for _, k := range Keys() {
		if fold(k.Path[1+strings.LastIndexByte(k.Path, '.'):]) == folded {
			return k.Path
		}
	}
	return near
}
