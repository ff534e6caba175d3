package dialog

import (
	"fmt"
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
)

// This file implements the built-in flows. A built-in flow runs beside the flow that it
// concerns. If it waits for the user, it comes on top of that flow, which continues when the
// built-in flow has ended:
//
//	            builtin              a step that waits           ended, or left for
//	(no flow) --------> beside ------------------------> on top ------------------> (no flow)
//	                      |  ended                          |     something else
//	                      +------------> (no flow)          +--> beside: an engine step
//
// The agent defines what a built-in flow says and asks. What a yes, a value or a correction
// may do is decided elsewhere.

// builtinRun is the state of the built-in flows in a turn.
type builtinRun struct {
	then      afterBuiltin
	left      string        // the built-in flow that was left
	fresh     bool          // the built-in flow has not been on top yet
	skipped   bool          // a step of the built-in flow that waits was skipped
	resumed   bool          // the flow below a built-in flow has been resumed
	moved     bool          // a built-in flow has come on top, and asks
	deferring bool          // a step that waits is deferred, see deferredStep
	deferred  *deferredStep // the deferred step, nil if there is none
}

// builtinContext has the values that the expressions of a built-in flow read as "context".
type builtinContext = map[string]any

// builtin runs the named built-in flow and reports whether it has ended. If it reports
// false, the flow waits for the user: it is the current flow, at a step that waits and has
// not run yet.
func (t *turn) builtin(name string, about builtinContext) bool {
	f := t.a.def.FlowIndex[name]
	if name == agent.PatternCancel && t.left == agent.PatternCancel {
		f = f.Default // a second "cancel" needs no confirmation
	}
	if about == nil {
		about = builtinContext{}
	}
	if t.flow != nil && !t.flow.Builtin && about["flow"] == nil {
		about["flow"] = t.flow.Name
	}
	if f.Default != nil {
		t.trace("builtin_started", TraceData{Flow: name})
		if on, _ := about["flow"].(string); about["description"] == nil && t.a.def.FlowIndex[on] != nil {
			about["description"] = strings.TrimSpace(offer(t.a.def.FlowIndex[on], t.a.def.Lang))
		}
	}
	before, quiet, said := t.about, t.quiet, len(t.out.Say)
	t.about, t.quiet, t.fresh = about, f.Default == nil, true
	over := t.beside(f, f.First)
	if over && t.skipped && len(t.out.Say) == said { // it says nothing without the skipped question
		t.beside(f.Default, f.Default.First)
	}
	t.quiet, t.skipped = quiet, false
	if over {
		t.about = before
	}
	return over
}

// beside runs the steps of a built-in flow from index i until the flow ends or comes to a
// step that waits. It reports whether the flow has ended.
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
				t.doEngineStep(s.Do)
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

// onTop makes a built-in flow the current flow, at a step that waits, and reports whether
// it did. It does not while an error is open, while another built-in flow waits, or if this
// flow was left for the current message.
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

// leave drops the built-in flow that waits, because the user has said something that does
// not concern it.
func (t *turn) leave() {
	t.left = t.flow.Name
	t.trace("builtin_left", TraceData{Flow: t.left})
	t.offTop()
	t.about, t.before, t.resumed = nil, t.resting(), true
}

// leaveFor leaves the built-in flow that waits if the message means nothing to it but
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

// runEngine runs an engine step of the built-in flow on top. The step acts on the flow
// below, which becomes the current flow first. It reports whether a flow goes on.
func (t *turn) runEngine(s *agent.Step) bool {
	f := t.flow
	t.offTop()
	t.then, t.resumed = thenReturn, true
	if !t.beside(f, f.IDs[s.ID]) {
		return true
	}
	t.about = nil
	if t.flow == nil {
		t.enterCompleted()
	}
	if t.then == thenContinue {
		t.builtin(agent.PatternContinue, nil)
	}
	return t.flow != nil && !t.failed
}

// deferredStep is a step of a built-in flow that waits until all values of the message have
// been taken: the question of a correction.
type deferredStep struct {
	flow  *agent.Flow
	step  *agent.Step
	about builtinContext
}

// askDeferred brings the deferred built-in flow on top, if there is one.
func (t *turn) askDeferred() {
	if d := t.deferred; d != nil {
		t.deferred, t.about = nil, d.about
		t.onTop(d.flow, d.step)
	}
}

// enterCompleted enters COMPLETED if no flow is left, and offers a request that was kept
// for later. If the turn has said nothing yet, it says "all right".
func (t *turn) enterCompleted() {
	if t.flow == nil && !t.failed {
		if len(t.out.Say) == 0 {
			t.phrase("all_right")
		}
		t.enter(Completed)
		t.offerLater()
	}
}

// answer answers a message by running a built-in flow, and continues with what the flow
// leaves to do.
func (t *turn) answer(name string, about builtinContext) {
	t.then = thenReturn
	if !t.builtin(name, about) {
		t.advance()
		return
	}
	t.settle()
}

// settle continues after a built-in flow that answered a message.
func (t *turn) settle() {
	switch {
	case t.failed:
	case t.then == thenComplete:
		t.enterCompleted()
	case t.then == thenAdvance:
		t.advance()
	case t.then == thenContinue:
		t.builtin(agent.PatternContinue, nil)
		t.advance()
	default:
		t.back()
	}
}

// unasked reports whether the flow below a built-in flow has come back in this turn and has
// not repeated its question.
func (t *turn) unasked() bool {
	return t.resumed && t.flow != nil && !t.flow.Builtin && t.st.WaitingForSlot == "" && t.st.Confirmation == nil
}

// afterBuiltin says how the turn continues after a built-in flow.
type afterBuiltin int

const (
	thenReturn   afterBuiltin = iota // return to where the dialogue was
	thenAdvance                      // run the flow from its current step
	thenContinue                     // continue a flow that was interrupted
	thenComplete                     // no flow is left
)

// doEngineStep does what an engine step of a built-in flow names.
func (t *turn) doEngineStep(do string) {
	s := t.a.def.SlotIndex[t.st.WaitingForSlot]
	switch do {
	case "question":
		if t.unasked() {
			return // the flow asks when it continues
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
		panic(fmt.Sprintf("dialog: unexpected engine step %q", do))
	}
}
