package rasa

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
)

// Convert converts the slots, responses and flows of the files to an agent's file. It
// returns a warning, with its position, for everything that is not carried over. If one of
// the problems is an error (invalid YAML, or no flows), the file is nil. The caller must
// parse the result like any agent's file, since files that Rasa would refuse may give an
// invalid one.
func Convert(files []agent.File) ([]byte, []agent.Problem) {
	c := &converter{
		slots:     make(map[string]*slot),
		responses: make(map[string]response),
		actions:   make(map[string][]string),
		inputs:    make(map[[2]string]bool),
		told:      make(map[agent.Problem]bool),
	}
	for _, f := range files {
		n, problems := agent.ReadYAML(f)
		c.problems = append(c.problems, problems...)
		c.sections(n)
	}
	if len(c.flows) == 0 && !agent.HasErrors(c.problems) {
		c.problems = append(c.problems, agent.Problem{Severity: agent.SeverityError, Message: "the files have no flows: expected Rasa CALM's flows: in one of them"})
	}
	if agent.HasErrors(c.problems) {
		return nil, c.problems
	}
	var flows strings.Builder
	for _, f := range c.flows {
		c.flow(&flows, f.Key.Text(), f.Value)
	}
	for _, f := range c.patterns {
		c.pattern(&flows, f)
	}
	var b strings.Builder
	// A flow that ends without a message may have done nothing, so that "Done." would be wrong.
	b.WriteString("version: \"1.0\"\n\nmessages: " + mapping(append([]string{"done", quote("All right.")}, c.phrases()...)) + "\n")
	c.writeSlots(&b)
	c.writeActions(&b)
	b.WriteString("\nflows:\n")
	b.WriteString(flows.String())
	agent.SortProblems(c.problems, files)
	return []byte(b.String()), c.problems
}

// converter collects the content of the files until the result is written.
type converter struct {
	slots     map[string]*slot
	slotOrder []string
	responses map[string]response
	flows     []agent.Field
	patterns  []agent.Field       // conversation patterns
	actions   map[string][]string // by custom action: the slots that were asked for before it
	inputs    map[[2]string]bool  // the pairs of action and slot in actions
	problems  []agent.Problem
	told      map[agent.Problem]bool
}

// slot is a slot of the result.
type slot struct {
	at          agent.Node
	typ         string
	description string
	values      []string
	def         any
	asked       bool
	rules       string // rejections, as YAML
}

// response is an utter_ response.
type response struct {
	at    agent.Node
	texts []string
}

// lost reports something that is not carried over, once.
func (c *converter) lost(at agent.Node, format string, args ...any) {
	p := at.Warning(fmt.Sprintf(format, args...))
	if !c.told[p] {
		c.told[p] = true
		c.problems = append(c.problems, p)
	}
}

func (c *converter) sections(n agent.Node) {
	for _, f := range n.Fields() {
		switch key := f.Key.Text(); key {
		case "slots":
			for _, s := range f.Value.Fields() {
				c.readSlot(s)
			}
		case "responses":
			for _, r := range f.Value.Fields() {
				c.readResponse(r)
			}
		case "flows":
			for _, flow := range f.Value.Fields() {
				name := flow.Key.Text()
				switch {
				case strings.HasPrefix(name, "pattern_"):
					c.patterns = append(c.patterns, flow)
				case !agent.Identifier(name):
					c.lost(flow.Key, "flow %q: expected a name of letters, digits and underscores", name)
				case slices.ContainsFunc(c.flows, func(o agent.Field) bool { return o.Key.Text() == name }):
					c.lost(flow.Key, "flow %s is defined twice: the first is taken", name)
				default:
					c.flows = append(c.flows, flow)
				}
			}
		case "version", "actions":
		default:
			c.lost(f.Key, "%s is not carried over", key)
		}
	}
}

// types maps Rasa's types of slots to the agent's.
var types = map[string]string{"text": "string", "bool": "boolean", "float": "float", "categorical": "enum", "any": "any", "list": "any"}

func (c *converter) readSlot(f agent.Field) {
	name := f.Key.Text()
	if !agent.Identifier(name) || c.slots[name] != nil {
		c.lost(f.Key, "slot %q: expected a name of its own, of letters, digits and underscores", name)
		return
	}
	s := c.declare(name, f.Key)
	for _, d := range f.Value.Fields() {
		switch key := d.Key.Text(); key {
		case "type":
			if s.typ = types[d.Value.Text()]; s.typ == "" {
				s.typ = "any"
				c.lost(d.Value, "slot %s: the type %q is taken as any", name, d.Value.Text())
			} else if d.Value.Text() == "list" {
				c.lost(d.Value, "slot %s: a list is taken as any", name)
			}
		case "values":
			for _, v := range d.Value.Items() {
				if v.Text() != "" {
					s.values = append(s.values, v.Text())
				}
			}
		case "initial_value":
			if d.Value.Text() != "" {
				s.def = d.Value.Plain()
			} else if d.Value.Given() {
				c.lost(d.Key, "slot %s: initial_value: expected a single value", name)
			}
		case "mappings":
			for _, m := range d.Value.Items() {
				if t := m.Get("type").Text(); t != "" && t != "from_llm" {
					c.lost(m, "slot %s: the mapping %s is not carried over", name, t)
				}
			}
		case "validation":
			for _, v := range d.Value.Fields() {
				if v.Key.Text() == "rejections" {
					s.rules = c.rejections("slot "+name, v.Value)
				} else {
					c.lost(v.Key, "slot %s: validation.%s is not carried over", name, v.Key.Text())
				}
			}
		case "influence_conversation":
		default:
			c.lost(d.Key, "slot %s: %s is not carried over", name, key)
		}
	}
	if s.typ == "enum" && len(s.values) == 0 {
		s.typ = "string"
		c.lost(f.Key, "slot %s: categorical without values is taken as text", name)
	}
}

// declare returns the named slot. If it does not exist, declare adds it with the type any.
func (c *converter) declare(name string, at agent.Node) *slot {
	if c.slots[name] == nil {
		c.slots[name] = &slot{at: at, typ: "any"}
		c.slotOrder = append(c.slotOrder, name)
	}
	return c.slots[name]
}

// use declares the names that a message or a condition reads.
func (c *converter) use(at agent.Node, names []string) {
	for _, name := range names {
		if c.slots[name] == nil {
			c.lost(at, "%s is not a slot: an action has to set it", name)
			c.declare(name, at)
		}
	}
}

func (c *converter) readResponse(f agent.Field) {
	r := response{at: f.Key}
	name := f.Key.Text()
	for _, v := range f.Value.Items() {
		conditional := v.Get("condition").Given() || v.Get("channel").Given()
		for _, d := range v.Fields() {
			switch key := d.Key.Text(); key {
			case "text":
				text := strings.TrimSpace(d.Value.Text())
				if _, err := agent.CompileTemplate(text); err != nil {
					c.lost(d.Value, "response %s: braces are read as text: %v", name, err)
					text = strings.NewReplacer("{", `\{`, "}", `\}`).Replace(text)
				}
				if text != "" && !conditional {
					r.texts = append(r.texts, text)
				}
			case "condition", "channel":
				c.lost(d.Key, "response %s: a variation with %s is left out", name, key)
			default:
				c.lost(d.Key, "response %s: %s is not carried over", name, key)
			}
		}
	}
	if _, twice := c.responses[name]; twice {
		c.lost(f.Key, "response %s is defined twice: the first is taken", name)
		return
	}
	c.responses[name] = r
}

// texts returns the texts of a response, or nil if there is no such response.
func (c *converter) texts(at agent.Node, name string) []string {
	r, ok := c.responses[name]
	if !ok || len(r.texts) == 0 {
		c.lost(at, "response %s has no text", name)
	}
	for _, text := range r.texts {
		if t, err := agent.CompileTemplate(text); err == nil {
			c.use(r.at, t.Names)
		}
	}
	return r.texts
}

func (c *converter) writeSlots(b *strings.Builder) {
	prompts := make(map[string][]string)
	for i := 0; i < len(c.slotOrder); i++ { // a prompt may declare more
		if name := c.slotOrder[i]; c.slots[name].asked {
			prompts[name] = c.texts(c.slots[name].at, "utter_ask_"+name)
		}
	}
	if len(c.slotOrder) > 0 {
		b.WriteString("\nslots:\n")
	}
	for _, name := range c.slotOrder {
		s := c.slots[name]
		fields := []string{"type", s.typ}
		if s.typ == "enum" {
			fields = append(fields, "values", quoteList(s.values))
		}
		if s.description != "" {
			fields = append(fields, "description", quote(s.description))
		}
		if s.def != nil {
			fields = append(fields, "default", quoteAny(s.def))
		}
		if s.rules != "" {
			fields = append(fields, "rejections", s.rules)
		}
		if len(prompts[name]) > 0 {
			fields = append(fields, "prompt", quoteList(prompts[name]))
		}
		fmt.Fprintf(b, "  %s: %s\n", quote(name), mapping(fields))
	}
}

func (c *converter) writeActions(b *strings.Builder) {
	names := slices.Sorted(maps.Keys(c.actions))
	if len(names) > 0 {
		b.WriteString("\nactions:\n")
	}
	for _, name := range names {
		words := strings.ReplaceAll(strings.TrimPrefix(name, "action_"), "_", " ")
		fields := []string{"description", quote(words)}
		if inputs := c.actions[name]; len(inputs) > 0 {
			fields = append(fields, "optional_inputs", quoteList(inputs))
		}
		fmt.Fprintf(b, "  %s: %s\n", quote(name), mapping(fields))
	}
}
