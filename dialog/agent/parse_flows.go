package agent

import (
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog/value"
)

// rawStep is a step whose targets are not resolved yet.
type rawStep struct {
	st    *Step
	at    node
	owned bool // in the body of a while

	jump       node
	ends       bool // whether the step ends the flow; it needs no message then
	cases      []rawCase
	onConfirm  node
	onDeny     node
	onError    node
	exit       node
	body       []node // names of steps
	targetFlow node
}

type rawCase struct {
	pattern string
	target  node
}

// flowDraft is a flow whose steps are being read.
type flowDraft struct {
	f      *Flow
	key    node
	def    node
	steps  node
	raws   []*rawStep
	intent []node
	next   node // name of the flow to propose
	keeps  node // names of slots whose values outlive the flow

	declared declaredFlow

	triggered bool // whether it has triggers, valid or not
}

// maxFlows bounds the number of flows, since the understanding is trained on all of them.
const maxFlows = 300

// flowNames creates drafts of all flows, so that steps may refer to any of them. It returns
// those that replace built-in flows as own.
func (c *compiler) flowNames(sections []section) (drafts, own []*flowDraft) {
	at := make(map[string]node)
	for _, s := range sections {
		if s.value.kind != nodeMapping {
			if s.value.given() {
				c.fail(s.value, "flows is %s: expected a mapping of names", s.value.kind)
			}
			continue
		}
		for _, p := range s.value.pairs {
			name := p.key.text
			if first, there := at[name]; there {
				c.fail(p.key, "flow %q is defined twice; first in %s, line %d", name, first.file, first.line)
				continue
			}
			at[name] = p.key
			switch {
			case len(c.a.Flows) == maxFlows:
				c.fail(p.key, "too many flows: expected at most %d in one agent", maxFlows)
				return drafts, own
			case !Identifier(name) || name == NoFlow:
				c.fail(p.key, "flow %q: expected a name of letters, digits and underscores, other than %q", name, NoFlow)
			case isBuiltin(name):
				if d := c.builtin(p); d != nil {
					own = append(own, d)
				}
			default:
				d := &flowDraft{f: c.newFlow(name), key: p.key, def: p.value}
				c.a.Flows = append(c.a.Flows, d.f)
				c.a.FlowIndex[name] = d.f
				drafts = append(drafts, d)
			}
		}
	}
	return drafts, own
}

// defineFlows reads the flows.
func (c *compiler) defineFlows(sections []section) {
	drafts, own := c.flowNames(sections)
	c.readBuiltins(own)
	for _, d := range drafts {
		c.flowFields(d)
	}
	for _, d := range drafts {
		c.linkSteps(d)
		if name := c.text(d.next, "flow "+d.f.Name+".next"); name != "" {
			if d.f.Proposes = c.a.FlowIndex[name]; d.f.Proposes == nil || d.f.Proposes.Builtin {
				c.unknown(d.next, "flow", name, c.a.FlowNames())
			}
		}
	}
	for _, d := range drafts {
		c.keptSlots(d)
		for _, s := range d.f.Steps {
			if s.Target != nil && s.Target != d.f {
				s.Target.Called = true
			}
		}
	}
	for _, d := range drafts {
		if len(d.f.Triggers) == 0 && !d.triggered && !d.f.Called && c.a.Settings.Start != d.f.Name {
			c.warn(d.key, "flow %s has no trigger phrases and no step calls it: only its name and description start it", d.f.Name)
		}
		c.checkFlow(d)
	}
	c.checkShared(drafts)
	c.checkCalls(drafts)
}

func (c *compiler) newFlow(name string) *Flow {
	return &Flow{Name: name, Index: len(c.a.Flows), Label: strings.ReplaceAll(name, "_", " "), IDs: make(map[string]int)}
}

// keptSlots reads persisted_slots, the slots whose values outlive a flow. A step of the
// flow must set each of them.
func (c *compiler) keptSlots(d *flowDraft) {
	what := "flow " + d.f.Name + ".persisted_slots"
	d.f.Keeps = c.texts(d.keeps, what)
	for _, name := range d.f.Keeps {
		switch {
		case c.a.SlotIndex[name] == nil && !c.a.Vars[name]:
			c.unknown(d.keeps, "slot", name, c.a.SlotNames())
		case !slices.Contains(d.f.Writes, name):
			c.fail(d.keeps, "%s: no step of the flow sets %q", what, name)
		}
	}
}

// checkShared warns of triggers that two flows share, since the user must then choose
// between the flows. It ignores flows with conditions, of which only one may be able to
// start.
func (c *compiler) checkShared(drafts []*flowDraft) {
	owner := make(map[string]*Flow)
	for _, d := range drafts {
		for _, t := range d.f.Triggers {
			key := t.shape()
			if d.f.guard != nil {
				continue
			}
			if f := owner[key]; f != nil && f != d.f {
				c.warn(d.key, "flow %s: trigger %q is one of flow %s too: the user is asked which of them is meant", d.f.Name, t.Text, f.Name)
				continue
			}
			owner[key] = d.f
		}
	}
}

// shape returns the words of a trigger, with its slots in braces.
func (t *Trigger) shape() string {
	var b strings.Builder
	for _, p := range t.Parts {
		b.WriteByte(' ')
		if p.Slot != nil {
			b.WriteString("{" + p.Slot.Name + "}")
			continue
		}
		b.WriteString(p.Word)
	}
	return b.String()
}

func (c *compiler) flowFields(d *flowDraft) {
	what := "flow " + d.f.Name
	if d.def.kind != nodeMapping {
		c.fail(d.key, "%s: expected a mapping with steps", what)
		return
	}
	var triggers []node
	c.fields(d.def, what, map[string]func(key, value node){
		"description": func(_, v node) { d.f.Description = strings.TrimSpace(c.text(v, what+".description")) },
		"trigger": func(_, v node) {
			if v.kind == nodeSequence || v.kind == nodeScalar {
				triggers = append(triggers, v)
				return
			}
			c.fields(v, what+".trigger", map[string]func(key, value node){
				"intents":  func(_, v node) { triggers = append(triggers, v) },
				"phrases":  func(_, v node) { triggers = append(triggers, v) },
				"examples": func(_, v node) { triggers = append(triggers, v) },
			})
		},
		"intent": func(_, v node) { d.intent = append(d.intent, v) },
		"slots":  nil,
		"takes": func(_, v node) {
			for _, n := range v.items {
				if c.a.SlotIndex[n.text] == nil {
					c.unknown(n, "slot", n.text, c.a.SlotNames())
				}
			}
			d.f.Takes = c.texts(v, what+".takes")
		},
		"next":            func(_, v node) { d.next = v },
		"if":              func(_, v node) { d.f.guard = c.expression(v, what+".if") },
		"persisted_slots": func(_, v node) { d.keeps = v },
		"steps":           func(key, v node) { c.flowSteps(d, key, v) },
		"confirm":         func(key, v node) { d.declared.confirm = pair{key, v} },
		"action":          func(key, v node) { d.declared.action = pair{key, v} },
		"respond":         func(key, v node) { d.declared.respond = pair{key, v} },
		"process":         func(key, v node) { c.flowSteps(d, key, v) },
	})
	for _, s := range d.def.pairs { // slots listed by the flow
		if s.key.text != "slots" {
			continue
		}
		s.value.names(func(name string) {
			if sl := c.a.SlotIndex[name]; sl != nil && !d.f.UsesSlot(sl) {
				d.f.Slots = append(d.f.Slots, sl)
			}
		})
	}
	d.triggered = len(triggers) > 0
	for _, t := range triggers {
		c.triggers(d, t)
	}
	for _, n := range d.intent { // older files: the name of an intent
		text := strings.ReplaceAll(c.text(n, what+".intent"), "_", " ")
		c.addTrigger(d, n, text)
	}
	c.declaredSteps(d, what)
	if !d.steps.given() {
		c.fail(d.key, "%s has no steps", what)
		return
	}
	c.readSteps(d)
}

func (c *compiler) flowSteps(d *flowDraft, key, v node) {
	if d.steps.given() {
		c.fail(key, "flow %s: expected steps or process, not both", d.f.Name)
		return
	}
	d.steps = v
}

// names calls each with the names that a list or a mapping declares.
func (n node) names(each func(name string)) {
	for _, p := range n.pairs {
		each(p.key.text)
	}
	for _, item := range n.items {
		if name, ok := item.find("name"); ok {
			each(name.text)
		} else if item.kind == nodeScalar {
			each(item.text)
		}
	}
}

func (c *compiler) triggers(d *flowDraft, n node) {
	what := "flow " + d.f.Name + ".trigger.intents"
	items := n.items
	if n.kind == nodeScalar {
		items = []node{n}
	} else if n.kind != nodeSequence {
		if n.given() {
			c.fail(n, "%s is %s: expected a list of phrases", what, n.kind)
		}
		return
	}
	for _, item := range items {
		c.addTrigger(d, item, c.text(item, what))
	}
}

// addTrigger compiles a trigger phrase. {slot} in it stands for a value.
func (c *compiler) addTrigger(d *flowDraft, at node, text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	t := Trigger{Text: text}
	rest := text
	var buf [32]value.Token
	words := func(s string) {
		for _, tok := range value.Tokenize(s, buf[:0]) {
			t.Parts = append(t.Parts, TriggerPart{Word: tok.Text})
		}
	}
	for {
		i := strings.IndexByte(rest, '{')
		if i < 0 {
			words(rest)
			break
		}
		n := strings.IndexByte(rest[i:], '}')
		if n < 0 {
			c.fail(at, "flow %s: trigger %q: the brace is not closed", d.f.Name, text)
			return
		}
		words(rest[:i])
		name := strings.TrimSpace(rest[i+1 : i+n])
		s := c.a.SlotIndex[name]
		if s == nil {
			if c.lenient && nearest(name, c.a.SlotNames()) == "" {
				s = c.implicitSlot(name)
				c.warn(at, "flow %s: trigger %q: slot %q is not defined and taken as text", d.f.Name, text, name)
			} else {
				c.report(SeverityError, at, nearest(name, c.a.SlotNames()), "flow %s: trigger %q: unknown slot %q", d.f.Name, text, name)
				return
			}
		}
		t.Parts = append(t.Parts, TriggerPart{Slot: s})
		t.Slots = true
		if !d.f.UsesSlot(s) {
			d.f.Slots = append(d.f.Slots, s)
		}
		rest = rest[i+n+1:]
	}
	if len(t.Parts) == 0 {
		c.warn(at, "flow %s: trigger %q contains no word", d.f.Name, text)
		return
	}
	d.f.Triggers = append(d.f.Triggers, t)
}

// implicitSlot adds a slot of free text for an undefined name.
func (c *compiler) implicitSlot(name string) *Slot {
	d := &slotDraft{s: &Slot{Name: name, Spec: value.Spec{Type: value.TypeString}, Required: true}}
	c.finishSlot(d)
	c.a.Slots = append(c.a.Slots, d.s)
	c.a.SlotIndex[name] = d.s
	return d.s
}

// readSteps reads the steps of a flow, including those inside loops.
func (c *compiler) readSteps(d *flowDraft) {
	if d.steps.kind != nodeSequence {
		c.fail(d.steps, "flow %s: steps is %s: expected a list of steps", d.f.Name, d.steps.kind)
		return
	}
	ids := make(map[string]node)
	var add func(n node, owned bool) *rawStep
	add = func(n node, owned bool) *rawStep {
		r := c.readStep(d, n)
		if r == nil {
			return nil
		}
		r.owned = owned
		if first, there := ids[r.st.ID]; there {
			c.fail(r.at, "flow %s: step %q is defined twice; first in line %d", d.f.Name, r.st.ID, first.line)
			return nil
		}
		ids[r.st.ID] = r.at
		r.st.index = len(d.f.Steps)
		d.f.IDs[r.st.ID] = r.st.index
		d.f.Steps = append(d.f.Steps, r.st)
		d.raws = append(d.raws, r)
		for i, b := range r.body {
			if b.kind == nodeMapping {
				if in := add(b, true); in != nil {
					r.body[i] = node{file: b.file, line: b.line, column: b.column, kind: nodeScalar, text: in.st.ID}
				}
			}
		}
		return r
	}
	for _, n := range d.steps.items {
		add(n, false)
	}
	if len(d.steps.items) == 0 {
		c.fail(d.steps, "flow %s has no steps", d.f.Name)
	}
}
