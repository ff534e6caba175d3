package agent

import (
	"maps"
	"slices"
	"strings"
)

// linkSteps resolves the targets of a flow's steps.
func (c *compiler) linkSteps(d *flowDraft) {
	c.linkBodies(d) // first: they determine the order of steps
	next := d.order()
	for i, r := range d.raws {
		c.linkStep(d, r, next[i])
	}
	d.f.First = d.outside(0)
	c.collectSlots(d.f)
}

// linkBodies resolves the steps in the bodies of loops.
func (c *compiler) linkBodies(d *flowDraft) {
	f := d.f
	for _, r := range d.raws {
		for _, b := range r.body {
			i, ok := f.IDs[b.text]
			if b.kind != nodeScalar {
				continue
			}
			if !ok {
				c.unknown(b, "step", b.text, slices.Sorted(maps.Keys(f.IDs)))
				continue
			}
			if d.raws[i].st.InLoop {
				c.fail(b, "step %q is in the body of two loops", b.text)
				continue
			}
			if d.raws[i] == r {
				c.fail(b, "step %q is in its own body", b.text)
				continue
			}
			d.raws[i].owned, d.raws[i].st.InLoop = true, true
			r.st.Body = append(r.st.Body, i)
		}
	}
}

// outside returns the first step from i on that is in no loop, or EndTarget.
func (d *flowDraft) outside(i int) int {
	for k := i; k < len(d.raws); k++ {
		if !d.raws[k].owned {
			return k
		}
	}
	return EndTarget
}

// order returns for each step the one that follows it without a jump: the next step outside
// loops, or in a body the next step of the body, and after its last the loop.
func (d *flowDraft) order() []int {
	next := make([]int, len(d.raws))
	for i := range d.raws {
		next[i] = d.outside(i + 1)
	}
	for _, r := range d.raws {
		for k, b := range r.st.Body {
			if k+1 < len(r.st.Body) {
				next[b] = r.st.Body[k+1]
			} else {
				next[b] = r.st.index
			}
		}
	}
	return next
}

// collectSlots collects the slots that the steps of a flow write, and those that its actions
// read.
func (c *compiler) collectSlots(f *Flow) {
	for _, s := range f.Steps {
		for _, w := range s.Writes {
			if !slices.Contains(f.Writes, w) {
				f.Writes = append(f.Writes, w)
			}
		}
		for _, name := range s.reads { // an action's inputs are slots of the flow too
			if sl := c.a.SlotIndex[name]; sl != nil && s.Type == StepAction && !f.UsesSlot(sl) {
				f.Slots = append(f.Slots, sl)
			}
		}
	}
}

func (c *compiler) linkStep(d *flowDraft, r *rawStep, next int) {
	st := r.st
	st.Next = c.target(d, r.jump, next, next)
	switch st.Type {
	case StepBranch:
		st.Fallback = st.Next
		for _, cs := range r.cases {
			to := c.target(d, cs.target, st.Next, st.Next)
			if cs.pattern == "default" || cs.pattern == "else" || cs.pattern == "_" {
				st.Fallback = to
				continue
			}
			st.Cases = append(st.Cases, branchCase{cs.pattern, to})
		}
		if r.jump.given() {
			c.warn(r.jump, "step %s: a branch goes where its cases say; jump_to is taken for the case that none fits", st.ID)
		}
	case StepConfirm:
		st.OnConfirm = c.target(d, r.onConfirm, st.Next, st.Next)
		st.DenyEnds = !r.onDeny.given()
		st.OnDeny = c.target(d, r.onDeny, EndTarget, st.Next)
	case StepAction:
		st.FailsTo = r.onError.given()
		st.OnError = c.target(d, r.onError, EndTarget, st.Next)
	case StepWhile:
		st.Exit = c.target(d, r.exit, st.Next, st.Next)
	case StepCall, StepLink:
		name := c.text(r.targetFlow, "step "+st.ID+".target")
		f, ok := c.a.FlowIndex[name]
		switch {
		case !ok && name != "":
			c.unknown(r.targetFlow, "flow", name, c.a.FlowNames())
		case ok && f.Builtin:
			c.fail(r.targetFlow, "step %s: the engine begins the built-in flow %s: it is not called", st.ID, name)
		}
		st.Target = f
	case StepCollect, StepSay, StepSet, StepHandoff, StepEngine:
	}
}

// target resolves the name of a target: a step, jump_to_<step>, continue or __end__. It
// returns missing if there is no name, and next for continue.
func (c *compiler) target(d *flowDraft, n node, missing, next int) int {
	name := strings.TrimSpace(c.text(n, "flow "+d.f.Name+": target"))
	if name == "" {
		return missing
	}
	if i, ok := d.f.IDs[name]; ok {
		return i
	}
	switch name {
	case "continue":
		return next
	case "__end__", "__end_flow__", "end":
		return EndTarget
	}
	if jump, ok := strings.CutPrefix(name, "jump_to_"); ok {
		if i, ok := d.f.IDs[jump]; ok {
			return i
		}
		name = jump
	}
	known := append(slices.Sorted(maps.Keys(d.f.IDs)), "continue", "__end__")
	c.unknown(n, "step", name, known)
	return EndTarget
}

// follows returns the steps that may come after a step.
func (s *Step) follows() []int {
	switch s.Type {
	case StepBranch:
		out := []int{s.Fallback}
		for _, cs := range s.Cases {
			out = append(out, cs.Target)
		}
		return out
	case StepConfirm:
		return []int{s.OnConfirm, s.OnDeny}
	case StepWhile:
		if len(s.Body) == 0 {
			return []int{s.Exit}
		}
		return []int{s.Body[0], s.Exit}
	case StepLink, StepHandoff:
		return []int{EndTarget}
	case StepAction:
		if s.FailsTo {
			return []int{s.Next, s.OnError}
		}
		return []int{s.Next}
	case StepCollect, StepSay, StepSet, StepCall, StepEngine:
		return []int{s.Next}
	default:
		return []int{s.Next}
	}
}

// checkFlow reports steps that cannot be reached, and loops that never end or never wait
// for the user.
func (c *compiler) checkFlow(d *flowDraft) {
	f := d.f
	if len(f.Steps) == 0 || len(d.raws) != len(f.Steps) || f.First == EndTarget {
		return
	}
	for _, s := range f.Steps {
		if s.Type < 0 {
			return // reported already
		}
	}
	reached := make([]bool, len(f.Steps))
	queue := []int{f.First}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		if i == EndTarget || reached[i] {
			continue
		}
		reached[i] = true
		queue = append(queue, f.Steps[i].follows()...)
	}
	for i, r := range d.raws {
		if !reached[i] {
			severity := SeverityError
			if c.lenient {
				severity = SeverityWarning
			}
			c.report(severity, r.at, "", "flow %s: step %q cannot be reached", f.Name, r.st.ID)
		}
	}
	for _, loop := range loops(f.Steps) {
		c.checkLoop(d, loop)
	}
}

// checkLoop reports a cycle of steps that never ends or cannot wait for the user.
func (c *compiler) checkLoop(d *flowDraft, loop []int) {
	var names []string
	exits, changes := false, false
	var decides, writes []string
	for _, i := range loop {
		s := d.f.Steps[i]
		names = append(names, s.ID)
		if s.waits() || s.Type == StepCall || s.Type == StepLink {
			return // the flow waits for the user here or in the other flow
		}
		for _, to := range s.follows() {
			if !slices.Contains(loop, to) {
				exits = true
			}
		}
		if s.Evaluate != nil {
			decides = append(decides, s.Evaluate.names...)
		}
		if s.Type == StepWhile && s.Condition != nil {
			decides = append(decides, s.Condition.names...)
		}
		if s.Type == StepAction && (s.Action == nil || len(s.Outputs) == 0 && len(s.Action.Outputs) == 0) {
			changes = true // its outputs are unknown
		}
		writes = append(writes, s.Writes...)
	}
	at := d.raws[loop[0]].at
	list := strings.Join(names, ", ")
	if !exits {
		c.fail(at, "flow %s: the loop %s never ends and never waits for the user", d.f.Name, list)
		return
	}
	for _, n := range decides {
		changes = changes || slices.Contains(writes, n)
	}
	if !changes {
		c.fail(at, "flow %s: the loop %s can never wait for the user, and nothing in it changes what decides its end", d.f.Name, list)
	}
}

// loops returns the strongly connected components of a flow's graph that have a cycle, each
// with its steps in the order of the file (Tarjan 1972).
func loops(steps []*Step) [][]int {
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
				if w == EndTarget {
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

// checkCalls reports flows that call each other endlessly.
func (c *compiler) checkCalls(drafts []*flowDraft) {
	// Calls can only be endless if no step before them waits for the user.
	direct := make(map[*Flow][]*Flow)
	for _, d := range drafts {
		f := d.f
		if len(d.raws) != len(f.Steps) || f.First == EndTarget || slices.ContainsFunc(f.Steps, func(s *Step) bool { return s.Type < 0 }) {
			continue
		}
		seen := make(map[int]bool)
		queue := []int{f.First}
		for len(queue) > 0 {
			i := queue[0]
			queue = queue[1:]
			if i == EndTarget || seen[i] {
				continue
			}
			seen[i] = true
			s := f.Steps[i]
			if s.waits() || s.Type == StepAction {
				continue
			}
			if s.Target != nil {
				direct[f] = append(direct[f], s.Target)
			}
			queue = append(queue, s.follows()...)
		}
	}
	for _, d := range drafts {
		seen := make(map[*Flow]bool)
		queue := slices.Clone(direct[d.f])
		for len(queue) > 0 {
			f := queue[0]
			queue = queue[1:]
			if f == d.f {
				c.fail(d.key, "flow %s calls itself, by way of its call and link steps, before anything waits for the user", d.f.Name)
				break
			}
			if !seen[f] {
				seen[f] = true
				queue = append(queue, direct[f]...)
			}
		}
	}
}
