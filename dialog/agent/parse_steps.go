package agent

import (
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog/value"
)

// stepFields are the fields of each type of step, except those that all types have.
var stepFields = [][]string{
	StepCollect: {"slot", "message", "prompt", "validator", "validation_error_message", "condition", "suggest", "rejections", "ask_before_filling"},
	StepSay:     {"message", "phrase", "number"},
	StepAction:  {"call", "map_outputs", "on_error"},
	StepBranch:  {"slot", "input", "evaluate", "cases"},
	StepConfirm: {"slot", "message", "on_confirm", "on_deny"},
	StepSet:     {"slots", "condition"},
	StepWhile:   {"condition", "do", "exit_to"},
	StepCall:    {"target"},
	StepLink:    {"target"},
	StepHandoff: {"message"},
	StepEngine:  {"do"},
}

func (c *compiler) readStep(d *flowDraft, n node) *rawStep {
	if n.kind != nodeMapping {
		c.fail(n, "flow %s: a step is %s: expected a step with fields", d.f.Name, n.kind)
		return nil
	}
	r := &rawStep{st: &Step{Type: -1, Next: EndTarget, OnError: EndTarget, Fallback: EndTarget}, at: n}
	idNode, ok := n.find("step")
	if !ok {
		idNode, ok = n.find("id")
	}
	if typ, given := n.find("type"); given {
		name := c.text(typ, "flow "+d.f.Name+": type")
		switch name {
		case "respond": // Soni's name for say
			name = StepSay.String()
		case "end":
			name, r.ends = StepSay.String(), true
			r.jump = node{file: typ.file, line: typ.line, column: typ.column, kind: nodeScalar, text: "__end__"}
		}
		known := stepTypeNames
		if !d.f.Builtin {
			known = known[:StepEngine]
		}
		if i := slices.Index(known, name); i >= 0 {
			r.st.Type = stepType(i)
		} else {
			c.report(SeverityError, typ, nearest(name, known), "flow %s: unknown type of step %q: expected one of %s", d.f.Name, name, strings.Join(known, ", "))
		}
	} else {
		c.fail(n, "flow %s: the step has no type", d.f.Name)
	}
	if !ok || c.text(idNode, "flow "+d.f.Name+": step") == "" {
		c.fail(n, "flow %s: expected the step's name in the field step", d.f.Name)
		return nil
	}
	r.st.ID = idNode.text
	r.at = idNode
	if r.st.Type < 0 {
		return r // it can still be a target
	}
	c.stepFieldsOf(d, r, n)
	return r
}

func (c *compiler) stepFieldsOf(d *flowDraft, r *rawStep, n node) {
	st := r.st
	what := "step " + st.ID
	var slotNode, message, callNode, outputs, evaluate, slotsNode, condition, suggest, do, target, phrase, number node
	all := map[string]func(key, value node){
		"slot":                     func(_, v node) { slotNode = v },
		"input":                    func(_, v node) { slotNode = v },
		"message":                  func(_, v node) { message = v },
		"prompt":                   func(_, v node) { message = v }, // older files
		"validator":                func(_, v node) { st.Validators = c.validatorList(v, what+".validator") },
		"validation_error_message": func(_, v node) { st.Invalid = c.message(v, what+".validation_error_message") },
		"rejections":               func(_, v node) { st.Rejections = c.rejections(v, what) },
		"ask_before_filling":       func(_, v node) { st.AskFirst = c.boolean(v, what+".ask_before_filling", false) },
		"call":                     func(_, v node) { callNode = v },
		"map_outputs":              func(_, v node) { outputs = v },
		"on_error":                 func(_, v node) { r.onError = v },
		"evaluate":                 func(_, v node) { evaluate = v },
		"cases":                    func(_, v node) { c.readCases(r, v) },
		"on_confirm":               func(_, v node) { r.onConfirm = v },
		"on_deny":                  func(_, v node) { r.onDeny = v },
		"slots":                    func(_, v node) { slotsNode = v },
		"condition":                func(_, v node) { condition = v },
		"suggest":                  func(_, v node) { suggest = v },
		"do":                       func(_, v node) { do = v },
		"exit_to":                  func(_, v node) { r.exit = v },
		"target":                   func(_, v node) { target = v },
		"phrase":                   func(_, v node) { phrase = v },
		"number":                   func(_, v node) { number = v },
	}
	handlers := map[string]func(key, value node){
		"step": nil, "id": nil, "type": nil, "description": nil,
		"jump_to":  func(_, v node) { r.jump = v },
		"rephrase": func(_, v node) { st.Wording = c.wordingOf(v, what+".rephrase") },
	}
	for _, f := range stepFields[st.Type] {
		handlers[f] = all[f]
	}
	c.fields(n, "flow "+d.f.Name+", "+what+" ("+st.Type.String()+")", handlers)
	st.Message = c.message(message, what+".message")
	if do.kind == nodeSequence {
		r.body = do.items
	}
	if st.Type == StepWhile && len(r.body) == 0 {
		c.fail(n, "%s: expected a list of steps in the field do", what)
	}

	st.Condition = c.expressionIf(condition, what+".condition")
	st.Suggest = c.expressionIf(suggest, what+".suggest")
	switch st.Type {
	case StepCollect:
		c.collectStep(d, r, n, slotNode)
	case StepSay:
		c.sayStep(r, n, message, phrase, number)
	case StepEngine:
		c.engineStep(st, n, do)
	case StepAction:
		c.actionStep(r, n, callNode, outputs)
	case StepBranch:
		c.branchStep(r, n, slotNode, evaluate)
	case StepConfirm:
		c.confirmStep(r, slotNode)
	case StepHandoff:
		c.handoffStep(n, what)
	case StepSet:
		c.setStep(r, n, slotsNode)
	case StepWhile:
		if !condition.given() {
			c.fail(n, "%s: expected a condition", what)
		}
	case StepCall, StepLink:
		r.targetFlow = target
		if !target.given() {
			c.fail(n, "%s: expected the name of a flow in the field target", what)
		}
	}
	st.learnReads()
}

// learnReads records the slots and variables that the step's expressions and message read.
func (s *Step) learnReads() {
	for _, e := range []*expr{s.Evaluate, s.Condition, s.Suggest} {
		if e != nil {
			s.reads = append(s.reads, e.names...)
		}
	}
	s.reads = append(s.reads, s.Message.names()...)
}

// sayStep checks that a step has a message or a phrase of the engine.
func (c *compiler) sayStep(r *rawStep, n, message, phrase, number node) {
	what := "step " + r.st.ID
	switch {
	case message.given() && phrase.given():
		c.fail(n, "%s: expected a message or a phrase, not both", what)
	case phrase.given():
		c.phraseStep(r.st, phrase)
	case !message.given() && !r.ends:
		c.fail(n, "%s: expected a message", what)
	}
	r.st.Number = c.expressionIf(number, what+".number")
}

func (c *compiler) wordingOf(v node, what string) Wording {
	if c.boolean(v, what, true) {
		return wordingFree
	}
	return WordingFixed
}

func (c *compiler) handoffStep(n node, what string) {
	if !c.a.Settings.Handoff {
		c.fail(n, "%s: settings.handoff is false, so nobody takes over", what)
	}
}

func (c *compiler) collectStep(d *flowDraft, r *rawStep, n, slotNode node) {
	st := r.st
	name := c.text(slotNode, "step "+st.ID+".slot")
	if name == "" {
		c.fail(n, "step %s: expected the name of a slot in the field slot", st.ID)
		return
	}
	s := c.a.SlotIndex[name]
	if s == nil {
		near := nearest(name, c.a.SlotNames())
		if near == "" && len(st.Message) > 0 && (c.lenient || len(c.a.Slots) == 0) {
			c.warn(slotNode, "step %s: slot %q is not defined and taken as text", st.ID, name)
			s = c.implicitSlot(name)
		} else {
			c.report(SeverityError, slotNode, near, "step %s: unknown slot %q", st.ID, name)
			return
		}
	}
	if s.Type == value.TypeAny {
		c.fail(slotNode, "step %s: slot %q has the type any, which cannot be asked for", st.ID, name)
	}
	st.Slot = s
	st.Writes = []string{name}
	if !d.f.UsesSlot(s) {
		d.f.Slots = append(d.f.Slots, s)
	}
	if len(st.Message) > 0 {
		var buf [40]value.Token
		for _, t := range st.Message {
			for _, tok := range value.Tokenize(t.text, buf[:0]) {
				s.PromptWords[value.Stem(tok.Text)] = true
			}
		}
	}
}

func (c *compiler) actionStep(r *rawStep, n, callNode, outputs node) {
	st := r.st
	what := "step " + st.ID
	name := c.text(callNode, what+".call")
	if name == "" {
		c.fail(n, "%s: expected the name of an action in the field call", what)
		return
	}
	a := c.a.ActionIndex[name]
	if a == nil {
		if len(c.a.Actions) == 0 && !c.lenient {
			c.warn(callNode, "action %q is not declared: the program has to provide it", name)
		} else {
			c.undeclared(callNode, "action", name, c.actionNames(), "the program has to provide it")
		}
		a = &Action{Name: name}
		c.a.ActionIndex[name] = a
		if c.lenient {
			c.a.Actions = append(c.a.Actions, a)
		}
	}
	st.Action = a
	for _, in := range a.Inputs {
		st.reads = append(st.reads, in.From)
	}
	if outputs.given() && outputs.kind != nodeMapping {
		c.fail(outputs, "%s.map_outputs is %s: expected {variable: output}", what, outputs.kind)
		return
	}
	for _, p := range outputs.pairs {
		c.mapOutput(st, a, p)
	}
	if !outputs.given() {
		st.Writes = append(st.Writes, a.Outputs...)
		if len(a.Outputs) == 0 {
			c.open = true // all its outputs become variables
		}
	}
	for _, w := range st.Writes {
		c.a.Vars[w] = true
	}
}

// mapOutput reads an entry of map_outputs: {variable: output}. Some published files of Soni
// have {output: variable}; the outputs that the action declares tell which it is.
func (c *compiler) mapOutput(st *Step, a *Action, p pair) {
	m := outputMap{Variable: p.key.text, Output: c.text(p.value, "step "+st.ID+".map_outputs")}
	value, key := slices.Contains(a.Outputs, m.Output), slices.Contains(a.Outputs, m.Variable)
	switch {
	case !value && key:
		m.Variable, m.Output = m.Output, m.Variable
		c.warn(p.key, "step %s.map_outputs: read as {%s: %s}: %s declares the output %q", st.ID, m.Variable, m.Output, a.Name, m.Output)
	case !value && len(a.Outputs) > 0:
		c.report(SeverityWarning, p.value, nearest(m.Output, a.Outputs), "step %s.map_outputs: action %s declares no output %q", st.ID, a.Name, m.Output)
	case len(a.Outputs) == 0:
		m.Swapped = true
		c.a.Vars[m.Output] = true
	}
	st.Outputs = append(st.Outputs, m)
	st.Writes = append(st.Writes, m.Variable)
}

func (c *compiler) readCases(r *rawStep, v node) {
	what := "step " + r.st.ID + ".cases"
	if v.kind != nodeMapping {
		c.fail(v, "%s is %s: expected {value: target}", what, v.kind)
		return
	}
	seen := make(map[string]bool)
	for _, p := range v.pairs {
		if seen[p.key.text] {
			c.fail(p.key, "%s: %q is given twice", what, p.key.text)
			continue
		}
		seen[p.key.text] = true
		r.cases = append(r.cases, rawCase{p.key.text, p.value})
	}
	if len(v.pairs) == 0 {
		c.fail(v, "%s: expected at least one case", what)
	}
}

func (c *compiler) branchStep(r *rawStep, n, slotNode, evaluate node) {
	st := r.st
	switch {
	case slotNode.given() && evaluate.given():
		c.fail(n, "step %s: expected slot or evaluate, not both", st.ID)
	case evaluate.given():
		st.Evaluate = c.expression(evaluate, "step "+st.ID+".evaluate")
	case slotNode.given():
		st.Evaluate = c.expression(slotNode, "step "+st.ID+".slot")
	default:
		c.fail(n, "step %s: expected slot or evaluate", st.ID)
	}
	if _, ok := n.find("cases"); !ok {
		c.fail(n, "step %s: expected cases", st.ID)
	}
}

func (c *compiler) confirmStep(r *rawStep, slotNode node) {
	st := r.st
	st.Answer = c.text(slotNode, "step "+st.ID+".slot")
	if st.Answer == "" {
		return
	}
	if !Identifier(st.Answer) {
		c.fail(slotNode, "step %s.slot: expected a name of letters, digits and underscores", st.ID)
		return
	}
	if s := c.a.SlotIndex[st.Answer]; s != nil && s.Type != value.TypeBoolean && s.Type != value.TypeAny {
		if c.lenient {
			c.warn(slotNode, "step %s: the answer is not kept: slot %q holds a %s", st.ID, st.Answer, s.Type)
			st.Answer = ""
			return
		}
		c.fail(slotNode, "step %s: slot holds the answer, but %q is a %s: expected a boolean or another name", st.ID, st.Answer, s.Type)
	}
	c.a.Vars[st.Answer] = true
	st.Writes = []string{st.Answer}
}

// setStep reads the values to set.
func (c *compiler) setStep(r *rawStep, n, slotsNode node) {
	st := r.st
	what := "step " + st.ID + ".slots"
	if slotsNode.kind != nodeMapping || len(slotsNode.pairs) == 0 {
		c.fail(n, "step %s: expected {name: value} in the field slots", st.ID)
		return
	}
	for _, p := range slotsNode.pairs {
		name := p.key.text
		if !Identifier(name) {
			c.fail(p.key, "%s: %q: expected a name of letters, digits and underscores", what, name)
			continue
		}
		set := c.settingOf(name, p.value, what)
		if set.Expression != nil {
			st.reads = append(st.reads, set.Expression.names...)
		}
		if set.Text != nil {
			st.reads = append(st.reads, set.Text.Names...)
		}
		st.Sets = append(st.Sets, set)
		st.Writes = append(st.Writes, name)
		c.a.Vars[name] = true
	}
}

// settingOf reads a value to set: a literal, a text with {slots}, or an expression after an
// equals sign.
func (c *compiler) settingOf(name string, v node, what string) Setting {
	set := Setting{Name: name}
	switch {
	case v.kind == nodeScalar && strings.HasPrefix(strings.TrimSpace(v.text), "="):
		v.text = strings.TrimPrefix(strings.TrimSpace(v.text), "=")
		before := len(c.refs)
		set.Expression = c.expression(v, what+"."+name)
		if to := c.a.SlotIndex[name]; (to == nil || !to.Secret) && set.Expression != nil && set.Expression.root.op == "name" {
			for i := before; i < len(c.refs); i++ {
				c.refs[i].shows = true
			}
		}
	case v.kind == nodeScalar && strings.Contains(v.text, "{"):
		m := c.message(v, what+"."+name)
		if len(m) == 1 {
			if t := m[0]; len(t.parts) == 1 && t.parts[0].value != nil && t.parts[0].plural == nil && t.parts[0].format == "" {
				set.Expression = t.parts[0].value // a single value keeps its type
			} else {
				set.Text = t
			}
		}
	default:
		set.Value = v.plain()
	}
	return set
}
