package dialog

import "strings"

// This file: the economy of seed 003: is a message a simple value, or has it to
// be understood?

// simple decides whether a message is a simple value for the awaited slot
// (seed 003, WAITING_FOR_SLOT, Optimization): direct is false if it has to be
// understood. A direct message without a value is an invalid one.
func (t *turn) simple(s *slot) (value any, sure certainty, direct bool) {
	l, toks := t.a.lang, t.rd.toks
	if len(toks) == 0 {
		return nil, unread, false
	}
	if s.closed() {
		if id, ok := s.lookup.whole(toks); ok {
			return s.values[id].value, certain, true
		}
	}
	if s.typ == TypeBoolean {
		if v, sure := t.rd.answer(s); sure == certain {
			return v, sure, true
		}
		return nil, unread, false
	}
	if t.marked(s) {
		return nil, unread, false
	}
	value, sure = t.rd.answer(s)
	if sure != unread && t.foreign(s) {
		return nil, unread, false
	}
	if s.anyWords() {
		if t.asks(toks) || !s.takesYesNo() && l.yesOrNo(toks) != answerNone || t.thanks(toks) {
			return nil, unread, false
		}
	}
	if s.free() {
		if s.typ == TypeName && !t.bareName(value) {
			return nil, unread, false // a name in a sentence
		}
		return value, sure, true
	}
	if sure == certain {
		return value, sure, true
	}
	core := l.trim(toks)
	if _, n := l.soft.at(core, 0); n > 0 || t.asks(toks) || len(core) > 4 || len(core) == 0 {
		return nil, unread, false
	}
	if value, sure = t.rd.misheard(s); sure != unread {
		return value, sure, true
	}
	if len(core) > 2 && !s.closed() || t.elsewhere(s) {
		return nil, unread, false
	}
	return nil, unread, true
}

// marked reports intent markers: a universal command, a trigger, a correction.
func (t *turn) marked(s *slot) bool {
	l, toks := t.a.lang, t.rd.toks
	if t.a.command(toks) != "" {
		return true
	}
	if !s.required {
		if _, ok := l.commandSets["skip"].whole(l.trim(toks)); ok {
			return true
		}
	}
	if f := t.a.exactTrigger(toks); f != nil && (len(toks) > 1 || !s.free()) && f != t.flow {
		return true
	}
	if t.st.Changing {
		return true
	}
	if m, ok := t.mentioned(t.flow); ok && m.slot != s && t.onlyMention(m) && !s.free() {
		return true
	}
	core := t.a.core(toks)
	if _, n := l.strong.at(core, 0); n > 0 && !(s.free() && n == len(core)) {
		return true
	}
	if _, n := l.weak.at(l.trim(toks), 0); n > 0 {
		return true
	}
	if s.free() {
		return t.mentionsWithChange(core)
	}
	return l.strong.within(toks) && t.flow.mentions.within(toks) || l.not.within(toks)
}

// mentionsWithChange reports a verb of change together with the name of a slot.
func (t *turn) mentionsWithChange(toks []token) bool {
	return len(toks) <= 12 && t.a.lang.changeVerbs.within(toks) && t.flow.mentions.within(toks)
}

// bareName reports whether a message is a name and no sentence: it is no longer
// than names are, and begins neither with a yes or no nor with thanks.
func (t *turn) bareName(value any) bool {
	text, _ := value.(string)
	if strings.Count(text, " ") >= 5 {
		return false
	}
	toks := t.rd.toks
	answer, n := t.a.lang.leadingAnswer(toks)
	_, thanks := t.a.lang.commandSets["thanks"].at(toks, 0)
	return (answer == answerNone || n == len(toks)) && (thanks == 0 || thanks == len(toks))
}

// thanks reports whether a message is thanks and nothing else.
func (t *turn) thanks(toks []token) bool {
	_, ok := t.a.lang.commandSets["thanks"].whole(toks)
	return ok
}

// asks reports whether a message begins like a question, a yes before it apart.
func (t *turn) asks(toks []token) bool {
	if answer, n := t.a.lang.leadingAnswer(toks); answer != answerNone && n < len(toks) {
		toks = toks[n:]
	}
	if len(toks) < 2 {
		return false
	}
	_, n := t.a.lang.questions.at(toks, 0)
	return n > 0 && n < len(toks)
}

// foreign reports whether the words before the value point to another slot of
// the kind: "to Denver" while the origin is awaited.
func (t *turn) foreign(s *slot) bool {
	if s.free() {
		return false
	}
	for i := range t.rd.toks {
		_, n := t.rd.find(s, t.rd.toks, i, false)
		if n == 0 {
			continue
		}
		k := i
		if an := t.a.lang.articles.endsAt(t.rd.toks, k); an > 0 {
			k -= an
		}
		own := max(t.a.cueBefore(t.rd, s, i), t.a.cueBefore(t.rd, s, k))
		for _, o := range t.flow.slots {
			if o != s && o.typ == s.typ && max(t.a.cueBefore(t.rd, o, i), t.a.cueBefore(t.rd, o, k)) > own {
				return true
			}
		}
	}
	return false
}

// elsewhere reports whether the message has the value of another slot of the
// flow: it answers something, though not what was asked.
func (t *turn) elsewhere(s *slot) bool {
	for _, o := range t.flow.slots {
		if o == s || o.free() || o.numeric() || o.typ == TypeDigits || o.typ == TypeBoolean || o.typ == TypeCode || o.typ == TypePhone {
			continue
		}
		for i := range t.rd.toks {
			if _, n := t.rd.find(o, t.rd.toks, i, false); n > 0 {
				return true
			}
		}
	}
	return false
}
