package dialog

import (
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/command"
	"github.com/hocketvoice/hocket/dialog/value"
	"github.com/hocketvoice/hocket/dialog/words"
)

// hearing is the message, its meaning, and what of it is used. Commands that the words do
// not support or that the agent does not accept are dropped here. Of several requests one
// is carried out; the others are kept (State.Later) or offered.
type hearing struct {
	flows

	rd  value.Reader
	buf [24]value.Token

	awaited   string         // the slot that was awaited when the message came
	was       map[string]any // State.Either before the message
	suggested *Suggestion    // a suggestion that the message may answer indirectly
	either    []*agent.Slot  // slots to one of which a value belongs
	reached   []*agent.Flow  // flows whose slots the commands may fill

	offered []*agent.Flow  // flows that the user may mean but does not clearly ask for
	given   map[string]any // values that were given for the last offered flow
	barred  *agent.Flow    // a flow that was asked for and may not start
	kept    bool           // whether a further request was kept
	unused  []string       // parts of the message that were not used
}

// meaning returns what u understands, and records the parts that the response depends on.
func (t *hearing) meaning(u command.Understander) command.Meaning {
	m := u.Understand(t.moment(), t.rd.Raw)
	if m.Heard.Lang != nil {
		t.rd = m.Heard
	}
	for _, name := range m.Either {
		t.either = append(t.either, t.a.def.SlotIndex[name])
	}
	if m.Values != nil {
		t.st.Either = m.Values
	}
	for _, name := range m.Offered {
		t.mayOffer(t.a.def.FlowIndex[name], m.Given)
	}
	if m.Respelt != "" {
		t.trace("respelt", TraceData{Flow: m.Respelt})
	}
	t.unused = m.Unused
	return m
}

// moment returns the situation in which the message is understood.
func (t *hearing) moment() *command.Moment {
	st := t.st
	return &command.Moment{
		Now: t.now, CurrentFlow: st.CurrentFlow, WaitingForSlot: st.WaitingForSlot, Slots: st.Slots, Recent: st.Recent, Week: t.rd.Week,
		Confirming: st.Confirmation != nil, Changing: st.Changing, Missed: st.Misses > 0, Failed: t.before == Error, Suggested: t.suggested, Either: t.was,
		Proposed: st.Proposed, ProposedSlots: st.ProposedSlots, Finished: st.Finished,
	}
}

// heard returns the message as package words reads it in the current situation.
func (t *hearing) heard() *words.Reading { return t.a.words.Hear(t.moment(), t.rd) }

// Understand returns the commands. It implements [command.Understander] for the answer of a
// model.
func (in Understood) Understand(*command.Moment, string) command.Meaning {
	m := command.Meaning{Failed: in.Failed, Dropped: in.Dropped}
	for _, c := range in.Commands {
		c.Value = value.Canonical(c.Value)
		m.Commands = append(m.Commands, c)
	}
	return m
}

// read splits a text into tokens for the rest of the turn.
func (t *hearing) read(text string) {
	t.rd = value.Reader{Lang: t.a.def.Lang, Raw: text, Toks: value.Tokenize(text, t.buf[:0]), Now: t.now, Week: t.st.Week}
}

// weekSaid records a week that the message names without a day.
func (t *hearing) weekSaid() {
	if w := t.rd.WeekSaid(); w != "" {
		t.st.Week = w
		t.rd.Week = w
		if s := t.a.def.SlotIndex[t.awaited]; s != nil && s.Type == value.TypeDate {
			t.st.Misses = 0 // a partial answer is not a miss
		}
	}
}

// mayOffer records a flow that the turn may offer, with the values that were given for it.
func (t *hearing) mayOffer(f *agent.Flow, values map[string]any) {
	if !slices.Contains(t.offered, f) && t.mayStart(f) {
		t.offered = append(t.offered, f)
		t.given = values
	}
}

// validating enters VALIDATING_SLOT, with the user's words as the slot's temporary value.
func (t *hearing) validating(s *agent.Slot) {
	st := t.st
	old := st.Slots[s.Name]
	t.told(s)
	st.Slots[s.Name] = t.rd.Raw // rule 3: "Temporary, will be normalized"
	t.enter(ValidatingSlot)
	st.Slots[s.Name] = old
}

// propose records the value that a step suggests, which a yes to its question accepts.
func (t *hearing) propose(s *agent.Step) {
	if s.Suggest == nil || s.Slot.Secret || t.failed {
		return
	}
	v, err := s.Suggest.Eval(t.value)
	if err != nil {
		t.fail("ExpressionError", err.Error())
		return
	}
	if v == nil {
		return
	}
	if kept, sure := t.heard().Normalise(s.Slot, v); sure == value.Certain {
		t.st.Suggested = &Suggestion{Slot: s.Slot.Name, Value: value.Canonical(kept), Offered: true}
	}
}

// foreign reports whether commands concern something other than the built-in flow that
// waits.
func (t *hearing) foreign(cmds []Command) bool {
	return slices.ContainsFunc(cmds, func(c Command) bool {
		switch c.Type {
		case StartFlow, Cancel, Restart:
			return true
		case SetSlot, CorrectSlot:
			s := t.a.def.SlotIndex[c.Slot]
			return s == nil || !t.flow.UsesSlot(s)
		default:
			return false
		}
	})
}

// reach collects the flows whose slots the commands may fill: the flows that they start,
// the current flow, those on the stack, the one that ended last, and the flows that these
// call.
func (t *hearing) reach(cmds []Command) {
	var add func(f *agent.Flow)
	add = func(f *agent.Flow) {
		if f == nil || slices.Contains(t.reached, f) {
			return
		}
		t.reached = append(t.reached, f)
		for _, s := range f.Steps {
			add(s.Target)
		}
	}
	t.reached = nil
	add(t.flow)
	if t.st.Finished != nil {
		add(t.a.def.FlowIndex[t.st.Finished.Flow])
	}
	for _, f := range t.st.Stack {
		add(t.a.def.FlowIndex[f.Flow])
	}
	for _, c := range cmds {
		if c.Type == StartFlow {
			if f := t.a.def.FlowIndex[c.Flow]; f != nil && t.a.words.Startable(f) && t.mayStart(f) {
				add(f)
			}
		}
	}
}

// slotObjection returns why the agent does not accept a command's slot or value, or "".
func (t *hearing) slotObjection(c Command) string {
	if c.Type == CorrectSlot && c.Slot == "" {
		return "" // the user wants to change something, but does not say what
	}
	s := t.a.def.SlotIndex[c.Slot]
	switch {
	case s == nil:
		return "unknown slot"
	case c.Type == SetSlot && c.Value == nil:
		return "no value"
	case s.Type == value.TypeAny:
		return "no slot that a user fills"
	case !slices.ContainsFunc(t.reached, func(f *agent.Flow) bool { return f.UsesSlot(s) }):
		return "no slot of the flow"
	}
	return ""
}

// objection returns why the agent does not accept a command, or "" if it does.
func (t *hearing) objection(c Command) string {
	switch c.Type {
	case StartFlow:
		switch f := t.a.def.FlowIndex[c.Flow]; {
		case f == nil:
			return "unknown flow"
		case f != t.flow && !t.a.words.Startable(f):
			return "no flow that a user starts"
		case f != t.flow && !t.mayStart(f):
			t.barred = f
			return "its condition is false"
		}
	case SetSlot, CorrectSlot:
		return t.slotObjection(c)
	case AskSlot:
		if !t.a.known(c.Slot) {
			return "unknown slot"
		}
	case Confirm:
		if t.st.Confirmation != nil && t.heard().Assent() != words.Assents {
			return "no unconditional yes"
		}
	case Deny:
		if t.st.Confirmation != nil && t.heard().Hedged() {
			return "no plain no"
		}
	case Cancel, Clarify, ListOptions, RepeatLast, Restart, Handoff, Help, Retry, Skip, Chitchat, Goodbye:
	default:
		return "unknown command"
	}
	return ""
}

// checked returns the commands that the agent accepts, and traces the others.
func (t *hearing) checked(cmds []Command) []Command {
	t.reach(cmds)
	return slices.DeleteFunc(cmds, func(c Command) bool {
		why := t.objection(c)
		if why != "" {
			t.trace("command_rejected", TraceData{Command: value.CutText(string(c.Type), 40), Flow: value.CutText(c.Flow, 80), Slot: value.CutText(c.Slot, 80), Detail: why})
		}
		return why != ""
	})
}
