package agent

// This file reads declared flows, which have slots, confirm, action and respond instead of
// steps.

// declaredFlow has the fields of a declared flow other than its slots.
type declaredFlow struct {
	confirm, action, respond pair
}

// declaredSteps generates the steps of a flow without steps: one collect step for each
// slot, then the confirmation, the action and the response.
func (c *compiler) declaredSteps(d *flowDraft, what string) {
	x := &d.declared
	all := []pair{x.confirm, x.action, x.respond}
	if d.steps.given() {
		for _, p := range all {
			if p.value.given() {
				c.fail(p.key, "%s: expected steps, or %s without steps, not both", what, p.key.text)
			}
		}
		return
	}
	if !x.confirm.value.given() && !x.action.value.given() && !x.respond.value.given() {
		return
	}
	var steps []node
	add := func(at node, fields ...string) {
		step := node{file: at.file, line: at.line, column: at.column, kind: nodeMapping}
		for i := 0; i+1 < len(fields); i += 2 {
			key, v := step, step
			key.kind, key.text = nodeScalar, fields[i]
			v.kind, v.text = nodeScalar, fields[i+1]
			step.pairs = append(step.pairs, pair{key, v})
		}
		steps = append(steps, step)
	}
	for _, p := range d.def.pairs {
		if p.key.text == "slots" {
			p.value.names(func(name string) {
				add(p.key, "step", "ask_"+name, "type", "collect", "slot", name)
			})
		}
	}
	switch v := x.confirm.value; {
	case !v.given() || v.kind == nodeScalar && v.text == "false" && !v.quoted:
	case v.kind == nodeScalar && v.text == "true" && !v.quoted:
		add(x.confirm.key, "step", "confirm", "type", "confirm")
	default:
		add(x.confirm.key, "step", "confirm", "type", "confirm", "message", c.text(v, what+".confirm"))
	}
	if x.action.value.given() {
		add(x.action.key, "step", "act", "type", "action", "call", c.text(x.action.value, what+".action"))
	}
	if x.respond.value.given() {
		add(x.respond.key, "step", "respond", "type", "say", "message", c.text(x.respond.value, what+".respond"))
	}
	d.steps = node{file: d.key.file, line: d.key.line, column: d.key.column, kind: nodeSequence, items: steps}
}
