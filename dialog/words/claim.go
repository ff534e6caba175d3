package words

import (
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/command"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file checks whether the words support a value that was understood for a slot.

// claim is a value that a message is said to give for a slot.
type claim struct {
	*message

	slot    *agent.Slot
	value   any // canonical
	of      *agent.Flow
	awaited bool // the slot was asked for
	// starts says that the flow starts with the value. The words that the agent does not know may
	// then be what starts it, as a model has understood them.
	starts bool
}

// Unsupported returns why the words do not support a value, or "" if they do. starting are the
// flows that start with it.
func (t *Reading) Unsupported(c *command.Command, starting []*agent.Flow) string {
	s := t.a.def.SlotIndex[c.Slot]
	if s == nil || c.Value == nil || t.fromSuggestion(c) {
		return ""
	}
	v, sure := t.Normalise(s, c.Value)
	if sure != value.Certain || value.Equal(value.Canonical(v), t.st.Slots[c.Slot]) {
		return "" // invalid, which is reported when the value is taken, or unchanged
	}
	f := t.flowOfSlot(s, starting)
	if f == nil {
		return ""
	}
	starts := len(starting) > 0
	if !starts && t.onlyAsks(s, f) {
		return "the words ask about it"
	}
	said := claim{message: &t.message, slot: s, value: value.Canonical(v), of: f, awaited: !starts && s.Name == t.st.WaitingForSlot, starts: starts}
	switch {
	case s.Type == value.TypeBoolean:
		return said.yesNoUnsupported()
	case s.Free() || s.Type == value.TypeCity && !s.Closed():
		return said.textUnsupported(c)
	}
	why := said.spanUnsupported()
	if why != "" && said.matches() {
		return ""
	}
	return why
}

// flowOfSlot returns the flow that a value of the slot is for.
func (t *message) flowOfSlot(s *agent.Slot, starting []*agent.Flow) *agent.Flow {
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

// yesNoUnsupported is Unsupported for a yes or no.
func (c *claim) yesNoUnsupported() string {
	if c.namesWordOf(c.slot) {
		return ""
	}
	if !c.awaited {
		return "the words do not name the slot"
	}
	l, toks := c.a.def.Lang, c.rd.Toks
	said, _ := l.LeadingAnswer(toks)
	if chosen, _ := l.Choice(&c.slot.Spec, toks); said != value.NoAnswer && chosen == value.NoAnswer {
		return "the words answer something else"
	}
	return ""
}

// spanUnsupported is Unsupported for values with a form: it looks for the value among those in the
// words.
func (c *claim) spanUnsupported() string {
	spans := c.spans(c.of)
	k := slices.IndexFunc(spans, c.is)
	if k >= 0 {
		if why := c.toldOfOther(spans[k]); why != "" {
			return why
		}
	}
	if c.namesSlot() {
		return ""
	}
	if k < 0 {
		if c.awaited && c.wholeAnswer() || c.assigned() {
			return ""
		}
		return "the words do not give the value"
	}
	x := spans[k]
	if denied(c.rd, x) {
		return "the words say that it is not meant"
	}
	if !x.cue && c.tellsOfOther(x) {
		return "the words tell it of something else"
	}
	pointed := c.awaited || x.cue || c.namedAlone(x, spans)
	if why := c.contested(x, spans, pointed); why != "" {
		return why
	}
	number := c.slot.Numeric() && c.flow != nil && !c.counts(c.slot, x)
	if !pointed && number && (!c.st.Confirming || !c.bareBut(c.slot, x.start)) {
		return "the words do not name the slot"
	}
	return ""
}

// is reports whether a value in the words is the claimed one.
func (c *claim) is(x found) bool {
	return x.slot == c.slot && value.Equal(value.Canonical(x.value), c.value)
}

// toldOfOther returns why the sentence of the value is about something else, or "".
func (c *claim) toldOfOther(x found) string {
	switch {
	case c.tellsPast(x):
		return "the words tell what was"
	case !c.slot.Numeric():
		return ""
	case c.tellsOfOther(x), !c.starts && !c.counts(c.slot, x) && c.aboutOther(x, 1):
		return "the words tell it of something else"
	}
	return ""
}

// contested returns which other value in the words leaves open what x is for, or "". pointed says
// that the words point to the slot.
func (c *claim) contested(x found, spans []found, pointed bool) string {
	for _, o := range spans {
		switch apart := o.start >= x.end || o.end <= x.start; {
		case apart && o.slot == c.slot && c.rivals(o, x):
			return "the words give two values"
		case !apart && o.slot != c.slot && !pointed && c.mayMean(o) && !cuedElsewhere(spans, o):
			return "the words do not say which slot"
		}
	}
	return ""
}

// namesSlot reports whether what a number counts, the words before a value or those of a range
// say that the value is for the slot, and the message has no other value for it.
func (c *claim) namesSlot() bool {
	all := c.a.candidates(c.rd, c.of.Slots, nil)
	if slices.ContainsFunc(c.a.ranges(c.rd, c.of.Slots, all), c.is) {
		return true
	}
	all = c.a.decided(c.rd, c.of.Slots, all)
	return slices.ContainsFunc(all, func(x found) bool { return c.is(x) && (c.slot.Numeric() || x.cue) }) &&
		!slices.ContainsFunc(all, func(x found) bool { return x.slot == c.slot && !c.is(x) })
}

// cuedElsewhere reports whether words point to the slot of x with a value at another place: "on the
// 6th, returning on the 12th" says which day the 6th is.
func cuedElsewhere(spans []found, x found) bool {
	return slices.ContainsFunc(spans, func(o found) bool { return o.slot == x.slot && o.cue && (o.start >= x.end || o.end <= x.start) })
}

// rivals reports whether the message gives o for the slot of x as well, which is at another
// place: o is a new value, is not denied, and the words before it point to the slot no less.
func (c *claim) rivals(o, x found) bool {
	known := value.Equal(o.value, x.value) || value.Equal(o.value, c.st.Slots[x.slot.Name])
	_, score := c.a.pointed(c.rd, o.slot, c.of.Slots, o.start)
	return !known && (o.cue || !x.cue) && score >= 0 && !denied(c.rd, o)
}

// mayMean reports whether the words of the value may mean o, a value for another slot.
func (c *claim) mayMean(o found) bool {
	return (o.slot.Name == c.st.WaitingForSlot || o.cue || c.slot.Past || !o.slot.Past) && c.acceptable(o)
}

// wholeAnswer reports whether the message as a whole, as it was said or misheard, is the value.
func (c *claim) wholeAnswer() bool {
	if got, sure := c.rd.Answer(&c.slot.Spec); sure == value.Certain && value.Equal(value.Canonical(got), c.value) {
		return true
	}
	got, sure := c.rd.Misheard(&c.slot.Spec)
	return sure != value.Unread && value.Equal(value.Canonical(got), c.value)
}

// assigned reports whether the value follows the slot's name: "the security code is 12".
func (c *claim) assigned() bool {
	x, ok := c.a.named(c.rd, c.slot)
	return ok && value.Equal(value.Canonical(x.value), c.value)
}

// matches reports whether a trigger with slots that the message matches gives the value.
func (c *claim) matches() bool {
	_, values := c.byPattern()
	return slices.ContainsFunc(values, c.is)
}

// namedAlone reports whether the message names the slot and has no value at another place.
func (c *claim) namedAlone(x found, spans []found) bool {
	if slices.ContainsFunc(spans, func(o found) bool { return o.start >= x.end || o.end <= x.start }) {
		return false
	}
	return c.slot.Cues.Within(c.rd.Toks) || c.namesWordOf(c.slot)
}

// textUnsupported is Unsupported for texts and names: it looks for the text in the words.
func (c *claim) textUnsupported(cmd *command.Command) string {
	s := c.slot
	text, _ := cmd.Value.(string)
	at, n := c.textAt(text)
	switch {
	case at < 0:
		return "the words do not give the value"
	case c.rd.Negated(at, at+n):
		return "the words say that it is not meant"
	case c.awaited || c.a.introduces(c.rd, s, at) || c.namesWordOf(s):
		return ""
	}
	rival := func(o *agent.Slot) bool { return o != s && (o.Free() || o.Type == value.TypeCity && !o.Closed()) }
	if c.flow != nil && c.st.Slots[s.Name] != nil || slices.ContainsFunc(c.of.Slots, rival) {
		return "the words do not name the slot"
	}
	return ""
}

// textAt returns the index and number of the message's tokens that are the text, or -1.
func (c *claim) textAt(text string) (i, n int) {
	toks := value.Tokenize(text, nil)
	for i := 0; len(toks) > 0 && i+len(toks) <= len(c.rd.Toks); i++ {
		if value.JoinTokens(c.rd.Toks[i:i+len(toks)]) == value.JoinTokens(toks) {
			return i, len(toks)
		}
	}
	return -1, 0
}
