package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/internal/yamlfile"
)

// Limits of a file.
const (
	maxSize     = 64 << 10
	maxNesting  = 100
	maxProblems = 100 // a file with more is probably not a config
)

// Load reads a config file. If the file has problems, the error is of type [Problems],
// and the config contains what could be read, so that further checks can report their
// problems too. File names in the config are relative to its folder.
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

// Parse reads a config from memory. name is the file's name in problems. It returns the
// same as [Load], except that file names are unchanged.
func Parse(name string, data []byte) (*Config, error) {
	d := decoder{file: name}
	return d.config(data, nil)
}

// ParseSettings reads the named sections ("turn", "barge_in") of the `settings:` of an
// agent's file, and its `model:` and `upstream:` if they contain keys and not a name. It ignores
// everything else and returns the same as [Load].
func ParseSettings(name string, data []byte, sections ...string) (*Config, error) {
	d := decoder{file: name}
	return d.config(data, sections)
}

// Where returns the position at which a key is set, or that of the section to which it
// would belong, or the file.
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

// Problem returns a problem with a key, at the position where it is set.
func (c *Config) Problem(path, message string) Problem {
	return Problem{Position: c.Where(path), Key: path, Message: message}
}

// ForeignKey returns the error for an agent's own file that would send the key of host to
// another server, or nil if host is empty. It names the section's key_env if the file sets
// that, and otherwise its key other.
func (c *Config) ForeignKey(host, section, other string) error {
	if host == "" {
		return nil
	}
	key := section + ".key_env"
	if !c.Sets(key) {
		key = section + "." + other
	}
	return Problems{c.Problem(key, "the key belongs to "+host+": only a config file (--config) may send it to another server")}
}

// decoder reads one document and collects its problems.
type decoder struct {
	file, dir string
	problems  Problems
	at        map[string]Position
}

// add adds a problem.
func (d *decoder) add(at Position, key, suggestion, format string, args ...any) {
	if d.full() {
		return
	}
	d.problems = append(d.problems, Problem{
		Position: at, Key: key, Message: fmt.Sprintf(format, args...), Suggestion: suggestion,
	})
}

// full reports whether the maximum number of problems is reached.
func (d *decoder) full() bool { return len(d.problems) == maxProblems }

func (d *decoder) position(n *yamlfile.Node) Position {
	return Position{File: d.file, Line: n.Line, Column: n.Column}
}

// config reads a whole file, or only some sections of an agent's settings.
func (d *decoder) config(data []byte, sections []string) (*Config, error) {
	c := &Config{at: map[string]Position{"": {File: d.file}}}
	d.at = c.at
	body := d.document(data)
	if body == nil {
		return c, d.problems.Err()
	}
	switch {
	case body.Kind != yamlfile.Mapping:
		d.add(d.position(body), "", "", "the file is %s: expected keys and values, such as language: en", describe(body))
	case sections != nil:
		for i := range body.Pairs {
			switch pair := &body.Pairs[i]; {
			case pair.Key.Text == "settings":
				d.settings(&pair.Value, c, sections)
			case (pair.Key.Text == "model" || pair.Key.Text == "upstream") && pair.Value.Kind == yamlfile.Mapping:
				d.mapping([]yamlfile.Pair{*pair}, reflect.ValueOf(c).Elem(), "")
			}
		}
	default:
		d.top(body.Pairs, c)
	}
	return c, d.problems.Err()
}

// IsAgent reports whether a file is an agent's file and not a config. An agent's file
// has flows, slots, actions or instructions; or it has another key that only agents
// have, or a list of tools, and no key that only configs have. A file with only common
// settings counts as a config.
func IsAgent(data []byte) bool {
	d := decoder{}
	top := d.document(data)
	if top == nil {
		return false
	}
	may, must, config := false, false, false
	for i := range top.Pairs {
		key, value := top.Pairs[i].Key.Text, &top.Pairs[i].Value
		switch {
		case slices.Contains(agentKeys, key) || key == "instructions":
			must = true
		case key == "settings":
			for j := range value.Pairs {
				must = must || value.Pairs[j].Key.Text == "instructions"
				may = may || isAgentKey(value.Pairs[j].Key.Text)
			}
		case key == "tools" && value.Kind == yamlfile.Sequence:
			may = true
		case isAgentKey(key):
			may = true
		case slices.Contains(names(fieldsOf(reflect.TypeFor[Config]())), key) && key != "model":
			config = true
		}
	}
	return must || may && !config
}

// agentKeys are top-level keys that only agents have.
var agentKeys = []string{"flows", "slots", "actions"}

// isAgentKey reports whether only agents have a key, at the top level or in their
// settings.
func isAgentKey(key string) bool {
	return slices.Contains([]string{
		"instructions", "messages", "responses", "name", "description", "version",
		"start", "rephrase_responses", "rephrase_tone", "handoff", "retries", "min_confidence", "trace_limit", "step_limit",
	}, key)
}

// top reads the top-level keys: those of the config, and `settings`.
func (d *decoder) top(top []yamlfile.Pair, c *Config) {
	for i := range top {
		if key := top[i].Key; slices.Contains(agentKeys, key.Text) {
			d.add(d.position(&key), "", "", "this is an agent (it has %s): expected a config file", key.Text)
			return
		}
	}
	rest := make([]yamlfile.Pair, 0, len(top))
	for i := range top {
		if top[i].Key.Text == "settings" {
			d.settings(&top[i].Value, c, nil)
			continue
		}
		rest = append(rest, top[i])
	}
	d.mapping(rest, reflect.ValueOf(c).Elem(), "")
}

// settings reads the section `settings`. If sections is not nil, it reads only those.
func (d *decoder) settings(n *yamlfile.Node, c *Config, sections []string) {
	switch n.Kind {
	case yamlfile.Mapping:
		pairs := n.Pairs
		if sections != nil {
			pairs = slices.DeleteFunc(slices.Clone(pairs), func(p yamlfile.Pair) bool {
				return !slices.Contains(sections, p.Key.Text)
			})
		}
		d.mapping(pairs, reflect.ValueOf(c).Elem(), "")
	case yamlfile.Null:
	default:
		d.add(d.position(n), "settings", "", "is %s: expected keys and values", describe(n))
	}
}

// document parses the YAML and returns the document, or nil if there is none.
func (d *decoder) document(data []byte) *yamlfile.Node {
	docs, err := yamlfile.Read(data, yamlfile.Limits{Bytes: maxSize, Depth: maxNesting})
	if err != nil {
		at := Position{File: d.file}
		if e, ok := errors.AsType[*yamlfile.Error](err); ok {
			at.Line, at.Column = e.Line, e.Column
		}
		d.add(at, "", "", "%v", err)
		return nil
	}
	if len(docs) > 1 {
		d.add(d.position(&docs[1]), "", "", "document 2 of the file begins here: expected one")
	}
	if len(docs) == 0 {
		return nil
	}
	return &docs[0]
}

// mapping reads the keys of a section into its struct. prefix is the section's path,
// followed by a dot.
func (d *decoder) mapping(pairs []yamlfile.Pair, v reflect.Value, prefix string) {
	fields := fieldsOf(v.Type())
	lines := make(map[string]int)
	for i := range pairs {
		if d.full() {
			return
		}
		pair := &pairs[i]
		key, at := pair.Key.Text, d.position(&pair.Key)
		if line, twice := lines[key]; twice {
			d.add(at, prefix+key, "", "is set twice: the first time on line %d", line)
			continue
		}
		lines[key] = at.Line
		f := slices.IndexFunc(fields, func(f field) bool { return f.name == key })
		if f < 0 && prefix == "" && isAgentKey(key) {
			d.problems = append(d.problems, Problem{Position: at, Key: key, Message: "unknown key", Belongs: "the agent's file"})
			continue
		}
		if f < 0 {
			d.add(at, prefix+shown(key), d.meant(key, prefix, fields), "unknown key")
			continue
		}
		path := prefix + key
		if before, set := d.at[path]; set && !fields[f].section() {
			d.add(at, path, "", "is set twice: the first time on line %d, under settings", before.Line)
			continue
		}
		d.at[path] = at
		d.value(&pair.Value, v.FieldByIndex(fields[f].index), fields[f], path)
	}
}

// meant returns the key that was probably meant by an unknown one: a similar key of the
// same section, or the same key of another.
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
