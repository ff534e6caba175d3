package agent

import (
	"maps"
	"slices"
	"strings"
)

// actions reads the declared actions.
func (c *compiler) actions(sections []section) {
	at := make(map[string]node)
	var all []pair
	for _, s := range sections {
		if s.value.kind != nodeMapping {
			if s.value.given() {
				c.fail(s.value, "actions is %s: expected a mapping of names", s.value.kind)
			}
			continue
		}
		for _, p := range s.value.pairs {
			name := p.key.text
			if !Identifier(name) {
				c.fail(p.key, "action %q: expected a name of letters, digits and underscores", name)
				continue
			}
			first, there := at[name]
			if i := slices.IndexFunc(all, func(o pair) bool { return o.key.text == name }); there && (overlays(all[i].value, p.value) || overlays(p.value, all[i].value)) {
				merged := all[i].value
				if merged.kind != nodeMapping {
					merged = p.value
				} else {
					merged.pairs = slices.Concat(merged.pairs, p.value.pairs)
				}
				all[i].value = merged
				continue
			}
			if there {
				c.fail(p.key, "action %q is declared twice; first in %s, line %d", name, first.file, first.line)
				continue
			}
			at[name] = p.key
			all = append(all, p)
		}
	}
	for _, p := range all {
		c.addAction(c.action(p.key.text, p.value))
	}
	c.addChecks()
	for _, name := range c.opts.Actions {
		if c.a.ActionIndex[name] == nil {
			c.addAction(&Action{Name: name})
		}
	}
}

// implementation has the fields of an action that say how it is run.
var implementation = []string{"http", "mcp", "command", "a2a", "transfer", "mock", "long", "idempotent"}

// overlays reports whether a second declaration of an action, in another file, only adds
// the implementation that the first one lacks.
func overlays(first, second node) bool {
	implements := func(p pair) bool { return slices.Contains(implementation, p.key.text) }
	return first.file != second.file && second.kind == nodeMapping && len(second.pairs) > 0 && first.kind != nodeScalar && first.kind != nodeSequence &&
		!slices.ContainsFunc(second.pairs, func(p pair) bool { return !implements(p) }) && !slices.ContainsFunc(first.pairs, implements)
}

func (c *compiler) addAction(a *Action) {
	c.a.Actions = append(c.a.Actions, a)
	c.a.ActionIndex[a.Name] = a
}

func (c *compiler) actionNames() []string {
	names := make([]string, 0, len(c.a.Actions))
	for _, a := range c.a.Actions {
		names = append(names, a.Name)
	}
	return names
}

func (c *compiler) action(name string, n node) *Action {
	a := &Action{Name: name, Declared: true}
	what := "action " + name
	var mock, long node
	c.fields(n, what, map[string]func(key, value node){
		"description": func(_, v node) { a.Description = strings.TrimSpace(c.text(v, what+".description")) },
		"inputs":      func(_, v node) { a.Inputs = append(a.Inputs, c.actionInputs(a, v, false)...) },
		"optional_inputs": func(_, v node) {
			a.Inputs = append(a.Inputs, c.actionInputs(a, v, true)...)
		},
		"outputs": func(_, v node) { a.Outputs = c.actionOutputs(v, what+".outputs") },
		"requires_confirmation": func(_, v node) {
			a.RequiresConfirmation = c.boolean(v, what+".requires_confirmation", false)
		},
		"confirmation": func(_, v node) { a.Confirmation = c.message(v, what+".confirmation") },
		"idempotent":   func(_, v node) { a.Idempotent = c.boolean(v, what+".idempotent", false) },
		"http":         func(_, v node) { a.HTTP = c.httpCall(v, what+".http") },
		"mcp":          func(_, v node) { a.MCP = c.mcpCall(v, what+".mcp") },
		"command":      func(_, v node) { c.toolUse(a, "command", v) },
		"a2a":          func(_, v node) { c.toolUse(a, "a2a", v) },
		"transfer":     func(_, v node) { c.toolUse(a, "transfer", v) },
		"long":         func(_, v node) { long = v },
		"mock":         func(_, v node) { mock = v },
	})
	switch {
	case a.HTTP != nil && a.MCP != nil && a.Tool == nil:
		c.fail(n, "%s: expected http or mcp, not both", what)
	case a.Tool != nil && (a.HTTP != nil || a.MCP != nil):
		c.fail(n, "%s: expected one of http, mcp, command, a2a, transfer", what)
	}
	a.Long = c.boolean(long, what+".long", a.Tool != nil && a.Tool.Kind != "transfer") // commands and A2A agents run long by default
	if a.Long && a.Tool != nil && a.Tool.Kind == "transfer" {
		c.fail(n, "%s: a transfer must not be long: the caller waits for it", what)
	}
	if a.MCP != nil && len(a.Outputs) == 0 {
		a.Outputs = slices.Sorted(maps.Keys(a.MCP.Outputs))
	}
	if a.Tool != nil && len(a.Outputs) == 0 {
		a.Outputs = slices.Sorted(maps.Keys(a.Tool.Outputs))
	}
	c.mock(a, mock)
	if len(a.Confirmation) > 0 {
		a.RequiresConfirmation = true
	}
	return a
}

// mock reads the outputs of an action that has no service. They are values as in a set
// step.
func (c *compiler) mock(a *Action, n node) {
	what := "action " + a.Name + ".mock"
	if !n.given() {
		return
	}
	if n.kind != nodeMapping {
		c.fail(n, "%s is %s: expected {output: value}", what, n.kind)
		return
	}
	switch {
	case a.HTTP != nil || a.MCP != nil:
		c.fail(n, "%s: expected one of http, mcp, mock", what)
		return
	case a.Tool != nil:
		c.fail(n, "%s: expected one of %s, mock", what, a.Tool.Kind)
		return
	}
	a.Mocked = !slices.Contains(c.opts.Actions, a.Name)
	for _, p := range n.pairs {
		name := p.key.text
		if len(a.Outputs) > 0 && !slices.Contains(a.Outputs, name) {
			c.report(SeverityError, p.key, nearest(name, a.Outputs), "%s: the action declares no output %q", what, name)
			continue
		}
		a.Mock = append(a.Mock, c.settingOf(name, p.value, what))
	}
}

// actionInputs reads a list of slots, or a mapping of arguments to slots.
func (c *compiler) actionInputs(a *Action, n node, optional bool) []ActionInput {
	what := "action " + a.Name + ".inputs"
	var out []ActionInput
	add := func(at node, name, from string) {
		c.refs = append(c.refs, nameRef{at: at, name: from, what: what})
		in := ActionInput{Name: name, From: from, Optional: optional}
		if s := c.a.SlotIndex[from]; s != nil && !s.Required {
			in.Optional = true
		}
		out = append(out, in)
	}
	if n.kind == nodeMapping {
		for _, p := range n.pairs {
			if from := c.text(p.value, what); from != "" {
				add(p.value, p.key.text, from)
			}
		}
		return out
	}
	for _, item := range n.items {
		if item.kind == nodeMapping { // {name: .., from: .., required: false}
			var in ActionInput
			required := true
			c.fields(item, what, map[string]func(key, value node){
				"name":     func(_, v node) { in.Name = c.text(v, what) },
				"from":     func(_, v node) { in.From = c.text(v, what) },
				"required": func(_, v node) { required = c.boolean(v, what, true) },
				"type":     nil, "description": nil,
			})
			if in.Name == "" {
				c.fail(item, "%s: expected a field name in each entry", what)
				continue
			}
			if in.From == "" {
				in.From = in.Name
			}
			add(item, in.Name, in.From)
			out[len(out)-1].Optional = out[len(out)-1].Optional || !required
			continue
		}
		if name := c.text(item, what); name != "" {
			add(item, name, name)
		}
	}
	if n.kind == nodeScalar {
		c.fail(n, "%s is %s: expected a list", what, n.kind)
	}
	return out
}

func (c *compiler) actionOutputs(n node, what string) []string {
	if n.kind == nodeMapping { // name: type
		var out []string
		for _, p := range n.pairs {
			out = append(out, p.key.text)
		}
		return out
	}
	var out []string
	for _, item := range n.items {
		if name, ok := item.find("name"); ok {
			item = name
		}
		if t := c.text(item, what); t != "" {
			out = append(out, t)
		}
	}
	if n.kind == nodeScalar {
		c.fail(n, "%s is %s: expected a list", what, n.kind)
	}
	return out
}

func (c *compiler) httpCall(n node, what string) *HTTPCall {
	h := &HTTPCall{Method: "POST"}
	c.fields(n, what, map[string]func(key, value node){
		"method": func(_, v node) {
			h.Method = strings.ToUpper(c.text(v, what+".method"))
			switch h.Method {
			case "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD":
			default:
				c.report(SeverityError, v, nearest(h.Method, []string{"GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"}), "%s.method: unknown method %q", what, h.Method)
			}
		},
		"url": func(_, v node) {
			h.URL = c.text(v, what+".url")
			if slot, found := slotInAuthority(h.URL); found {
				c.fail(v, "%s.url: {%s} would let the user choose the server: expected slots only after the host's /", what, slot)
			}
		},
		"headers": func(_, v node) { h.Headers = c.textMap(v, what+".headers") },
		"query":   func(_, v node) { h.Query = c.textMap(v, what+".query") },
		"body":    func(_, v node) { h.Body = v.plain() },
		"timeout": func(_, v node) { h.Timeout = c.duration(v, what+".timeout") },
		"retries": func(_, v node) {
			if r, ok := c.count(v, what+".retries", 0, 10); ok {
				h.Retries = r
			}
		},
	})
	if h.URL == "" && n.kind == nodeMapping {
		c.fail(n, "%s: expected a url", what)
	}
	return h
}

func (c *compiler) mcpCall(n node, what string) *MCPCall {
	m := &MCPCall{}
	c.fields(n, what, map[string]func(key, value node){
		"server":  func(_, v node) { m.Server = c.text(v, what+".server") },
		"tool":    func(_, v node) { m.Tool = c.text(v, what+".tool") },
		"outputs": func(_, v node) { m.Outputs = c.textMap(v, what+".outputs") },
	})
	if (m.Server == "" || m.Tool == "") && n.kind == nodeMapping {
		c.fail(n, "%s: expected a server and a tool", what)
	}
	return m
}

// toolUse reads the name of a tool, or {name: .., outputs: ..}.
func (c *compiler) toolUse(a *Action, kind string, n node) {
	what := "action " + a.Name + "." + kind
	if a.Tool != nil {
		c.fail(n, "%s: the action is carried out by a %s already", what, a.Tool.Kind)
		return
	}
	use := &ToolUse{Kind: kind}
	if n.kind == nodeMapping {
		c.fields(n, what, map[string]func(key, value node){
			"name":    func(_, v node) { use.Name = c.text(v, what+".name") },
			"outputs": func(_, v node) { use.Outputs = c.textMap(v, what+".outputs") },
		})
	} else {
		use.Name = c.text(n, what)
	}
	if use.Name == "" {
		c.fail(n, "%s: expected the name of a tool", what)
	}
	a.Tool = use
}
