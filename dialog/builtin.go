package dialog

import (
	"fmt"
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
)

// This file: the built-in flows. One runs beside the flow that it is about, which stays
// where it is; where it waits for the user it comes on top of it, and that flow goes on when
// it has ended:
//
//	            begin                a step that waits           ended, or left for
//	(no flow) --------> beside ------------------------> on top ------------------> (no flow)
//	                      |  ended                          |     something else
//	                      +------------> (no flow)          +--> beside: a step of the engine
//
// What it says and asks is the agent's. What a yes, a value or a correction may do is not
// decided here.

// builtinRun is how the built-in flow runs.
type builtinRun struct {
	after     after
	left      string        // the built-in flow that was left
	fresh     bool          // the built-in flow has not been on top
	skipped   bool          // a step of the built-in flow that waits was left out
	resumed   bool          // the flow below a built-in one has come back
	moved     bool          // a built-in flow has come on top, and asks
	deferring bool          // a step that waits has to wait for its turn
	deferred  *deferredStep // one that does
}

// about is what a built-in flow is about.
type about = map[string]any

// builtin runs the built-in flow of a name. It reports whether it has ended; else it waits,
// and is the current flow at the step that waits, which has not run yet.
func (t *turn) builtin(name string, of about) bool {
	f := t.a.def.FlowIndex[name]
	if name == agent.PatternCancel && t.left == agent.PatternCancel {
		f = f.Default // a second "cancel" is not asked about
	}
	if of == nil {
		of = about{}
	}
	if t.flow != nil && !t.flow.Builtin && of["flow"] == nil {
		of["flow"] = t.flow.Name
	}
	if f.Default != nil {
		t.trace("builtin_started", TraceData{Flow: name})
		if on, _ := of["flow"].(string); of["description"] == nil && t.a.def.FlowIndex[on] != nil {
			of["description"] = strings.TrimSpace(offer(t.a.def.FlowIndex[on], t.a.def.Lang))
		}
	}
	before, quiet, said := t.about, t.quiet, len(t.out.Say)
	t.about, t.quiet, t.fresh = of, f.Default == nil, true
	over := t.beside(f, f.First)
	if over && t.skipped && len(t.out.Say) == said { // it had nothing to say but a question
		t.beside(f.Default, f.Default.First)
	}
	t.quiet, t.skipped = quiet, false
	if over {
		t.about = before
	}
	return over
}

// beside runs steps of a built-in flow that need no answer. It reports whether the flow has
// ended.
func (t *turn) beside(f *agent.Flow, i int) bool {
	failed := t.failed
	for i != agent.EndTarget && t.failed == failed {
		s := f.Steps[i]
		if !t.quiet && t.tooMany() {
			return true
		}
		switch s.Type {
		case agent.StepSay, agent.StepBranch, agent.StepSet, agent.StepWhile:
			to, ok := t.immediate(s)
			if !ok {
				return true
			}
			i = to
		case agent.StepEngine:
			if s.Do == "default" {
				t.beside(f.Default, f.Default.First)
			} else {
				t.act(s.Do)
			}
			i = s.Next
		case agent.StepHandoff:
			t.sayHandoff(s)
			t.handoff()
			return true
		case agent.StepCollect, agent.StepConfirm, agent.StepAction, agent.StepCall, agent.StepLink:
			return !t.onTop(f, s)
		}
	}
	return true
}

// onTop makes a built-in flow the current one, at a step that waits. It reports whether it
// may be: it is not while something has gone wrong, which the user answers, nor while another
// one waits or was left for this message.
func (t *turn) onTop(f *agent.Flow, s *agent.Step) bool {
	st := t.st
	switch {
	case t.failed || st.ConversationState == Error || t.resting() == Error || t.flow != nil && t.flow.Builtin || f.Name == t.left:
		t.trace("builtin_skipped", TraceData{Flow: f.Name, Step: s.ID})
		t.skipped = true
		return false
	case t.deferring:
		t.deferred = &deferredStep{f, s, t.about}
		return false
	case t.flow != nil && !t.suspend(f, false):
		return false
	}
	if t.fresh {
		t.fresh = false
		for _, name := range f.Writes {
			t.forget(name)
		}
	}
	t.flow = f
	st.CurrentFlow, st.CurrentStep, st.WaitingForSlot = f.Name, s.ID, ""
	st.Path, st.Granted, st.GrantedFor, st.Acted = nil, false, nil, false
	st.Asking, st.Suggested, st.Confirmation, st.Action = nil, nil, nil, nil
	st.About = t.about
	return true
}

// leave takes the built-in flow off that waits: what the user has said is about something
// else.
func (t *turn) leave() {
	t.left = t.flow.Name
	t.trace("builtin_left", TraceData{Flow: t.left})
	t.offTop()
	t.about, t.before, t.resumed = nil, t.resting(), true
}

// leaveFor leaves the built-in flow that waits if the message means nothing to it and
// something to the flow below.
func (t *turn) leaveFor() {
	if t.flow == nil || !t.flow.Builtin {
		return
	}
	here := t.moment()
	below := *here
	below.CurrentFlow, below.WaitingForSlot, below.Confirming, below.Suggested = agent.NoFlow, "", false, nil
	if n := len(t.st.Stack); n > 0 {
		below.CurrentFlow = t.st.Stack[n-1].Flow
	}
	if cmds := t.a.words.Understand(here, t.rd.Raw).Commands; len(cmds) > 0 && !t.foreign(cmds) {
		return
	}
	if len(t.a.words.Understand(&below, t.rd.Raw).Commands) > 0 {
		t.leave()
	}
}

// runEngine does a step of the engine's in a built-in flow that is on top: it is done to the
// flow below. It reports whether a flow goes on.
func (t *turn) runEngine(s *agent.Step) bool {
	f := t.flow
	t.offTop()
	t.after, t.resumed = stays, true
	if !t.beside(f, f.IDs[s.ID]) {
		return true
	}
	t.about = nil
	if t.flow == nil {
		t.ended()
	}
	if t.after == returns {
		t.builtin(agent.PatternContinue, nil)
	}
	return t.flow != nil && !t.failed
}

// deferredStep is a step that waits for its turn: that of a correction, until all values
// of the message are taken.
type deferredStep struct {
	flow  *agent.Flow
	step  *agent.Step
	about about
}

// askDeferred brings the flow on top that has waited for its turn.
func (t *turn) askDeferred() {
	if d := t.deferred; d != nil {
		t.deferred, t.about = nil, d.about
		t.onTop(d.flow, d.step)
	}
}

// ended is what follows where a built-in flow that was on top has ended.
func (t *turn) ended() {
	if t.flow == nil && !t.failed {
		if len(t.out.Say) == 0 {
			t.phrase("all_right")
		}
		t.enter(Completed)
		t.offerLater()
	}
}

// answer runs a built-in flow that is the answer to a message, and goes on with what it
// leaves.
func (t *turn) answer(name string, of about) {
	t.after = stays
	if !t.builtin(name, of) {
		t.advance()
		return
	}
	t.settle()
}

// settle goes on with what a built-in flow leaves.
func (t *turn) settle() {
	switch {
	case t.failed:
	case t.after == leftFlow:
		t.ended()
	case t.after == goesOn:
		t.advance()
	case t.after == returns:
		t.builtin(agent.PatternContinue, nil)
		t.advance()
	default:
		t.back()
	}
}

// unasked reports whether the flow has come back from below a built-in one in this turn and
// has not asked its question again.
func (t *turn) unasked() bool {
	return t.resumed && t.flow != nil && !t.flow.Builtin && t.st.WaitingForSlot == "" && t.st.Confirmation == nil
}

// after says what the engine does behind a built-in flow.
type after int

const (
	stays    after = iota // the dialogue is where it was
	goesOn                // the flow goes on from its step
	returns               // a flow goes on that was interrupted
	leftFlow              // no flow is left
)

// act does what a step of the engine's says.
func (t *turn) act(do string) {
	s := t.a.def.SlotIndex[t.st.WaitingForSlot]
	switch do {
	case "question":
		if t.unasked() {
			return // it asks when it goes on
		}
		if sg := t.st.Suggested; sg != nil && s != nil && t.about["at"] == "suggestion" {
			t.suggest(s, sg.Value)
			return
		}
		t.again()
	case "explanation":
		if s != nil {
			t.explain(s)
		}
	case "example":
		if s != nil {
			t.example(s)
		}
	case "options":
		if s != nil {
			t.options(s, maxOptions)
		}
	case "offer":
		t.offer()
	case "repeat":
		t.repeat()
	case "cancel":
		t.giveFlowUp()
	case "restart":
		t.beginAgain()
	case "handoff":
		t.handoff()
	case "end":
		t.endConversation()
	default:
		panic(fmt.Sprintf("dialog: unexpected act of the engine %q", do))
	}
}
