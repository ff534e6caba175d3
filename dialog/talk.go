package dialog

import (
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
)

// This file answers what the user may say at any time.

// help answers a question about the current question, the choices or the agent. The kind is
// clarify, options or help.
func (t *turn) help(kind string) {
	flows := t.offers()
	if t.a.def.Settings.Model.Answers && flows == "" && t.flow == nil && t.before != Error {
		t.out.Ask = true
		t.back()
		return
	}
	about := builtinContext{"kind": kind, "at": t.at(), "closed": false}
	if flows != "" {
		about["flows"] = flows
	}
	if s := t.a.def.SlotIndex[t.st.WaitingForSlot]; s != nil {
		about["closed"] = s.Closed()
	}
	t.answer(agent.PatternHelp, about)
}

// goodbye ends the conversation. While a flow is active, only a plain farewell does.
func (t *turn) goodbye() {
	if t.flow != nil {
		core := t.a.def.Lang.Trim(t.rd.Toks)
		if _, ok := t.a.def.Lang.CommandSets["hangup"].Whole(core); !ok {
			t.notUnderstood()
			return
		}
	}
	t.answer(agent.PatternGoodbye, nil)
}

// leaveEmpty skips the awaited slot if it is optional.
func (t *turn) leaveEmpty() {
	st := t.st
	s := t.a.def.SlotIndex[st.WaitingForSlot]
	if s == nil || t.flow == nil {
		t.notUnderstood()
		return
	}
	if s.Required {
		if st.Misses++; t.giveUp() {
			t.back()
			return
		}
		t.answer(agent.PatternSkip, builtinContext{"slot": s.Name, "label": s.Label})
		return
	}
	st.Misses = 0
	st.Slots[s.Name] = nil
	t.trace("slot_skipped", TraceData{Slot: s.Name})
	t.filled(s)
	t.advance()
}

// chat answers small talk and a request for the flow that is already active.
func (t *turn) chat(cmds []Command) {
	i := slices.IndexFunc(cmds, func(c Command) bool { return c.Type == StartFlow || c.Type == Chitchat })
	if i < 0 {
		t.notUnderstood()
		return
	}
	kind := "other"
	switch c := cmds[i]; {
	case c.Type == StartFlow:
		kind = "same_flow"
	case slices.Contains([]string{"thanks", "hello", "wait", "no"}, c.Text):
		kind = c.Text
	case t.a.def.Settings.Model.Answers:
		t.out.Ask = true
		t.back()
		return
	}
	if t.sealed() && t.before == Completed && t.heard().CallsOff() {
		t.doneAlready()
		return
	}
	t.answer(agent.PatternChitchat, builtinContext{"kind": kind, "at": t.at()})
}

// acceptFound handles a yes to what the last flow has found: the values become the user's
// choice, and the flow that the agent's file proposes next is offered. It reports whether
// there was anything to accept.
func (t *turn) acceptFound() bool {
	st := t.st
	if st.Finished == nil || len(st.Finished.Found) == 0 {
		return false
	}
	for _, name := range st.Finished.Found {
		if v := st.Slots[name]; v != nil {
			t.set(name, v)
			t.trace("slot_accepted", TraceData{Slot: name, Value: v})
		}
	}
	st.Finished.Found = nil
	if f := t.a.def.FlowIndex[st.Finished.Flow]; f != nil && f.Proposes != nil && t.mayStart(f.Proposes) {
		t.proposeFlow("propose", f.Proposes, nil)
	} else {
		t.phrase("all_right")
	}
	t.back()
	return true
}
