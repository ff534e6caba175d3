package words

import (
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file tells simple values from messages that must be understood (the economy of
// seed 003).

// Simple reads the message as a simple value for the awaited slot (seed 003,
// WAITING_FOR_SLOT, Optimization). If direct is false, the message must be understood. A
// direct message that is [value.Unread] is an invalid value.
func (t *Reading) Simple(s *agent.Slot) (val any, sure value.Certainty, direct bool) {
	if len(t.rd.Toks) == 0 {
		return nil, value.Unread, false
	}
	if val, ok := t.exact(s); ok {
		return val, value.Certain, true
	}
	if s.Type == value.TypeBoolean || t.marked(s) {
		return nil, value.Unread, false
	}
	val, sure = t.rd.Answer(&s.Spec)
	switch {
	case sure != value.Unread && (t.foreign(s) || t.listedFor(s, val)) || s.AnyWords() && t.saysOther(s):
		return nil, value.Unread, false
	case s.Free():
		return t.simpleText(s, val, sure)
	case sure == value.Certain:
		return val, sure, true
	default:
		return t.simpleMisheard(s)
	}
}

// exact returns the value that the whole message is, in one of the forms that the slot has of
// its own: one of its values, the end of a value that was begun, a yes or no.
func (t *Reading) exact(s *agent.Slot) (val any, ok bool) {
	toks := t.rd.Toks
	if s.Closed() {
		if id, ok := s.Lookup.Whole(toks); ok {
			return s.Values[id].Value, true
		}
	}
	if v, ok := t.rd.Completed(&s.Spec, t.st.Either[s.Name]); ok {
		return v, true
	}
	if s.Type == value.TypeBoolean {
		v, sure := t.rd.Answer(&s.Spec)
		return v, sure == value.Certain
	}
	if answer := t.a.def.Lang.YesOrNo(toks); answer != value.NoAnswer && s.YesNo != [3]string{} {
		if word := s.YesNo[answer]; word != "" {
			return word, true
		}
		return t.rd.Raw, true
	}
	return nil, false
}

// saysOther reports whether the message is a question, a yes or no that the slot cannot take,
// or thanks. A slot for any words does not take these.
func (t *Reading) saysOther(s *agent.Slot) bool {
	toks := t.rd.Toks
	if s.Type != value.TypeString && s.Type != value.TypeAddress && thanksFor(t.rd, toks) {
		return true
	}
	return strings.Contains(t.rd.Raw, "?") || slices.ContainsFunc(t.rd.Sentences(toks), t.asks) || !s.TakesYesNo() && t.a.def.Lang.YesOrNo(toks) != value.NoAnswer || t.thanks(toks)
}

// simpleText is Simple for slots of text and names. val and sure are what was read.
func (t *Reading) simpleText(s *agent.Slot, val any, sure value.Certainty) (any, value.Certainty, bool) {
	if s.Type != value.TypeName {
		if sure == value.Certain && !t.st.Missed && t.asText(s, val).isOther() {
			return nil, value.Unread, false
		}
		if sure == value.Certain && t.asText(s, val).mayBeOther() {
			sure = value.Doubtful
		}
		return val, sure, true
	}
	if sure == value.Unread && len(t.a.def.Lang.Trim(t.rd.Toks)) <= 2 && !t.elsewhere(s) {
		return nil, value.Unread, true // "42"
	}
	if sure == value.Unread || !t.bareName(val) || t.onlyRequests() {
		return nil, value.Unread, false // a sentence, perhaps with a name
	}
	return val, sure, true
}

// listedFor reports whether a name or place that was read for a slot is one of the values that
// another slot of the flow has: "small" is the size, not the place.
func (t *message) listedFor(s *agent.Slot, v any) bool {
	text, _ := v.(string)
	if text == "" || s.Closed() || s.Type != value.TypeCity && s.Type != value.TypeName {
		return false
	}
	return t.a.listed(t.flow.Slots, s, value.Tokenize(text, nil))
}

// listed reports whether words are a listed value of another slot.
func (a *Words) listed(slots []*agent.Slot, s *agent.Slot, toks []value.Token) bool {
	return slices.ContainsFunc(slots, func(o *agent.Slot) bool {
		if o == s || !o.Closed() {
			return false
		}
		_, whole := o.Lookup.Whole(toks)
		return whole
	})
}

// simpleMisheard is Simple for a message that is not certainly a value: a short one may be a
// value that was misheard, or an invalid one.
func (t *Reading) simpleMisheard(s *agent.Slot) (any, value.Certainty, bool) {
	l := t.a.def.Lang
	core := l.Trim(t.rd.Toks)
	if _, n := l.Soft.At(core, 0); n > 0 || t.asks(t.rd.Toks) || len(core) > 4 || len(core) == 0 {
		return nil, value.Unread, false
	}
	if _, open := t.choice(); len(open) > 0 {
		return nil, value.Unread, false
	}
	if val, sure := t.rd.Misheard(&s.Spec); sure != value.Unread {
		return val, sure, true
	}
	return nil, value.Unread, (len(core) <= 2 || s.Closed()) && !t.elsewhere(s)
}

// onlyRequests reports whether the message consists of several words without capitals, and each is
// one with which users ask for a flow, or common: "book another appointment" is not a name.
func (t *message) onlyRequests() bool {
	toks := t.rd.Toks
	for i := range toks {
		if t.rd.Capital(i) {
			return false
		}
	}
	return len(toks) > 1 && slices.ContainsFunc(t.a.def.Flows, func(f *agent.Flow) bool {
		if !t.a.Startable(f) {
			return false
		}
		rest := *t
		rest.without(t.a.def.Lang.Others)
		own, strange := rest.ownWords(f, nil)
		return own < strange && strange == len(rest.rd.Toks)
	})
}

// marked reports whether the message has a marker of an intent: a universal command, a
// trigger, a correction.
func (t *Reading) marked(s *agent.Slot) bool {
	l, toks := t.a.def.Lang, t.rd.Toks
	if t.command(toks) != "" {
		return true
	}
	if !s.Required {
		if _, ok := l.CommandSets["skip"].Whole(l.Trim(toks)); ok {
			return true
		}
	}
	if f := t.a.exactTrigger(toks); f != nil && (len(toks) > 1 || !s.Free()) && f != t.flow {
		return true
	}
	if t.st.Changing {
		return true
	}
	if m, ok := t.mentioned(t.flow); ok && m.slot != s && t.onlyMention(m) && !s.Free() {
		return true
	}
	core := t.a.Core(toks)
	if _, n := l.Strong.At(core, 0); n > 0 && !(s.Free() && n == len(core)) {
		return true
	}
	if _, n := l.Weak.At(l.Trim(toks), 0); n > 0 {
		return true
	}
	if _, waits := l.CommandSets["wait"].Whole(l.Trim(toks)); waits {
		return true // "one second" is not the second
	}
	if s.Free() {
		return t.mentionsWithChange(core)
	}
	return l.Strong.Within(toks) && t.flow.Mentions.Within(toks) || t.rd.Denies()
}

// mentionsWithChange reports whether the message has a verb of change and the name of a
// slot.
func (t *message) mentionsWithChange(toks []value.Token) bool {
	return len(toks) <= 12 && t.a.def.Lang.ChangeVerbs.Within(toks) && t.flow.Mentions.Within(toks)
}

// bareName reports whether a message is a name and not a sentence: it is not longer than
// names are, and begins with neither a yes or no nor thanks.
func (t *message) bareName(v any) bool {
	text, _ := v.(string)
	if strings.Count(text, " ") >= 5 {
		return false
	}
	toks := t.rd.Toks
	answer, n := t.a.def.Lang.LeadingAnswer(toks)
	_, thanks := t.a.def.Lang.CommandSets["thanks"].At(toks, 0)
	return (answer == value.NoAnswer || n == len(toks)) && (thanks == 0 || thanks == len(toks))
}

// thanks reports whether a message consists of thanks.
func (t *message) thanks(toks []value.Token) bool {
	_, ok := t.a.def.Lang.CommandSets["thanks"].Whole(toks)
	return ok
}

// thanksFor reports whether a sentence thanks for something: "thanks for your patience", but not
// "thanks, Boston".
func thanksFor(r value.Reader, toks []value.Token) bool {
	_, n := r.Lang.CommandSets["thanks"].At(toks, 0)
	return n > 0 && n < len(toks) && !r.SentenceEndsIn(toks, n)
}

// asks reports whether a message begins like a question, perhaps after a yes or no.
func (t *message) asks(toks []value.Token) bool {
	if answer, n := t.a.def.Lang.LeadingAnswer(toks); answer != value.NoAnswer && n < len(toks) {
		toks = toks[n:]
	}
	if len(toks) < 2 {
		return false
	}
	_, n := t.a.def.Lang.Questions.At(toks, 0)
	return n > 0 && n < len(toks)
}

// foreign reports whether the words before the value point to another slot of the same
// type: "to Denver" while the origin is awaited.
func (t *message) foreign(s *agent.Slot) bool {
	if s.Free() {
		return false
	}
	for i := range t.rd.Toks {
		_, n := t.rd.Find(&s.Spec, t.rd.Toks, i, false)
		if n == 0 {
			continue
		}
		if t.a.meantElsewhere(t.rd, s, t.flow.Slots, i) {
			return true
		}
		k := i
		if an := t.a.def.Lang.Articles.EndsAt(t.rd.Toks, k); an > 0 {
			k -= an
		}
		own := max(t.a.cueBefore(t.rd, s, i), t.a.cueBefore(t.rd, s, k))
		for _, o := range t.flow.Slots {
			if o != s && o.Type == s.Type && max(t.a.cueBefore(t.rd, o, i), t.a.cueBefore(t.rd, o, k)) > own {
				return true
			}
		}
	}
	return false
}

// elsewhere reports whether the message has a value for another slot of the flow.
func (t *message) elsewhere(s *agent.Slot) bool {
	return slices.ContainsFunc(t.flow.Slots, func(o *agent.Slot) bool { return o != s && t.hasValueOf(o) })
}

// hasValueOf reports whether the message has a value for a slot whose values can be told from other
// words.
func (t *message) hasValueOf(o *agent.Slot) bool {
	if o.Free() || o.Numeric() && o.Type != value.TypeMoney || o.Type == value.TypeDigits || o.Type == value.TypeBoolean || o.Type == value.TypeCode || o.Type == value.TypePhone {
		return false
	}
	for i := range t.rd.Toks {
		v, n := t.rd.Find(&o.Spec, t.rd.Toks, i, false)
		if n > 0 && (o.Type != value.TypeMoney || t.a.belongs(t.rd, o, t.flow.Slots, found{slot: o, value: v, start: i, end: i + n})) {
			return true
		}
	}
	return false
}
