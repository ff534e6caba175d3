package rasa

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
)

const (
	end  = "__end__"
	next = "continue"
)

// flowWriter writes the steps of one flow.
type flowWriter struct {
	*converter
	b     *strings.Builder
	flow  string
	ids   map[string]bool // names of steps
	used  map[string]int  // by name: number of steps that wanted it
	asked []string        // slots that were asked for so far

	refused   string // name of the step that refuses, or "" if no step leads there
	inPattern bool   // whether the flow is a conversation pattern
}

func (c *converter) flow(b *strings.Builder, name string, n agent.Node) {
	w := &flowWriter{converter: c, b: b, flow: name, ids: make(map[string]bool), used: make(map[string]int), inPattern: strings.HasPrefix(name, "pattern_")}
	description := strings.TrimSuffix(strings.TrimSpace(n.Get("description").Text()), ".")
	if description == "" {
		description = strings.ReplaceAll(name, "_", " ")
	}
	fmt.Fprintf(b, "  %s:\n    description: %s\n", quote(name), quote(description))
	w.reserve(n.Get("steps"))
	for _, f := range n.Fields() {
		switch key := f.Key.Text(); key {
		case "description", "steps":
		case "if":
			w.guard(f)
		case "persisted_slots":
			w.kept(f, n.Get("steps"))
		default:
			c.lost(f.Key, "flow %s: %s is not carried over", name, key)
		}
	}
	b.WriteString("    steps:\n")
	if len(n.Get("steps").Items()) == 0 {
		c.lost(n, "flow %s has no steps", name)
		w.nothing(w.id("nothing"), end)
	}
	w.steps(n.Get("steps"), "")
	if w.refused != "" {
		w.step(w.refused, "say", end, "message", quote("I'm sorry, I can't do that."))
	}
}

// refuse returns the name of the step that refuses a request, which is written at the end.
func (w *flowWriter) refuse() string {
	if w.refused == "" {
		w.refused = w.id("refused")
	}
	return w.refused
}

// guard writes the condition of a flow. If it cannot be expressed, users cannot start the
// flow.
func (w *flowWriter) guard(f agent.Field) {
	expr, names, ok := condition(f.Value.Text())
	if !ok {
		w.lost(f.Value, "flow %s: the condition %q is not carried over: only another flow starts it", w.flow, f.Value.Text())
		expr = "false"
	}
	w.use(f.Value, names)
	fmt.Fprintf(w.b, "    if: %s\n", quote(expr))
}

// kept writes the slots that outlive a flow. The flow's steps must set them.
func (w *flowWriter) kept(f agent.Field, steps agent.Node) {
	set := settings(steps)
	var names []string
	for _, n := range f.Value.Items() {
		if name := n.Text(); slices.Contains(set, name) {
			names = append(names, name)
		} else {
			w.lost(n, "flow %s: persisted_slots: no step sets %q", w.flow, name)
		}
	}
	if len(names) > 0 {
		fmt.Fprintf(w.b, "    persisted_slots: %s\n", quoteList(names))
	}
}

// settings returns the slots that steps collect or set.
func settings(list agent.Node) (names []string) {
	for _, s := range list.Items() {
		if name := s.Get("collect").Text(); agent.Identifier(name) {
			names = append(names, name)
		}
		for _, set := range append(s.Get("set_slots").Items(), s.Get("set_slots")) {
			for _, f := range set.Fields() {
				names = append(names, f.Key.Text())
			}
		}
		for _, n := range s.Get("next").Items() {
			names = append(names, settings(n.Get("then"))...)
			names = append(names, settings(n.Get("else"))...)
		}
	}
	return names
}

// rejections returns rules that reject values, as YAML, or "" if there are none. It omits
// rules whose condition cannot be expressed.
func (c *converter) rejections(what string, n agent.Node) string {
	var rules []string
	for _, r := range n.Items() {
		cond := r.Get("if")
		expr, names, ok := condition(cond.Text())
		if !ok {
			c.lost(cond, "%s: the rejection %q is not carried over: such values are taken", what, cond.Text())
			continue
		}
		c.use(cond, names)
		fields := []string{"if", quote(expr)}
		if u := r.Get("utter"); u.Text() != "" {
			if texts := c.texts(u, u.Text()); len(texts) > 0 {
				fields = append(fields, "message", quoteList(texts))
			}
		}
		rules = append(rules, mapping(fields))
	}
	if len(rules) == 0 {
		return ""
	}
	return "[" + strings.Join(rules, ", ") + "]"
}

// reserve records the names of the steps, so that no name is used twice.
func (w *flowWriter) reserve(list agent.Node) {
	for _, s := range list.Items() {
		if id := s.Get("id").Text(); id != "" {
			w.ids[id] = true
		}
		for _, n := range s.Get("next").Items() {
			w.reserve(n.Get("then"))
			w.reserve(n.Get("else"))
		}
	}
}

// id returns a new name for a step.
func (w *flowWriter) id(what string) string {
	id := what
	for w.ids[id] {
		w.used[what]++
		id = fmt.Sprintf("%s_%d", what, w.used[what]+1)
	}
	w.ids[id] = true
	return id
}

// step writes a step. If the target of its jump is the following step, it omits the jump.
func (w *flowWriter) step(id, typ, jump string, fields ...string) {
	fields = append([]string{"step", quote(id), "type", typ}, fields...)
	if jump != next {
		fields = append(fields, "jump_to", quote(jump))
	}
	w.b.WriteString("      - " + mapping(fields) + "\n")
}

// nothing writes a step that does nothing but jump.
func (w *flowWriter) nothing(id, jump string) {
	w.step(id, "branch", next, "evaluate", quote("true"), "cases", mapping([]string{"default", quote(jump)}))
}

// branch writes a step that goes to one of two targets. If its condition cannot be
// expressed, the step goes to a refusal, since what depends on the condition must not
// happen. Both targets stay in the flow, for an author who adds the condition.
func (w *flowWriter) branch(id string, cond agent.Node, then, otherwise string) {
	expr, names, ok := condition(cond.Text())
	if !ok {
		w.lost(cond, "flow %s: the condition %q is not carried over: the flow refuses there", w.flow, cond.Text())
		w.step(id, "branch", next, "evaluate", quote("false"), "cases", mapping([]string{`"false"`, quote(w.refuse()), `"true"`, quote(then), "default", quote(otherwise)}))
		return
	}
	w.use(cond, names)
	w.step(id, "branch", next, "evaluate", quote(expr), "cases", mapping([]string{`"true"`, quote(then), "default", quote(otherwise)}))
}

// steps writes a list of steps, after which the flow ends. If first is not "", it is the
// name of the first step.
func (w *flowWriter) steps(list agent.Node, first string) {
	items := list.Items()
	for i, s := range items {
		id := first
		if i > 0 || id == "" {
			id = w.name(s)
		}
		n := s.Get("next")
		jump := next
		switch {
		case n.IsList(), n.Text() == "" && i < len(items)-1:
		case n.Text() == "", strings.EqualFold(n.Text(), "end"):
			jump = end
		default:
			jump = w.target(n)
		}
		w.one(id, s, jump)
		if n.IsList() {
			w.branches(id, n)
		}
	}
}

// target returns the step that a next names.
func (w *flowWriter) target(n agent.Node) string {
	if strings.EqualFold(n.Text(), "end") {
		return end
	}
	if !w.ids[n.Text()] {
		w.lost(n, "flow %s: the step %q is not there: the flow ends", w.flow, n.Text())
		return end
	}
	return n.Text()
}

// kinds are the keys that determine the type of a step.
var kinds = []string{"collect", "action", "set_slots", "link", "call", "noop"}

// name returns the name of a step: its own or a new one.
func (w *flowWriter) name(s agent.Node) string {
	if id := s.Get("id").Text(); id != "" {
		return id
	}
	kind := kindOf(s)
	of := s.Get(kind).Text()
	switch {
	case !agent.Identifier(of):
		return w.id(kind)
	case kind == "action":
		return w.id(of)
	case kind == "collect":
		return w.id("ask_" + of)
	default:
		return w.id(kind + "_" + of)
	}
}

func kindOf(s agent.Node) string {
	for _, k := range kinds {
		if s.Get(k).Given() {
			return k
		}
	}
	return "go_on"
}

// branches writes the next of a step that has conditions: a branch for each if, followed by
// the steps inside.
func (w *flowWriter) branches(id string, n agent.Node) {
	type block struct {
		id   string
		list agent.Node
	}
	var blocks []block
	to := func(v agent.Node) string {
		items := v.Items()
		switch {
		case !v.IsList():
			return w.target(v)
		case len(items) == 0:
			return end
		}
		blocks = append(blocks, block{w.name(items[0]), v})
		return blocks[len(blocks)-1].id
	}
	alternatives := n.Items()
	for i, alt := range alternatives {
		otherwise := next
		if i == len(alternatives)-1 {
			otherwise = end
		} else if last := alternatives[i+1].Get("else"); last.Given() {
			otherwise = to(last)
		}
		switch {
		case alt.Get("if").Given():
			w.branch(w.id(id+"_if"), alt.Get("if"), to(alt.Get("then")), otherwise)
		case i == 0 || !alt.Get("else").Given():
			w.lost(alt, "flow %s: expected if and then: the flow ends", w.flow)
			w.nothing(w.id(id+"_if"), end)
		}
		if otherwise != next {
			break
		}
	}
	asked := slices.Clone(w.asked)
	for _, b := range blocks {
		w.asked = slices.Clone(asked)
		w.steps(b.list, b.id)
	}
	w.asked = asked
}

// one writes one step.
func (w *flowWriter) one(id string, s agent.Node, jump string) {
	kind := kindOf(s)
	known := []string{"id", "next", kind}
	v := s.Get(kind)
	name := v.Text()
	switch {
	case kind == "collect" && agent.Identifier(name):
		known = append(known, "utter", "description", "rejections", "ask_before_filling")
		w.collect(id, name, s, jump)
	case kind == "action" && agent.Identifier(name):
		w.action(id, name, v, jump)
	case kind == "set_slots":
		w.set(id, v, jump)
	case (kind == "link" || kind == "call") && slices.ContainsFunc(w.flows, func(f agent.Field) bool { return f.Key.Text() == name }):
		w.step(id, kind, jump, "target", quote(name))
	default:
		if kind != "noop" && kind != "go_on" {
			w.lost(v, "flow %s: %s %q: left out", w.flow, kind, name)
		}
		w.nothing(id, jump)
	}
	for _, f := range s.Fields() {
		if key := f.Key.Text(); !slices.Contains(known, key) {
			w.lost(f.Key, "flow %s, step %s: %s is not carried over", w.flow, id, key)
		}
	}
}

// action writes an action: an engine step, a message, or an action of the agent.
func (w *flowWriter) action(id, name string, at agent.Node, jump string) {
	switch {
	case w.inPattern && acts[name] != "":
		w.step(id, "engine", jump, "do", acts[name])
		return
	case phrases[name] != "" && !w.says(name):
		w.step(id, "say", jump, "phrase", phrases[name])
		return
	case strings.HasPrefix(name, "utter_"):
		if texts := w.texts(at, name); len(texts) > 0 {
			w.step(id, "say", jump, "message", quoteList(texts))
		} else {
			w.nothing(id, jump)
		}
		return
	}
	if _, there := w.actions[name]; !there {
		w.lost(at, "action %s: its code is not carried over: another file may give it http, mcp or command", name)
		w.actions[name] = nil
	}
	for _, slot := range w.asked {
		if input := [2]string{name, slot}; !w.inputs[input] {
			w.inputs[input] = true
			w.actions[name] = append(w.actions[name], slot)
		}
	}
	w.step(id, "action", jump, "call", quote(name))
}

// collect writes a question. A boolean with ask_before_filling is a confirmation.
func (w *flowWriter) collect(id, name string, s agent.Node, jump string) {
	ask := s.Get("collect")
	slot := w.declare(name, ask)
	if d := s.Get("description").Text(); slot.description == "" {
		slot.description = d
	}
	if slot.typ == "any" {
		w.lost(ask, "slot %s is asked for and taken as text", name)
		slot.typ = "string"
	}
	var texts []string
	if u := s.Get("utter").Text(); u != "" {
		texts = w.texts(s.Get("utter"), u)
	}
	first := strings.EqualFold(s.Get("ask_before_filling").Text(), "true")
	if slot.typ == "boolean" && first && !s.Get("rejections").Given() {
		if len(texts) == 0 {
			texts = w.texts(ask, "utter_ask_"+name)
		}
		if len(texts) > 0 {
			w.step(id, "confirm", jump, "slot", quote(name), "message", quoteList(texts), "on_deny", quote(jump))
			return
		}
	}
	slot.asked = slot.asked || len(texts) == 0
	if !slices.Contains(w.asked, name) {
		w.asked = append(w.asked, name)
	}
	fields := []string{"slot", quote(name)}
	if len(texts) > 0 {
		fields = append(fields, "message", quoteList(texts))
	}
	if rules := w.rejections("flow "+w.flow+", step "+id, s.Get("rejections")); rules != "" {
		fields = append(fields, "rejections", rules)
	}
	if first {
		fields = append(fields, "ask_before_filling", "true")
	}
	w.step(id, "collect", jump, fields...)
}

// set writes the values of a set step.
func (w *flowWriter) set(id string, v agent.Node, jump string) {
	var sets []string
	for _, item := range append(v.Items(), v) {
		for _, f := range item.Fields() {
			text := f.Value.Text()
			if !agent.Identifier(f.Key.Text()) || f.Value.Given() && text == "" || strings.ContainsAny(text, "{=") {
				w.lost(f.Key, "flow %s, step %s: %s: expected a single value", w.flow, id, f.Key.Text())
				continue
			}
			w.declare(f.Key.Text(), f.Key)
			sets = append(sets, quote(f.Key.Text()), quoteAny(f.Value.Plain()))
		}
	}
	if len(sets) == 0 {
		w.nothing(id, jump)
		return
	}
	w.step(id, "set", jump, "slots", mapping(sets))
}
