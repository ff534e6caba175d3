package dialog

import (
	"maps"
	"slices"
	"strings"
)

// linkSteps resolves the targets of a flow's steps.
func (c *compiler) linkSteps(d *flowDraft) {
	f := d.f
	for _, r := range d.raws { // bodies first: they decide what follows what
		for _, b := range r.body {
			i, ok := f.ids[b.text]
			if b.kind != nodeScalar {
				continue
			}
			if !ok {
				c.unknown(b, "step", b.text, slices.Sorted(maps.Keys(f.ids)))
				continue
			}
			if d.raws[i].st.inLoop {
				c.fail(b, "step %q is in the body of two loops", b.text)
				continue
			}
			if d.raws[i] == r {
				c.fail(b, "step %q is in its own body", b.text)
				continue
			}
			d.raws[i].owned, d.raws[i].st.inLoop = true, true
			r.st.body = append(r.st.body, i)
		}
	}
	after := func(i int) int { // the next step outside loops
		for k := i + 1; k < len(d.raws); k++ {
			if !d.raws[k].owned {
				return k
			}
		}
		return endTarget
	}
	next := make([]int, len(d.raws))
	for i := range d.raws {
		next[i] = after(i)
	}
	for _, r := range d.raws {
		for k, b := range r.st.body {
			if k+1 < len(r.st.body) {
				next[b] = r.st.body[k+1]
			} else {
				next[b] = r.st.index
			}
		}
	}
	for i, r := range d.raws {
		c.linkStep(d, r, next[i])
	}
	f.first = endTarget
	for i, r := range d.raws {
		if !r.owned {
			f.first = i
			break
		}
	}
	for _, s := range f.steps {
		for _, w := range s.writes {
			if !slices.Contains(f.writes, w) {
				f.writes = append(f.writes, w)
			}
		}
		for _, name := range s.reads { // an action's inputs belong to the flow too
			if sl := c.a.slotIndex[name]; sl != nil && s.typ == stepAction && !f.usesSlot(sl) {
				f.slots = append(f.slots, sl)
			}
		}
	}
}

func (c *compiler) linkStep(d *flowDraft, r *rawStep, next int) {
	st := r.st
	st.next = c.target(d, r.jump, next, next)
	switch st.typ {
	case stepBranch:
		st.fallback = st.next
		for _, cs := range r.cases {
			to := c.target(d, cs.target, st.next, st.next)
			if cs.pattern == "default" || cs.pattern == "else" || cs.pattern == "_" {
				st.fallback = to
				continue
			}
			st.cases = append(st.cases, branchCase{cs.pattern, to})
		}
		if r.jump.given() {
			c.warn(r.jump, "step %s: a branch goes where its cases say; jump_to is taken for the case that none fits", st.id)
		}
	case stepConfirm:
		st.onConfirm = c.target(d, r.onConfirm, st.next, st.next)
		st.denyEnds = !r.onDeny.given()
		st.onDeny = c.target(d, r.onDeny, endTarget, st.next)
	case stepAction:
		st.failsTo = r.onError.given()
		st.onError = c.target(d, r.onError, endTarget, st.next)
	case stepWhile:
		st.exit = c.target(d, r.exit, st.next, st.next)
	case stepCall, stepLink:
		name := c.text(r.targetFlow, "step "+st.id+".target")
		f, ok := c.a.flowIndex[name]
		if !ok && name != "" {
			c.unknown(r.targetFlow, "flow", name, c.a.flowNames())
		}
		st.target = f
	case stepCollect, stepSay, stepSet, stepHandoff:
	}
}

// target resolves a target: a step, jump_to_<step>, continue, __end__.
func (c *compiler) target(d *flowDraft, n node, missing, next int) int {
	name := strings.TrimSpace(c.text(n, "flow "+d.f.name+": target"))
	if name == "" {
		return missing
	}
	if i, ok := d.f.ids[name]; ok {
		return i
	}
	switch name {
	case "continue":
		return next
	case "__end__", "__end_flow__", "end":
		return endTarget
	}
	if jump, ok := strings.CutPrefix(name, "jump_to_"); ok {
		if i, ok := d.f.ids[jump]; ok {
			return i
		}
		name = jump
	}
	known := append(slices.Sorted(maps.Keys(d.f.ids)), "continue", "__end__")
	c.unknown(n, "step", name, known)
	return endTarget
}

// follows are the steps that may come after a step.
func (s *step) follows() []int {
	switch s.typ {
	case stepBranch:
		out := []int{s.fallback}
		for _, cs := range s.cases {
			out = append(out, cs.target)
		}
		return out
	case stepConfirm:
		return []int{s.onConfirm, s.onDeny}
	case stepWhile:
		if len(s.body) == 0 {
			return []int{s.exit}
		}
		return []int{s.body[0], s.exit}
	case stepLink, stepHandoff:
		return []int{endTarget}
	case stepAction:
		if s.failsTo {
			return []int{s.next, s.onError}
		}
		return []int{s.next}
	case stepCollect, stepSay, stepSet, stepCall:
		return []int{s.next}
	default:
		return []int{s.next}
	}
}

// checkFlow finds steps that nothing reaches and loops that never end or never
// let the user speak.
func (c *compiler) checkFlow(d *flowDraft) {
	f := d.f
	if len(f.steps) == 0 || len(d.raws) != len(f.steps) || f.first == endTarget {
		return
	}
	for _, s := range f.steps {
		if s.typ < 0 {
			return // reported already
		}
	}
	reached := make([]bool, len(f.steps))
	queue := []int{f.first}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		if i == endTarget || reached[i] {
			continue
		}
		reached[i] = true
		queue = append(queue, f.steps[i].follows()...)
	}
	for i, r := range d.raws {
		if !reached[i] {
			severity := SeverityError
			if c.lenient {
				severity = SeverityWarning
			}
			c.report(severity, r.at, "", "flow %s: no way leads to step %q", f.name, r.st.id)
		}
	}
	for _, loop := range loops(f.steps) {
		c.checkLoop(d, loop)
	}
}

// checkLoop judges a cycle of steps.
func (c *compiler) checkLoop(d *flowDraft, loop []int) {
	var names []string
	exits, changes := false, false
	var decides, writes []string
	for _, i := range loop {
		s := d.f.steps[i]
		names = append(names, s.id)
		if s.waits() || s.typ == stepCall || s.typ == stepLink {
			return // the user gets a word in, here or in the other flow
		}
		for _, to := range s.follows() {
			if !slices.Contains(loop, to) {
				exits = true
			}
		}
		if s.evaluate != nil {
			decides = append(decides, s.evaluate.names...)
		}
		if s.typ == stepWhile && s.condition != nil {
			decides = append(decides, s.condition.names...)
		}
		if s.typ == stepAction && (s.action == nil || len(s.outputs) == 0 && len(s.action.Outputs) == 0) {
			changes = true // it may return anything
		}
		writes = append(writes, s.writes...)
	}
	at := d.raws[loop[0]].at
	list := strings.Join(names, ", ")
	if !exits {
		c.fail(at, "flow %s: the loop %s never ends and never waits for the user", d.f.name, list)
		return
	}
	for _, n := range decides {
		changes = changes || slices.Contains(writes, n)
	}
	if !changes {
		c.fail(at, "flow %s: the loop %s can never wait for the user, and nothing in it changes what decides its end", d.f.name, list)
	}
}

// loops are the strongly connected parts of a flow's graph that have a cycle,
// each with its steps in the order of the file (Tarjan 1972).
func loops(steps []*step) [][]int {
	index := make([]int, len(steps))
	low := make([]int, len(steps))
	onStack := make([]bool, len(steps))
	var stack []int
	var out [][]int
	counter := 0
	type frame struct{ node, edge int }
	for root := range steps {
		if index[root] != 0 {
			continue
		}
		work := []frame{{root, 0}}
		for len(work) > 0 {
			top := &work[len(work)-1]
			v := top.node
			if top.edge == 0 {
				counter++
				index[v], low[v] = counter, counter
				stack = append(stack, v)
				onStack[v] = true
			}
			edges := steps[v].follows()
			advanced := false
			for top.edge < len(edges) {
				w := edges[top.edge]
				top.edge++
				if w == endTarget {
					continue
				}
				if index[w] == 0 {
					work = append(work, frame{w, 0})
					advanced = true
					break
				}
				if onStack[w] {
					low[v] = min(low[v], index[w])
				}
			}
			if advanced {
				continue
			}
			work = work[:len(work)-1]
			if len(work) > 0 {
				p := work[len(work)-1].node
				low[p] = min(low[p], low[v])
			}
			if low[v] != index[v] {
				continue
			}
			var part []int
			for {
				w := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				onStack[w] = false
				part = append(part, w)
				if w == v {
					break
				}
			}
			if len(part) > 1 || slices.Contains(steps[v].follows(), v) {
				slices.Sort(part)
				out = append(out, part)
			}
		}
	}
	return out
}

// checkCalls finds flows that call each other without end.
func (c *compiler) checkCalls(drafts []*flowDraft) {
	// A flow is entered without a word from the user as long as no step waits
	// before the call: only then the calls can go round without end.
	direct := make(map[*flow][]*flow)
	for _, d := range drafts {
		f := d.f
		if len(d.raws) != len(f.steps) || f.first == endTarget || slices.ContainsFunc(f.steps, func(s *step) bool { return s.typ < 0 }) {
			continue
		}
		seen := make(map[int]bool)
		queue := []int{f.first}
		for len(queue) > 0 {
			i := queue[0]
			queue = queue[1:]
			if i == endTarget || seen[i] {
				continue
			}
			seen[i] = true
			s := f.steps[i]
			if s.waits() || s.typ == stepAction {
				continue
			}
			if s.target != nil {
				direct[f] = append(direct[f], s.target)
			}
			queue = append(queue, s.follows()...)
		}
	}
	for _, d := range drafts {
		seen := make(map[*flow]bool)
		queue := slices.Clone(direct[d.f])
		for len(queue) > 0 {
			f := queue[0]
			queue = queue[1:]
			if f == d.f {
				c.fail(d.key, "flow %s calls itself, by way of its call and link steps, before anything waits for the user", d.f.name)
				break
			}
			if !seen[f] {
				seen[f] = true
				queue = append(queue, direct[f]...)
			}
		}
	}
}
