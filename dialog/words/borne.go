package words

import (
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/command"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file checks whether the words support what a model understood.

// SaysYes reports whether the message begins with a yes.
func (t *Reading) SaysYes() bool {
	answer, _ := t.a.def.Lang.LeadingAnswer(t.rd.Toks)
	return answer == value.Yes
}

// Unborne returns why the words do not support a value from a model, or "" if they do.
func (t *Reading) Unborne(c *command.Command, starting []*agent.Flow) string {
	s := t.a.def.SlotIndex[c.Slot]
	if s == nil || c.Value == nil {
		return ""
	}
	if t.fromSuggestion(c) {
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
	awaited := len(starting) == 0 && s.Name == t.st.WaitingForSlot
	if len(starting) == 0 && t.onlyAsks(s, f) {
		return "the words ask about it"
	}
	switch {
	case s.Type == value.TypeBoolean:
		return t.unborneYesNo(s, awaited)
	case s.Free() || s.Type == value.TypeCity && !s.Closed():
		return t.unborneText(s, c, f, awaited)
	}
	why := t.unborneSpan(s, value.Canonical(v), f, awaited, len(starting) > 0)
	if why != "" && t.matches(s, value.Canonical(v)) {
		return ""
	}
	return why
}

// unborneYesNo is Unborne for a yes or no.
func (t *message) unborneYesNo(s *agent.Slot, awaited bool) string {
	if t.namesWordOf(s) {
		return ""
	}
	if !awaited {
		return "the words do not name the slot"
	}
	l, toks := t.a.def.Lang, t.rd.Toks
	said, _ := l.LeadingAnswer(toks)
	if chosen, _ := l.Choice(&s.Spec, toks); said != value.NoAnswer && chosen == value.NoAnswer {
		return "the words answer something else"
	}
	return ""
}

// Elsewhere reports whether the words tell the value of a correction of something else, or want to
// know about it: "the rent is 800" is no account number.
func (t *Reading) Elsewhere(c *command.Command) bool {
	s := t.a.def.SlotIndex[c.Slot]
	if s == nil || c.Value == nil || t.flow == nil {
		return false
	}
	spans := t.spans(t.flow)
	i := slices.IndexFunc(spans, func(x found) bool {
		return x.slot == s && value.Equal(value.Canonical(x.value), value.Canonical(c.Value))
	})
	if i < 0 {
		return false
	}
	x := spans[i]
	return t.rd.Within(x.start) == value.Wanting || t.tellsPast(x) || !x.cue && t.tellsOfOther(x)
}

// matches reports whether a trigger with slots that the message matches gives the value.
func (t *message) matches(s *agent.Slot, v any) bool {
	_, values := t.byPattern()
	return slices.ContainsFunc(values, func(x found) bool { return x.slot == s && value.Equal(value.Canonical(x.value), v) })
}

// fromSuggestion reports whether a command is a yes to a suggested value.
func (t *Reading) fromSuggestion(c *command.Command) bool {
	return t.st.Suggested != nil && t.st.Suggested.Slot == c.Slot && value.Equal(t.st.Suggested.Value, c.Value) && t.Affirms()
}

// Accepts reports whether a message that begins with a yes takes a suggested value. Other words
// begin at token rest. What the agent has found is taken with praise, and in a sentence that gives no
// other value and asks nothing. What was read in the user's words needs a plain yes.
func (t *Reading) Accepts(s *agent.Slot, sg *command.Suggestion, rest int) bool {
	toks := t.rd.Toks
	if !sg.Offered {
		return t.a.def.Lang.SaysYes(toks) && (rest == len(toks) || t.besides(toks[rest:]))
	}
	if rest == len(toks) {
		return true
	}
	asks := strings.Contains(t.rd.Raw[toks[rest].Start:], "?") || t.rd.Within(len(toks)-1) != value.Told
	return t.NothingFor(s, rest) && !asks
}

// Affirms reports whether the message may be a yes to a suggested value: it contains no
// "no", is not a question, and gives no other value for the slot.
func (t *Reading) Affirms() bool {
	s := t.a.def.SlotIndex[t.st.Suggested.Slot]
	return s != nil && !t.answerWords(t.rd.Toks).no && !t.asks(t.rd.Toks) && !strings.Contains(t.rd.Raw, "?") && t.NothingFor(s, 0)
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

// unborneSpan is Unborne for values with a form: it looks for the value among those in the
// words. starts says that the flow starts with the value: the words that the agent does not know
// may then be what starts it, as a model has understood them.
func (t *message) unborneSpan(s *agent.Slot, v any, f *agent.Flow, awaited, starts bool) string {
	spans := t.spans(f)
	is := func(x found) bool { return x.slot == s && value.Equal(value.Canonical(x.value), v) }
	if i := slices.IndexFunc(spans, is); i >= 0 {
		switch x := spans[i]; {
		case t.tellsPast(x):
			return "the words tell what was"
		case s.Numeric() && t.tellsOfOther(x), s.Numeric() && !starts && !t.counts(s, x) && t.aboutOther(x, 1):
			return "the words tell it of something else"
		}
	}
	if t.namesSlotOf(s, f, is) {
		return ""
	}
	k := slices.IndexFunc(spans, is)
	if k < 0 {
		if awaited && t.answersWith(s, v) || t.assigns(s, v) {
			return ""
		}
		return "the words do not give the value"
	}
	x := spans[k]
	if denied(t.rd, x) {
		return "the words say that it is not meant"
	}
	if !x.cue && t.tellsOfOther(x) {
		return "the words tell it of something else"
	}
	plain := awaited || x.cue || t.namedAlone(s, x, spans)
	for _, o := range spans {
		apart := o.start >= x.end || o.end <= x.start
		switch {
		case apart && o.slot == s && t.rivals(o, x, f):
			return "the words give two values"
		case !apart && o.slot != s && !plain && t.mayMean(o, s) && !pointed(spans, o):
			return "the words do not say which slot"
		}
	}
	if !plain && s.Numeric() && t.flow != nil && !t.counts(s, x) && (!t.st.Confirming || !t.bareBut(s, x.start)) {
		return "the words do not name the slot"
	}
	return ""
}

// namesSlotOf reports whether what a number counts, the words before a value or those of a range
// say that a value is for the slot, and the message has no other value for it.
func (t *message) namesSlotOf(s *agent.Slot, f *agent.Flow, is func(found) bool) bool {
	all := t.a.candidates(t.rd, f.Slots, nil)
	if slices.ContainsFunc(t.a.ranges(t.rd, f.Slots, all), is) {
		return true
	}
	all = t.a.decided(t.rd, f.Slots, all)
	return slices.ContainsFunc(all, func(x found) bool { return is(x) && (s.Numeric() || x.cue) }) &&
		!slices.ContainsFunc(all, func(x found) bool { return x.slot == s && !is(x) })
}

// pointed reports whether words point to the slot of x with a value at another place: "on the 6th,
// returning on the 12th" says which day the 6th is.
func pointed(spans []found, x found) bool {
	return slices.ContainsFunc(spans, func(o found) bool { return o.slot == x.slot && o.cue && (o.start >= x.end || o.end <= x.start) })
}

// rivals reports whether the message gives o for the slot of x as well, which is at another
// place: o is a new value, is not denied, and the words before it point to the slot no less.
func (t *message) rivals(o, x found, f *agent.Flow) bool {
	known := value.Equal(o.value, x.value) || value.Equal(o.value, t.st.Slots[x.slot.Name])
	return !known && (o.cue || !x.cue) && !t.pointedElsewhere(o, f) && !denied(t.rd, o)
}

// mayMean reports whether the words of a value for slot s may mean o, a value for another slot.
func (t *message) mayMean(o found, s *agent.Slot) bool {
	return (o.slot.Name == t.st.WaitingForSlot || o.cue || s.Past || !o.slot.Past) && t.acceptable(o)
}

// answersWith reports whether the message as a whole, as it was said or misheard, is the value.
func (t *message) answersWith(s *agent.Slot, v any) bool {
	if got, sure := t.rd.Answer(&s.Spec); sure == value.Certain && value.Equal(value.Canonical(got), v) {
		return true
	}
	got, sure := t.rd.Misheard(&s.Spec)
	return sure != value.Unread && value.Equal(value.Canonical(got), v)
}

// assigns reports whether the value follows the slot's name: "the security code is 12".
func (t *message) assigns(s *agent.Slot, v any) bool {
	x, ok := t.a.named(t.rd, s)
	return ok && value.Equal(value.Canonical(x.value), v)
}

// namedAlone reports whether the message names the slot and has no value at another place.
func (t *message) namedAlone(s *agent.Slot, x found, spans []found) bool {
	if slices.ContainsFunc(spans, func(o found) bool { return o.start >= x.end || o.end <= x.start }) {
		return false
	}
	return s.Cues.Within(t.rd.Toks) || s.Mentions.Within(t.rd.Toks) || t.namesWordOf(s)
}

// counts reports whether a number is followed by what it counts, or has a currency.
func (t *message) counts(s *agent.Slot, x found) bool {
	if s.Type == value.TypeMoney {
		_, currency, _ := t.rd.Lang.Amount(t.rd.Toks, x.start)
		return currency != ""
	}
	return t.a.unit(t.rd, s, x.end)
}

// pointedElsewhere reports whether the words before a value point to another slot.
func (t *message) pointedElsewhere(x found, f *agent.Flow) bool {
	_, score := t.a.pointed(t.rd, x.slot, f.Slots, x.start)
	return score < 0
}

// unborneText is Unborne for texts and names: it looks for the text in the words.
func (t *message) unborneText(s *agent.Slot, c *command.Command, f *agent.Flow, awaited bool) string {
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

// namesWordOf reports whether the message contains a word of the slot's name.
func (t *message) namesWordOf(s *agent.Slot) bool {
	for i := range t.rd.Toks {
		if w, _ := t.rd.Lang.Meaning(t.rd.Toks, i); s.Keys[w] || s.Words[w] {
			return true
		}
	}
	return s.Mentions.Within(t.rd.Toks)
}

// mayOffer records a flow that may be offered, with the values that were given for it.
func (t *Reading) mayOffer(f *agent.Flow, values []found) {
	if slices.Contains(t.offered, f) {
		return
	}
	t.offered = append(t.offered, f)
	for _, v := range values {
		if !v.slot.Secret {
			if t.given == nil {
				t.given = make(map[string]any)
			}
			t.given[v.slot.Name] = value.Canonical(v.value)
		}
	}
}

// Normalise converts a value that a model or a caller gave for a slot to the form in which
// it is stored. The value may also be worded as people say it.
func (t *Reading) Normalise(s *agent.Slot, val any) (any, value.Certainty) {
	text, isText := val.(string)
	switch s.Type {
	case value.TypeBoolean:
		if b, ok := val.(bool); ok {
			return b, value.Certain
		}
		switch text {
		case "true", "True":
			return true, value.Certain
		case "false", "False":
			return false, value.Certain
		}
	case value.TypeInteger, value.TypeNumber, value.TypeFloat, value.TypeMoney:
		if f, ok := value.ToNumber(val); ok {
			if s.Type == value.TypeInteger && f != float64(int64(f)) {
				return nil, value.Unread
			}
			return value.Number(f), value.Certain
		}
	case value.TypeDate:
		if _, ok := value.ParseDate(text); ok {
			return text, value.Certain
		}
	case value.TypeTime:
		if _, ok := value.ParseTime(text); ok {
			return text, value.Certain
		}
	case value.TypeString, value.TypeName, value.TypeAddress, value.TypeCity:
		if !s.Closed() {
			if !isText {
				text = value.RawText(val)
			}
			if text == "" {
				return nil, value.Unread
			}
			return text, value.Certain
		}
	case value.TypeAny:
		return value.Canonical(val), value.Certain
	case value.TypeDigits, value.TypeCode, value.TypeEmail, value.TypePhone, value.TypeEnum:
	}
	if !isText {
		text = value.RawText(val)
	}
	if text == "" {
		return nil, value.Unread
	}
	var buf [24]value.Token
	rd := value.Reader{Lang: t.a.def.Lang, Raw: text, Toks: value.Tokenize(text, buf[:0]), Now: t.st.Now}
	v, sure := rd.Answer(&s.Spec)
	if sure == value.Unread && s.Closed() {
		v, sure = rd.Misheard(&s.Spec)
	}
	return v, sure
}

// NothingFor reports whether the words after a yes, from token rest on, give no other value
// for the slot: "yes, that is the one I meant".
func (t *Reading) NothingFor(s *agent.Slot, rest int) bool {
	sub := t.rd
	sub.Toks = sub.Toks[rest:]
	return !t.a.def.Lang.Wrong(sub.Toks) && len(t.a.extract(sub, []*agent.Slot{s}, s)) == 0
}
