package dialog

import (
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog/value"
)

// stepFields are the fields of each type of step, beside those that all have.
var stepFields = [][]string{
	stepCollect: {"slot", "message", "prompt", "validator", "validation_error_message"},
	stepSay:     {"message"},
	stepAction:  {"call", "map_outputs", "on_error"},
	stepBranch:  {"slot", "input", "evaluate", "cases"},
	stepConfirm: {"slot", "message", "on_confirm", "on_deny"},
	stepSet:     {"slots", "condition"},
	stepWhile:   {"condition", "do", "exit_to"},
	stepCall:    {"target"},
	stepLink:    {"target"},
	stepHandoff: {"message"},
}

func (c *compiler) readStep(d *flowDraft, n node) *rawStep {
	if n.kind != nodeMapping {
		c.fail(n, "flow %s: want a step with fields, got %s", d.f.name, n.kind)
		return nil
	}
	r := &rawStep{st: &step{typ: -1, next: endTarget, onError: endTarget, fallback: endTarget}, at: n}
	idNode, ok := n.find("step")
	if !ok {
		idNode, ok = n.find("id")
	}
	if typ, given := n.find("type"); given {
		name := c.text(typ, "flow "+d.f.name+": type")
		if i := slices.Index(stepTypeNames, name); i >= 0 {
			r.st.typ = stepType(i)
		} else {
			c.report(SeverityError, typ, nearest(name, stepTypeNames), "flow %s: unknown type of step %q: want one of %s", d.f.name, name, strings.Join(stepTypeNames, ", "))
		}
	} else {
		c.fail(n, "flow %s: the step has no type", d.f.name)
	}
	if !ok || c.text(idNode, "flow "+d.f.name+": step") == "" {
		c.fail(n, "flow %s: want the step's name in the field step", d.f.name)
		return nil
	}
	r.st.id = idNode.text
	r.at = idNode
	if r.st.typ < 0 {
		return r // so that it can be a target
	}
	c.stepFieldsOf(d, r, n)
	return r
}

func (c *compiler) stepFieldsOf(d *flowDraft, r *rawStep, n node) {
	st := r.st
	what := "step " + st.id
	var slotNode, message, callNode, outputs, evaluate, slotsNode, condition, do, target node
	all := map[string]func(key, value node){
		"slot":                     func(_, v node) { slotNode = v },
		"input":                    func(_, v node) { slotNode = v },
		"message":                  func(_, v node) { message = v },
		"prompt":                   func(_, v node) { message = v }, // older files
		"validator":                func(_, v node) { st.validators = c.validatorList(v, what+".validator") },
		"validation_error_message": func(_, v node) { st.invalid = c.message(v, what+".validation_error_message") },
		"call":                     func(_, v node) { callNode = v },
		"map_outputs":              func(_, v node) { outputs = v },
		"on_error":                 func(_, v node) { r.onError = v },
		"evaluate":                 func(_, v node) { evaluate = v },
		"cases":                    func(_, v node) { c.readCases(r, v) },
		"on_confirm":               func(_, v node) { r.onConfirm = v },
		"on_deny":                  func(_, v node) { r.onDeny = v },
		"slots":                    func(_, v node) { slotsNode = v },
		"condition":                func(_, v node) { condition = v },
		"do":                       func(_, v node) { do = v },
		"exit_to":                  func(_, v node) { r.exit = v },
		"target":                   func(_, v node) { target = v },
	}
	handlers := map[string]func(key, value node){
		"step": nil, "id": nil, "type": nil, "description": nil,
		"jump_to":  func(_, v node) { r.jump = v },
		"rephrase": func(_, v node) { st.wording = c.wordingOf(v, what+".rephrase") },
	}
	for _, f := range stepFields[st.typ] {
		handlers[f] = all[f]
	}
	c.fields(n, "flow "+d.f.name+", "+what+" ("+st.typ.String()+")", handlers)
	st.message = c.message(message, what+".message")
	if do.kind == nodeSequence {
		r.body = do.items
	}
	if st.typ == stepWhile && len(r.body) == 0 {
		c.fail(n, "%s: want a list of steps in the field do", what)
	}

	switch st.typ {
	case stepCollect:
		c.collectStep(d, r, n, slotNode)
	case stepSay:
		if !message.given() {
			c.fail(n, "%s: want a message", what)
		}
	case stepAction:
		c.actionStep(r, n, callNode, outputs)
	case stepBranch:
		c.branchStep(r, n, slotNode, evaluate)
	case stepConfirm:
		c.confirmStep(r, slotNode)
	case stepHandoff:
		c.handoffStep(n, what)
	case stepSet:
		c.setStep(r, n, slotsNode)
		if condition.given() {
			st.condition = c.expression(condition, what+".condition")
		}
	case stepWhile:
		if !condition.given() {
			c.fail(n, "%s: want a condition", what)
		} else {
			st.condition = c.expression(condition, what+".condition")
		}
	case stepCall, stepLink:
		r.targetFlow = target
		if !target.given() {
			c.fail(n, "%s: want the name of a flow in the field target", what)
		}
	}
	for _, e := range []*expr{st.evaluate, st.condition} {
		if e != nil {
			st.reads = append(st.reads, e.names...)
		}
	}
	st.reads = append(st.reads, st.message.names()...)
}

func (c *compiler) wordingOf(v node, what string) wording {
	if c.boolean(v, what, true) {
		return wordingFree
	}
	return wordingFixed
}

func (c *compiler) handoffStep(n node, what string) {
	if !c.a.settings.Handoff {
		c.fail(n, "%s: settings.handoff is false: nobody takes over", what)
	}
}

func (c *compiler) collectStep(d *flowDraft, r *rawStep, n, slotNode node) {
	st := r.st
	name := c.text(slotNode, "step "+st.id+".slot")
	if name == "" {
		c.fail(n, "step %s: want the name of a slot in the field slot", st.id)
		return
	}
	s := c.a.slotIndex[name]
	if s == nil {
		near := nearest(name, c.a.slotNames())
		if near == "" && len(st.message) > 0 && (c.lenient || len(c.a.slots) == 0) {
			c.warn(slotNode, "step %s: slot %q is not defined and taken as text", st.id, name)
			s = c.implicitSlot(name)
		} else {
			c.report(SeverityError, slotNode, near, "step %s: unknown slot %q", st.id, name)
			return
		}
	}
	if s.Type == value.TypeAny {
		c.fail(slotNode, "step %s: slot %q has the type any, which cannot be asked for", st.id, name)
	}
	st.slot = s
	st.writes = []string{name}
	if !d.f.usesSlot(s) {
		d.f.slots = append(d.f.slots, s)
	}
	if len(st.message) > 0 {
		var buf [40]value.Token
		for _, t := range st.message {
			for _, tok := range value.Tokenize(t.text, buf[:0]) {
				s.PromptWords[value.Stem(tok.Text)] = true
			}
		}
	}
}

func (c *compiler) actionStep(r *rawStep, n, callNode, outputs node) {
	st := r.st
	what := "step " + st.id
	name := c.text(callNode, what+".call")
	if name == "" {
		c.fail(n, "%s: want the name of an action in the field call", what)
		return
	}
	a := c.a.actionIndex[name]
	if a == nil {
		if len(c.a.actions) == 0 && !c.lenient {
			c.warn(callNode, "action %q is not declared: the program has to provide it", name)
		} else {
			c.undeclared(callNode, "action", name, c.actionNames(), "the program has to provide it")
		}
		a = &Action{Name: name}
		c.a.actionIndex[name] = a
		if c.lenient {
			c.a.actions = append(c.a.actions, a)
		}
	}
	st.action = a
	for _, in := range a.Inputs {
		st.reads = append(st.reads, in.From)
	}
	if outputs.given() && outputs.kind != nodeMapping {
		c.fail(outputs, "%s.map_outputs: want {variable: output}, got %s", what, outputs.kind)
		return
	}
	for _, p := range outputs.pairs {
		c.mapOutput(st, a, p)
	}
	if !outputs.given() {
		st.writes = append(st.writes, a.Outputs...)
		if len(a.Outputs) == 0 {
			c.open = true // whatever it returns becomes a variable
		}
	}
	for _, w := range st.writes {
		c.a.vars[w] = true
	}
}

// mapOutput reads one line of map_outputs: {variable: output}. Published Soni
// files have it the other way round too; what the action declares decides.
func (c *compiler) mapOutput(st *step, a *Action, p pair) {
	m := outputMap{variable: p.key.text, output: c.text(p.value, "step "+st.id+".map_outputs")}
	value, key := slices.Contains(a.Outputs, m.output), slices.Contains(a.Outputs, m.variable)
	switch {
	case !value && key:
		m.variable, m.output = m.output, m.variable
		c.warn(p.key, "step %s.map_outputs: read as {%s: %s}: %s declares the output %q", st.id, m.variable, m.output, a.Name, m.output)
	case !value && len(a.Outputs) > 0:
		c.report(SeverityWarning, p.value, nearest(m.output, a.Outputs), "step %s.map_outputs: action %s declares no output %q", st.id, a.Name, m.output)
	case len(a.Outputs) == 0:
		m.swapped = true
		c.a.vars[m.output] = true
	}
	st.outputs = append(st.outputs, m)
	st.writes = append(st.writes, m.variable)
}

func (c *compiler) readCases(r *rawStep, v node) {
	what := "step " + r.st.id + ".cases"
	if v.kind != nodeMapping {
		c.fail(v, "%s: want {value: target}, got %s", what, v.kind)
		return
	}
	seen := make(map[string]bool)
	for _, p := range v.pairs {
		if seen[p.key.text] {
			c.fail(p.key, "%s: %q stands twice", what, p.key.text)
			continue
		}
		seen[p.key.text] = true
		r.cases = append(r.cases, rawCase{p.key.text, p.value})
	}
	if len(v.pairs) == 0 {
		c.fail(v, "%s: want at least one case", what)
	}
}

func (c *compiler) branchStep(r *rawStep, n, slotNode, evaluate node) {
	st := r.st
	switch {
	case slotNode.given() && evaluate.given():
		c.fail(n, "step %s: want slot or evaluate, not both", st.id)
	case evaluate.given():
		st.evaluate = c.expression(evaluate, "step "+st.id+".evaluate")
	case slotNode.given():
		st.evaluate = c.expression(slotNode, "step "+st.id+".slot")
	default:
		c.fail(n, "step %s: want slot or evaluate", st.id)
	}
	if _, ok := n.find("cases"); !ok {
		c.fail(n, "step %s: want cases", st.id)
	}
}

func (c *compiler) confirmStep(r *rawStep, slotNode node) {
	st := r.st
	st.answer = c.text(slotNode, "step "+st.id+".slot")
	if st.answer == "" {
		return
	}
	if !identifier(st.answer) {
		c.fail(slotNode, "step %s.slot: want a name of letters, digits and underscores", st.id)
		return
	}
	if s := c.a.slotIndex[st.answer]; s != nil && s.Type != value.TypeBoolean && s.Type != value.TypeAny {
		if c.lenient {
			c.warn(slotNode, "step %s: the answer is not kept: slot %q holds a %s", st.id, st.answer, s.Type)
			st.answer = ""
			return
		}
		c.fail(slotNode, "step %s: slot keeps the answer and %q is a %s: want a boolean or a name of its own", st.id, st.answer, s.Type)
	}
	c.a.vars[st.answer] = true
	st.writes = []string{st.answer}
}

// setStep reads the values to set.
func (c *compiler) setStep(r *rawStep, n, slotsNode node) {
	st := r.st
	what := "step " + st.id + ".slots"
	if slotsNode.kind != nodeMapping || len(slotsNode.pairs) == 0 {
		c.fail(n, "step %s: want {name: value} in the field slots", st.id)
		return
	}
	for _, p := range slotsNode.pairs {
		name := p.key.text
		if !identifier(name) {
			c.fail(p.key, "%s: %q: want a name of letters, digits and underscores", what, name)
			continue
		}
		set := c.settingOf(name, p.value, what)
		if set.expr != nil {
			st.reads = append(st.reads, set.expr.names...)
		}
		if set.text != nil {
			st.reads = append(st.reads, set.text.names...)
		}
		st.sets = append(st.sets, set)
		st.writes = append(st.writes, name)
		c.a.vars[name] = true
	}
}

// settingOf reads one value to set: a literal, a text with {slots}, or an
// expression behind an equals sign.
func (c *compiler) settingOf(name string, v node, what string) setting {
	set := setting{name: name}
	switch {
	case v.kind == nodeScalar && strings.HasPrefix(strings.TrimSpace(v.text), "="):
		v.text = strings.TrimPrefix(strings.TrimSpace(v.text), "=")
		before := len(c.refs)
		set.expr = c.expression(v, what+"."+name)
		if to := c.a.slotIndex[name]; (to == nil || !to.Secret) && set.expr != nil && set.expr.root.op == "name" {
			for i := before; i < len(c.refs); i++ {
				c.refs[i].shows = true
			}
		}
	case v.kind == nodeScalar && strings.Contains(v.text, "{"):
		m := c.message(v, what+"."+name)
		if len(m) == 1 {
			if t := m[0]; len(t.parts) == 1 && t.parts[0].value != nil && t.parts[0].plural == nil && t.parts[0].format == "" {
				set.expr = t.parts[0].value // one value alone keeps its type
			} else {
				set.text = t
			}
		}
	default:
		set.value = v.plain()
	}
	return set
}
