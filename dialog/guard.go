package dialog

import (
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/command"
	"github.com/hocketvoice/hocket/dialog/value"
	"github.com/hocketvoice/hocket/dialog/words"
)

// This file checks a model's commands against the user's words. Commands that the words do
// not support are not carried out; some of them are offered to the user.

// guarded returns the commands that the words support.
func (t *hearing) guarded(cmds []Command) []Command {
	t.rd.Keep()
	r := t.heard()
	starting := t.guardedStarts(cmds)
	if f := t.startedByValues(cmds); f != nil && len(starting) == 0 {
		starting = []*agent.Flow{f}
	}
	out := cmds[:0:0]
	for _, c := range cmds {
		if why := t.unsupported(r, &c, cmds, starting); why != "" {
			t.trace("command_rejected", TraceData{Command: value.CutText(string(c.Type), 40), Flow: value.CutText(c.Flow, 80), Slot: value.CutText(c.Slot, 80), Detail: why})
			continue
		}
		out = append(out, c)
	}
	return out
}

// traced returns the commands without those that set a value which neither the words of the message
// give nor something that was said before: an offer, a question which slot was meant, an earlier
// run. A value that the words only suggest is asked for.
func (t *hearing) traced(cmds []Command) []Command {
	r := t.heard()
	var starting []*agent.Flow
	for _, c := range cmds {
		if f := t.a.def.FlowIndex[c.Flow]; c.Type == StartFlow && f != nil && f != t.flow {
			starting = append(starting, f)
		}
		if c.Type == StartFlow && c.Text == command.Again {
			return cmds
		}
	}
	if len(starting) > 1 {
		return cmds
	}
	return slices.DeleteFunc(cmds, func(c Command) bool {
		if c.Type == CorrectSlot && r.Elsewhere(&c) {
			return true
		}
		if c.Type != SetSlot || c.Value == nil || value.Equal(t.was[c.Slot], c.Value) || value.Equal(t.st.ProposedSlots[c.Slot], c.Value) || value.Equal(t.st.Slots[c.Slot], c.Value) {
			return false
		}
		why := r.Unsupported(&c, starting)
		if why != "" {
			t.trace("command_rejected", TraceData{Command: value.CutText(string(c.Type), 40), Flow: value.CutText(c.Flow, 80), Slot: value.CutText(c.Slot, 80), Detail: why})
		}
		return why != ""
	})
}

// unsupported returns why the words do not support one of several commands, or "" if they do.
func (t *hearing) unsupported(r *words.Reading, c *Command, cmds []Command, starting []*agent.Flow) string {
	switch c.Type {
	case StartFlow:
		if f := t.a.def.FlowIndex[c.Flow]; f != nil && f != t.flow && !slices.Contains(starting, f) && t.mayStart(f) {
			t.mayOffer(f, nil)
			return "the words do not ask for it"
		}
	case SetSlot, CorrectSlot:
		if why := r.Unsupported(c, starting); why != "" {
			return why
		}
		other := func(o Command) bool {
			return o.Gives() && o.Slot == c.Slot && o.Value != nil && c.Value != nil && !value.Equal(o.Value, c.Value) && r.Unsupported(&o, starting) == ""
		}
		if slices.ContainsFunc(cmds, other) {
			return "the words give two values"
		}
	case Confirm:
		if t.st.Confirmation == nil && !r.Likes() && !r.SaysYes() {
			return "no yes"
		}
	default:
	}
	return ""
}

// guardedStarts returns the flows that commands start and the words ask for. It records
// others that the words may mean as offers.
func (t *hearing) guardedStarts(cmds []Command) []*agent.Flow {
	var out []*agent.Flow
	var local []Command
	for _, c := range cmds {
		f := t.a.def.FlowIndex[c.Flow]
		if c.Type != StartFlow || f == nil || f == t.flow {
			continue
		}
		if local == nil {
			r := t.heard()
			local = append(r.Local(), Command{})
			for _, f := range r.Offered() {
				t.mayOffer(f, r.Given())
			}
		}
		asked := slices.ContainsFunc(local, func(l Command) bool { return l.Type == StartFlow && l.Flow == c.Flow })
		if asked && !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

// startedByValues returns the only flow that commands start while no flow is active, if the
// words give a value for one of its slots: "Berlin, if you can". Otherwise it returns nil.
func (t *hearing) startedByValues(cmds []Command) *agent.Flow {
	var f *agent.Flow
	r := t.heard()
	for _, c := range cmds {
		if c.Type != StartFlow {
			continue
		}
		if f != nil {
			return nil
		}
		f = t.a.def.FlowIndex[c.Flow]
	}
	if f == nil || t.flow != nil || r.AsksToBeTold(t.rd.Toks) {
		return nil
	}
	for _, c := range cmds {
		s := t.a.def.SlotIndex[c.Slot]
		if c.Type == SetSlot && s != nil && s.Type != value.TypeBoolean && f.UsesSlot(s) && c.Value != nil && r.Unsupported(&c, []*agent.Flow{f}) == "" {
			return f
		}
	}
	return nil
}

// offerOnly offers the only flow that a model would have started and the words do not
// clearly ask for. It reports whether it did. It offers nothing after a question, which is
// not a request.
func (t *turn) offerOnly() bool {
	if t.flow != nil || len(t.offered) != 1 || t.before == Error || t.heard().AsksToBeTold(t.rd.Toks) || !t.a.words.Startable(t.offered[0]) {
		return false
	}
	t.st.Misses = 0
	t.proposeFlow("", t.offered[0], t.given)
	t.back()
	return true
}

// askWhich asks which of several flows with the same trigger the user means. It reports
// whether there are several.
func (t *turn) askWhich() bool {
	if t.flow != nil || t.before == Error {
		return false
	}
	flows := t.heard().Sharing()
	if len(flows) == 0 {
		return false
	}
	var texts []string
	for _, f := range flows {
		texts = append(texts, offer(f, t.a.def.Lang))
	}
	t.st.Misses = 0
	t.builtin(agent.PatternClarify, builtinContext{"description": value.Enumerate(texts, t.a.def.Lang.Data.Render.Or)})
	t.back()
	return true
}

// proposeFlow asks whether to start a flow with the given values. The key names the phrase;
// if it is "", the clarify flow asks whether the user means this.
func (t *turn) proposeFlow(key string, f *agent.Flow, values map[string]any) {
	if text := strings.TrimSpace(offer(f, t.a.def.Lang)); key != "" {
		t.phrase(key, "description", text)
	} else {
		t.builtin(agent.PatternClarify, builtinContext{"description": text})
	}
	t.st.Proposed, t.st.ProposedSlots = f.Name, values
	t.trace("flow_proposed", TraceData{Flow: f.Name})
}
