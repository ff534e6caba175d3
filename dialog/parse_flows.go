package dialog

import (
	"strings"

	"github.com/hocketvoice/hocket/dialog/value"
)

// rawStep is a step before its targets are resolved.
type rawStep struct {
	st    *step
	at    node
	owned bool // in the body of a while

	jump       node
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

// flowDraft is a flow while its steps are being read.
type flowDraft struct {
	f      *flow
	key    node
	def    node
	steps  node
	raws   []*rawStep
	intent []node
	next   node // the flow to propose

	triggered bool // it has triggers, if wrong ones
}

// maxFlows bounds an agent: the understanding is trained on all of them.
const maxFlows = 300

// defineFlows reads the flows: names first, so that steps may call any of them.
func (c *compiler) defineFlows(sections []section) {
	var drafts []*flowDraft
	at := make(map[string]node)
	for _, s := range sections {
		if s.value.kind != nodeMapping {
			if s.value.given() {
				c.fail(s.value, "flows: want a mapping of names, got %s", s.value.kind)
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
			if len(c.a.flows) == maxFlows {
				c.fail(p.key, "too many flows: want at most %d in one agent", maxFlows)
				return
			}
			if !identifier(name) || name == noFlow {
				c.fail(p.key, "flow %q: want a name of letters, digits and underscores, other than %q", name, noFlow)
				continue
			}
			d := &flowDraft{
				f:   &flow{name: name, index: len(c.a.flows), label: strings.ReplaceAll(name, "_", " "), ids: make(map[string]int)},
				key: p.key, def: p.value,
			}
			c.a.flows = append(c.a.flows, d.f)
			c.a.flowIndex[name] = d.f
			drafts = append(drafts, d)
		}
	}
	for _, d := range drafts {
		c.flowFields(d)
	}
	for _, d := range drafts {
		c.linkSteps(d)
		if name := c.text(d.next, "flow "+d.f.name+".next"); name != "" {
			if d.f.proposes = c.a.flowIndex[name]; d.f.proposes == nil {
				c.unknown(d.next, "flow", name, c.a.flowNames())
			}
		}
	}
	called := make(map[*flow]bool)
	for _, d := range drafts {
		for _, s := range d.f.steps {
			if s.target != nil && s.target != d.f {
				called[s.target] = true
			}
		}
	}
	for _, d := range drafts {
		if len(d.f.triggers) == 0 && !d.triggered && !called[d.f] && c.a.settings.Start != d.f.name {
			c.warn(d.key, "flow %s has no trigger phrases and no step calls it: nothing the user says starts it", d.f.name)
		}
		c.checkFlow(d)
	}
	c.checkCalls(drafts)
}

func (c *compiler) flowFields(d *flowDraft) {
	what := "flow " + d.f.name
	if d.def.kind != nodeMapping {
		c.fail(d.key, "%s: want a mapping with steps", what)
		return
	}
	var triggers []node
	c.fields(d.def, what, map[string]func(key, value node){
		"description": func(_, v node) { d.f.description = strings.TrimSpace(c.text(v, what+".description")) },
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
				if c.a.slotIndex[n.text] == nil {
					c.unknown(n, "slot", n.text, c.a.slotNames())
				}
			}
			d.f.takes = c.texts(v, what+".takes")
		},
		"next":    func(_, v node) { d.next = v },
		"steps":   func(key, v node) { c.flowSteps(d, key, v) },
		"process": func(key, v node) { c.flowSteps(d, key, v) },
	})
	for _, s := range d.def.pairs { // slots that the flow lists
		if s.key.text != "slots" {
			continue
		}
		c.slotNames(s.value, func(name string) {
			if sl := c.a.slotIndex[name]; sl != nil && !d.f.usesSlot(sl) {
				d.f.slots = append(d.f.slots, sl)
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
	if !d.steps.given() {
		c.fail(d.key, "%s has no steps", what)
		return
	}
	c.readSteps(d)
}

func (c *compiler) flowSteps(d *flowDraft, key, v node) {
	if d.steps.given() {
		c.fail(key, "flow %s: want steps or process, not both", d.f.name)
		return
	}
	d.steps = v
}

func (c *compiler) slotNames(n node, each func(name string)) {
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
	what := "flow " + d.f.name + ".trigger.intents"
	items := n.items
	if n.kind == nodeScalar {
		items = []node{n}
	} else if n.kind != nodeSequence {
		if n.given() {
			c.fail(n, "%s: want a list of phrases, got %s", what, n.kind)
		}
		return
	}
	for _, item := range items {
		c.addTrigger(d, item, c.text(item, what))
	}
}

// addTrigger compiles a trigger phrase, in which {slot} stands for a value.
func (c *compiler) addTrigger(d *flowDraft, at node, text string) {
	text = strings.TrimSpace(text)
	if text == "" {
		return
	}
	t := trigger{text: text}
	rest := text
	var buf [32]value.Token
	words := func(s string) {
		for _, tok := range value.Tokenize(s, buf[:0]) {
			t.parts = append(t.parts, triggerPart{word: tok.Text})
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
			c.fail(at, "flow %s: trigger %q: the brace is not closed", d.f.name, text)
			return
		}
		words(rest[:i])
		name := strings.TrimSpace(rest[i+1 : i+n])
		s := c.a.slotIndex[name]
		if s == nil {
			if c.lenient && nearest(name, c.a.slotNames()) == "" {
				s = c.implicitSlot(name)
				c.warn(at, "flow %s: trigger %q: slot %q is not defined and taken as text", d.f.name, text, name)
			} else {
				c.report(SeverityError, at, nearest(name, c.a.slotNames()), "flow %s: trigger %q: unknown slot %q", d.f.name, text, name)
				return
			}
		}
		t.parts = append(t.parts, triggerPart{slot: s})
		t.slots = true
		if !d.f.usesSlot(s) {
			d.f.slots = append(d.f.slots, s)
		}
		rest = rest[i+n+1:]
	}
	if len(t.parts) == 0 {
		c.warn(at, "flow %s: trigger %q has no word in it", d.f.name, text)
		return
	}
	d.f.triggers = append(d.f.triggers, t)
}

// implicitSlot makes a slot for a name that nothing defines.
func (c *compiler) implicitSlot(name string) *slot {
	d := &slotDraft{s: &slot{name: name, Spec: value.Spec{Type: value.TypeString}, required: true}}
	c.finishSlot(d)
	c.a.slots = append(c.a.slots, d.s)
	c.a.slotIndex[name] = d.s
	return d.s
}

// readSteps reads the steps of a flow, those inside loops too.
func (c *compiler) readSteps(d *flowDraft) {
	if d.steps.kind != nodeSequence {
		c.fail(d.steps, "flow %s: want a list of steps, got %s", d.f.name, d.steps.kind)
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
		if first, there := ids[r.st.id]; there {
			c.fail(r.at, "flow %s: step %q stands twice; first in line %d", d.f.name, r.st.id, first.line)
			return nil
		}
		ids[r.st.id] = r.at
		r.st.index = len(d.f.steps)
		d.f.ids[r.st.id] = r.st.index
		d.f.steps = append(d.f.steps, r.st)
		d.raws = append(d.raws, r)
		for i, b := range r.body {
			if b.kind == nodeMapping {
				if in := add(b, true); in != nil {
					r.body[i] = node{file: b.file, line: b.line, column: b.column, kind: nodeScalar, text: in.st.id}
				}
			}
		}
		return r
	}
	for _, n := range d.steps.items {
		add(n, false)
	}
	if len(d.steps.items) == 0 {
		c.fail(d.steps, "flow %s has no steps", d.f.name)
	}
}
