package dialog

import (
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file: a model's commands are held against the words. What they do not bear out is
// not done: it is asked about, or left.

// guarded are the commands that the words bear out.
func (t *turn) guarded(cmds []Command) []Command {
	t.rd.Keep()
	starting := t.guardedStarts(cmds)
	if f := t.startedByValues(cmds); f != nil && len(starting) == 0 {
		starting = []*agent.Flow{f}
	}
	out := cmds[:0:0]
	for _, c := range cmds {
		why := ""
		switch c.Type {
		case StartFlow:
			if f := t.a.def.FlowIndex[c.Flow]; f != nil && f != t.flow && !slices.Contains(starting, f) {
				why = "the words do not ask for it"
				t.mayOffer(f, nil)
			}
		case SetSlot, CorrectSlot:
			why = t.unborne(&c, starting)
			if why == "" && slices.ContainsFunc(cmds, func(o Command) bool {
				return o.Slot == c.Slot && o.Value != nil && c.Value != nil && (o.Type == SetSlot || o.Type == CorrectSlot) && !value.Equal(o.Value, c.Value) && t.unborne(&o, starting) == ""
			}) {
				why = "the words give two values"
			}
		case Confirm:
			if t.st.Confirmation == nil && !t.likes() && !t.saysYes() {
				why = "no yes"
			}
		default:
		}
		if why != "" {
			t.trace("command_rejected", TraceData{Command: value.CutText(string(c.Type), 40), Flow: value.CutText(c.Flow, 80), Slot: value.CutText(c.Slot, 80), Detail: why})
			continue
		}
		out = append(out, c)
	}
	return out
}

// saysYes reports whether the message begins with a yes.
func (t *turn) saysYes() bool {
	answer, _ := t.a.def.Lang.LeadingAnswer(t.rd.Toks)
	return answer == value.Yes
}

// guardedStarts are the flows that commands start and the words ask for.
func (t *turn) guardedStarts(cmds []Command) []*agent.Flow {
	var out []*agent.Flow
	var local []Command
	for _, c := range cmds {
		f := t.a.def.FlowIndex[c.Flow]
		if c.Type != StartFlow || f == nil || f == t.flow {
			continue
		}
		if local == nil {
			local = append(t.local(), Command{})
		}
		asked := slices.ContainsFunc(local, func(l Command) bool { return l.Type == StartFlow && l.Flow == c.Flow })
		if asked && !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}

// startedByValues is the only flow that commands start while none is active, if the words
// give one of its slots a value: "Berlin, if you can".
func (t *turn) startedByValues(cmds []Command) *agent.Flow {
	var f *agent.Flow
	for _, c := range cmds {
		if c.Type != StartFlow {
			continue
		}
		if f != nil {
			return nil
		}
		f = t.a.def.FlowIndex[c.Flow]
	}
	if f == nil || t.flow != nil || t.asksToBeTold(t.rd.Toks) {
		return nil
	}
	for _, c := range cmds {
		s := t.a.def.SlotIndex[c.Slot]
		if c.Type == SetSlot && s != nil && s.Type != value.TypeBoolean && f.UsesSlot(s) && c.Value != nil && t.unborne(&c, []*agent.Flow{f}) == "" {
			return f
		}
	}
	return nil
}

// unborne is why the words do not bear a value out, "" if they do. A value that they do
// not give to the slot that was asked for is suggested instead.
func (t *turn) unborne(c *Command, starting []*agent.Flow) string {
	s := t.a.def.SlotIndex[c.Slot]
	if s == nil || c.Value == nil {
		return ""
	}
	if t.fromSuggestion(c) {
		return ""
	}
	v, sure := t.normalise(s, c.Value)
	if sure != value.Certain || value.Equal(value.Canonical(v), t.st.Slots[c.Slot]) {
		return "" // refused and told about where values are taken, or no change
	}
	f := t.flowOfSlot(s, starting)
	if f == nil {
		return ""
	}
	awaited := len(starting) == 0 && s.Name == t.st.WaitingForSlot
	switch {
	case s.Type == value.TypeBoolean:
		if !awaited && !t.namesWordOf(s) {
			return "the words do not name the slot"
		}
		return ""
	case s.Free() || s.Type == value.TypeCity && !s.Closed():
		return t.unborneText(s, c, f, awaited)
	}
	return t.unborneSpan(s, value.Canonical(v), f, awaited)
}

// fromSuggestion reports whether a command is the yes to a value that was suggested.
func (t *turn) fromSuggestion(c *Command) bool {
	return t.suggested != nil && t.suggested.Slot == c.Slot && value.Equal(t.suggested.Value, c.Value) && t.affirms()
}

// affirms reports whether the message may be a yes to a value that was suggested: it does
// not say no, asks nothing, and gives the slot no other value.
func (t *turn) affirms() bool {
	s := t.a.def.SlotIndex[t.suggested.Slot]
	return s != nil && !t.answerWords(t.rd.Toks).no && !t.asks(t.rd.Toks) && !strings.Contains(t.rd.Raw, "?") && t.nothingFor(s, 0)
}

// flowOfSlot is the flow that a value is for.
func (t *turn) flowOfSlot(s *agent.Slot, starting []*agent.Flow) *agent.Flow {
	flows := starting
	if t.flow != nil {
		flows = append(slices.Clone(flows), t.flow)
	}
	if t.flow == nil && t.st.Finished != nil {
		flows = append(slices.Clone(flows), t.a.def.FlowIndex[t.st.Finished.Flow])
	}
	for _, f := range flows {
		if f != nil && slices.Contains(f.Slots, s) {
			return f
		}
	}
	if len(flows) > 0 {
		return flows[0]
	}
	return nil
}

// unborneSpan holds a value with a form of its own against those in the words.
func (t *turn) unborneSpan(s *agent.Slot, v any, f *agent.Flow, awaited bool) string {
	spans := t.spans(f)
	k := slices.IndexFunc(spans, func(x found) bool { return x.slot == s && value.Equal(value.Canonical(x.value), v) })
	if k < 0 {
		if got, sure := t.rd.Answer(&s.Spec); awaited && sure == value.Certain && value.Equal(value.Canonical(got), v) {
			return ""
		}
		if got, sure := t.rd.Misheard(&s.Spec); sure != value.Unread && value.Equal(value.Canonical(got), v) && awaited {
			return ""
		}
		return "the words do not give the value"
	}
	x := spans[k]
	named := x.cue || t.namedAlone(s, x, spans)
	if denied(t.rd, x) {
		return "the words say that it is not meant"
	}
	for _, o := range spans {
		other := o.start >= x.end || o.end <= x.start
		switch {
		case o.slot == s && other && (o.cue || !x.cue) && !value.Equal(o.value, x.value) && !value.Equal(o.value, t.st.Slots[s.Name]) && !t.pointedElsewhere(o, f) && !denied(t.rd, o):
			return "the words give two values"
		case o.slot != s && !other && !named && !awaited && (o.slot.Name == t.st.WaitingForSlot || o.cue || s.Past || !o.slot.Past) && t.acceptable(o):
			return "the words do not say which slot"
		}
	}
	if !named && !awaited && s.Numeric() && t.flow != nil && t.st.Confirmation == nil && !t.counts(s, x) {
		return "the words do not name the slot"
	}
	return ""
}

// namedAlone reports whether the message names the slot somewhere, and has one value
// that it takes.
func (t *turn) namedAlone(s *agent.Slot, x found, spans []found) bool {
	if slices.ContainsFunc(spans, func(o found) bool { return o.start >= x.end || o.end <= x.start }) {
		return false
	}
	return s.Cues.Within(t.rd.Toks) || s.Mentions.Within(t.rd.Toks) || t.namesWordOf(s)
}

// counts reports whether a number stands with what it counts, or the currency.
func (t *turn) counts(s *agent.Slot, x found) bool {
	if s.Type == value.TypeMoney {
		_, currency, _ := t.rd.Lang.Amount(t.rd.Toks, x.start)
		return currency != ""
	}
	return t.a.unit(t.rd, s, x.end)
}

// pointedElsewhere reports whether the words before a value point to another slot.
func (t *turn) pointedElsewhere(x found, f *agent.Flow) bool {
	_, score := t.a.pointed(t.rd, x.slot, f.Slots, x.start)
	return score < 0
}

// unborneText holds a text or a name against the words.
func (t *turn) unborneText(s *agent.Slot, c *Command, f *agent.Flow, awaited bool) string {
	text, _ := c.Value.(string)
	toks := value.Tokenize(text, nil)
	at := -1
	for i := 0; len(toks) > 0 && i+len(toks) <= len(t.rd.Toks); i++ {
		if value.JoinTokens(t.rd.Toks[i:i+len(toks)]) == value.JoinTokens(toks) {
			at = i
			break
		}
	}
	switch {
	case at < 0:
		return "the words do not give the value"
	case t.rd.Negated(at, at+len(toks)):
		return "the words say that it is not meant"
	case awaited || t.a.cueBefore(t.rd, s, at) > 0 || s.TypeCues != nil && s.TypeCues.EndsAt(t.rd.Toks, at) > 0 || t.namesWordOf(s):
		return ""
	}
	rival := func(o *agent.Slot) bool { return o != s && (o.Free() || o.Type == value.TypeCity && !o.Closed()) }
	if t.flow != nil && t.st.Slots[s.Name] != nil || slices.ContainsFunc(f.Slots, rival) {
		return "the words do not name the slot"
	}
	return ""
}

// namesWordOf reports whether the message has a word of the slot's name.
func (t *turn) namesWordOf(s *agent.Slot) bool {
	for i := range t.rd.Toks {
		if w, _ := t.rd.Lang.Meaning(t.rd.Toks, i); s.Keys[w] || s.Words[w] {
			return true
		}
	}
	return s.Mentions.Within(t.rd.Toks)
}

// mayOffer notes a flow that is to be asked about, with the values that were said for it.
func (t *turn) mayOffer(f *agent.Flow, values []found) {
	if slices.Contains(t.offered, f) {
		return
	}
	t.offered = append(t.offered, f)
	for _, v := range values {
		if !v.slot.Secret {
			put(&t.given, v.slot.Name, value.Canonical(v.value))
		}
	}
}

// offerOnly asks about a flow that a model would have started and the words do not ask
// for plainly. It reports whether it did: a question is no request.
func (t *turn) offerOnly() bool {
	if t.flow != nil || len(t.offered) != 1 || t.before == Error || t.asksToBeTold(t.rd.Toks) || !t.a.startable(t.offered[0]) {
		return false
	}
	t.st.Misses = 0
	t.proposeFlow("propose_flow", t.offered[0], t.given)
	t.back()
	return true
}

// askWhich asks which of several flows with the same trigger is meant. It reports whether
// there are several.
func (t *turn) askWhich() bool {
	if t.flow != nil || t.before == Error {
		return false
	}
	flows := t.a.sharing(t.rd.Toks)
	if len(flows) == 0 {
		return false
	}
	var texts []string
	for _, f := range flows {
		texts = append(texts, offer(f, t.a.def.Lang))
	}
	t.st.Misses = 0
	t.phrase("propose_flow", "description", value.Enumerate(texts, t.a.def.Lang.Data.Render.Or))
	t.back()
	return true
}

// proposeFlow asks whether a flow is to begin, with the values that were given for it.
func (t *turn) proposeFlow(key string, f *agent.Flow, values map[string]any) {
	t.phrase(key, "description", strings.TrimSpace(offer(f, t.a.def.Lang)))
	t.st.Proposed, t.st.ProposedSlots = f.Name, values
	t.trace("flow_proposed", TraceData{Flow: f.Name})
}
