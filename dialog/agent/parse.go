package agent

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// File is a named file of an agent.
type File struct {
	Name string
	Data []byte
}

// Options are what a program adds to the files of an agent. The zero value adds nothing.
type Options struct {
	// Validators has validators by name. They are added to the built-in ones and may
	// replace them.
	Validators map[string]Validator
	// Actions are names of actions that the program runs, whether the files declare them or
	// not. Mocks of them in the files are ignored.
	Actions []string
	// Settings are names of settings that the program reads from [Settings.Other].
	Settings []string
}

// Validate returns an error if an option is invalid.
func (o Options) Validate() error {
	for _, name := range slices.Sorted(maps.Keys(o.Validators)) {
		if name == "" || o.Validators[name] == nil {
			return fmt.Errorf("options: Validators[%q]: expected a name and a function", name)
		}
	}
	if slices.Contains(o.Actions, "") || slices.Contains(o.Settings, "") {
		return errors.New("options: Actions and Settings: names must not be empty")
	}
	return nil
}

// Parse compiles the files of one agent: one YAML file, or all files of a directory. It
// returns all problems, in the order of the files. The definition is nil if one of them is
// an error.
func (o Options) Parse(files []File) (*Definition, []Problem) {
	c := &compiler{
		opts:       o,
		a:          newDefinition(),
		validators: builtinValidators(),
		slotNodes:  make(map[string]node),
		flowNodes:  make(map[string]node),
	}
	if err := o.Validate(); err != nil {
		return nil, []Problem{{Severity: SeverityError, Message: err.Error()}}
	}
	maps.Copy(c.validators, o.Validators)
	c.compile(files)
	SortProblems(c.problems, files)
	if HasErrors(c.problems) {
		return nil, c.problems
	}
	return c.a, c.problems
}

func newDefinition() *Definition {
	return &Definition{
		Messages:    make(map[string]Variants),
		SlotIndex:   make(map[string]*Slot),
		Vars:        make(map[string]bool),
		ActionIndex: make(map[string]*Action),
		FlowIndex:   make(map[string]*Flow),
	}
}

// compiler compiles nodes to a definition. Its reader reads the fields and collects the
// problems.
type compiler struct {
	opts       Options
	a          *Definition
	validators map[string]Validator
	reader

	slotNodes map[string]node
	flowNodes map[string]node
	open      bool // whether an action may set undeclared names
	collected map[string]bool
	checks    []*Action // actions that check slot values
}

// section is one of the top-level fields of a file.
type section struct {
	key, value node
}

// compile runs the passes of the compiler. Each depends on the results of those before.
func (c *compiler) compile(files []File) {
	sections := make(map[string][]section)
	c.collected = make(map[string]bool)
	for _, f := range files {
		root, problems := readYAML(f)
		c.problems = append(c.problems, problems...)
		if root.kind == nodeMissing || root.kind == nodeNull {
			continue
		}
		take := func(key, value node) {
			sections[key.text] = append(sections[key.text], section{key, value})
		}
		handlers := make(map[string]func(key, value node))
		for _, name := range []string{"version", "settings", "instructions", "slots", "actions", "flows", "messages", "responses", "name", "description", "model", "upstream", "tools"} {
			handlers[name] = take
		}
		c.misplaced(root, handlers)
		c.fields(root, "agent", handlers)
	}
	for _, s := range sections["version"] {
		c.version(s.value)
	}
	c.settings(sections["settings"])
	for _, s := range sections["model"] {
		if s.value.kind == nodeScalar { // package config reads a mapping
			c.a.Settings.Model.Name = s.value.text
		}
	}
	for _, s := range sections["upstream"] {
		if s.value.kind == nodeScalar { // likewise
			c.a.Settings.Upstream = s.value.text
		}
	}
	for _, s := range sections["tools"] {
		c.a.Tools, c.a.ToolsSet = append(c.a.Tools, c.texts(s.value, "tools")...), true
	}
	for _, s := range sections["description"] {
		if c.a.Description == "" { // of several files the first one counts
			c.a.Description = strings.TrimSpace(c.text(s.value, "description"))
		}
	}
	for _, s := range sections["instructions"] {
		c.instructions(s.value)
	}
	if !c.language(sections["settings"]) {
		return
	}
	c.defineSlots(sections["slots"], sections["flows"])
	c.actions(sections["actions"])
	c.defineFlows(sections["flows"])
	for _, name := range []string{"messages", "responses"} {
		for _, s := range sections[name] {
			c.catalogue(s.value)
		}
	}
	c.checkRefs()
	c.checkSecrets()
	c.checkStart(sections["settings"])
	if len(files) > 0 && len(c.a.Flows) == 0 && c.a.Instructions == "" && !HasErrors(c.problems) {
		c.fail(node{file: files[0].Name}, "the agent has neither flows nor instructions")
	}
	if len(files) == 0 {
		c.fail(node{}, "no files")
	}
	if !HasErrors(c.problems) {
		c.a.finish()
	}
}

// misplaced reports top-level keys that belong in the config file, and warns of those that
// belong in the settings. It adds handlers for them, so that each is reported once.
func (c *compiler) misplaced(root node, handlers map[string]func(key, value node)) {
	for _, p := range root.pairs {
		name := p.key.text
		switch {
		case slices.Contains(configKeys, name), name == "tools" && p.value.kind == nodeMapping:
			c.elsewhere(p.key)
		case handlers[name] == nil && (slices.Contains(EngineSettings(), name) || slices.Contains(ownSettings, name)):
			c.report(SeverityWarning, p.key, "settings."+name, "agent: field %q is ignored here", name)
		default:
			continue
		}
		handlers[name] = func(_, _ node) {}
	}
}

// elsewhere reports a key that belongs in the config file.
func (c *compiler) elsewhere(key node) {
	c.fail(key, "unknown field %q", key.text)
	if n := len(c.problems); n < maxProblems {
		c.problems[n-1].Belongs = "the config file"
	}
}

func (c *compiler) version(n node) {
	switch v := c.text(n, "version"); v {
	case "", "1", "1.0":
	default:
		c.report(SeverityWarning, n, "1.0", "version %q is not known; the file is read as 1.0", v)
	}
}

func (c *compiler) instructions(n node) {
	if t := strings.TrimSpace(c.text(n, "instructions")); t != "" {
		if c.a.Instructions != "" {
			c.fail(n, "instructions are given twice")
			return
		}
		c.a.Instructions = t
		c.a.Settings.Model.Answers = c.a.Settings.Model.Answers || !c.a.Settings.modelAnswersSet
	}
}

// catalogue reads phrases that replace those of the engine.
func (c *compiler) catalogue(n node) {
	handlers := make(map[string]func(key, value node))
	for _, name := range slices.Sorted(maps.Keys(c.a.Messages)) {
		handlers[name] = func(_, v node) {
			before := len(c.refs)
			if m := c.message(v, "message "+name); len(m) > 0 {
				c.a.Messages[name] = m
			}
			for i := len(c.refs) - 1; i >= before; i-- { // the engine provides {label} and others
				if slices.Contains(engineNames, c.refs[i].name) {
					c.refs = slices.Delete(c.refs, i, i+1)
				}
			}
		}
	}
	c.fields(n, "messages", handlers)
}

// engineNames are the names of the values that the engine passes to its phrases.
var engineNames = []string{"label", "value", "values", "description", "summary", "flows"}

// checkRefs reports names that are not slots and that nothing sets.
func (c *compiler) checkRefs() {
	known := c.a.SlotNames()
	known = append(known, slices.Sorted(maps.Keys(c.a.Vars))...)
	for _, r := range c.refs {
		if c.a.SlotIndex[r.name] != nil || c.a.Vars[r.name] || r.name == Context && r.builtin {
			continue
		}
		near := nearest(r.name, known)
		s := SeverityError
		if c.lenient || c.open && near == "" {
			s = SeverityWarning
		}
		c.report(s, r.at, near, "%s: unknown slot %q", r.what, r.name)
	}
}

func (c *compiler) checkStart(sections []section) {
	if c.a.Settings.Start == "" {
		return
	}
	f, ok := c.a.FlowIndex[c.a.Settings.Start]
	if !ok || f.Builtin {
		at := node{}
		for _, s := range sections {
			if v, ok := s.value.find("start"); ok {
				at = v
			}
		}
		c.unknown(at, "flow", c.a.Settings.Start, c.a.FlowNames())
		return
	}
	c.a.Start = f
}
