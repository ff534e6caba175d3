package words

import (
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/command"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file understands requests to repeat what was done: "book it again", "book another flight".

// onceAgain returns the commands that start the flow that ended last anew, if it changes something.
// What it has done stays done. "Again" asks for the same, so the new run gets the values that the last one asked for;
// they are read back before anything is done. "Another" asks for something else: the new run gets
// the values of the message only.
func (t *message) onceAgain() []command.Command {
	if t.flow != nil || t.st.Finished == nil {
		return nil
	}
	l, f := t.a.def.Lang, t.a.def.FlowIndex[t.st.Finished.Flow]
	if f == nil || !changes(f) || t.a.closed[f] || !t.a.Startable(f) || t.negates(f) || !t.mayAsk(f, t.rd.Toks) {
		return nil
	}
	rest := *t
	same := rest.without(l.Again)
	values := t.a.extract(t.rd, f.Slots, nil)
	_, whole := l.CommandSets["same_again"].Whole(t.a.Core(t.rd.Toks))
	switch {
	case whole, same && rest.asksOnlyFor(f, values):
		values = t.asBefore(f, values)
	case !same && rest.without(l.Others) && rest.asksOnlyFor(f, values):
	default:
		return nil
	}
	cmds := []command.Command{{Type: command.StartFlow, Flow: f.Name}}
	for _, v := range values {
		cmds = append(cmds, command.Command{Type: command.SetSlot, Slot: v.slot.Name, Value: v.value})
	}
	return cmds
}

// without removes the first of some phrases from the message and reports whether it has one.
func (t *message) without(p *value.Phrases) bool {
	for i := range t.rd.Toks {
		if _, n := p.At(t.rd.Toks, i); n > 0 {
			t.leaveOut(i, i+n)
			return true
		}
	}
	return false
}

// asksOnlyFor reports whether the message contains the first word of one of the flow's triggers
// and otherwise only words of the flow and common words: "book it", but not "cancel it" for a
// booking.
func (t *message) asksOnlyFor(f *agent.Flow, values []found) bool {
	if _, strange := t.ownWords(f, values); strange < len(t.rd.Toks) {
		return false
	}
	said := t.a.def.Lang.Contents(t.rd.Toks, nil)
	return slices.ContainsFunc(t.a.triggers[f.Index], func(tr triggerWords) bool {
		return len(tr.words) > 0 && slices.Contains(said, tr.words[0])
	})
}

// asBefore returns values and, except for secrets, those that the last run of the flow has asked
// the user for.
func (t *message) asBefore(f *agent.Flow, values []found) []found {
	given := make(map[*agent.Slot]bool)
	for _, v := range values {
		given[v.slot] = true
	}
	for _, step := range f.Steps {
		s := step.Slot
		if step.Type != agent.StepCollect || step.AskFirst || given[s] || s.Secret || t.st.Slots[s.Name] == nil {
			continue
		}
		given[s] = true
		values = append(values, found{slot: s, value: t.st.Slots[s.Name]})
	}
	return values
}
