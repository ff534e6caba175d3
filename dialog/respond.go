package dialog

// This file: what is left of a message that is neither a correction nor a
// request: yes and no with more words, and sentences around a value.

// rest makes what it can of a message that is neither a correction nor a
// request.
func (t *turn) rest(answer yesNoAnswer, rest int) []Command {
	st, l := t.st, t.a.lang
	left := t.rd.toks[rest:]
	switch {
	case st.Confirmation != nil && answer == answerYes:
		_, weak := l.weak.at(left, 0)
		if t.onlyTalk(left) || len(left) <= 8 && weak == 0 && !l.not.within(left) && !l.strong.within(left) {
			return []Command{{Type: Confirm}}
		}
	case st.Confirmation != nil && answer == answerNo:
		_, bye := l.commandSets["goodbye"].at(left, 0)
		if bye > 0 || t.onlyTalk(left) || l.light.cover(l.trim(left)) {
			return []Command{{Type: Deny}}
		}
		return []Command{{Type: CorrectSlot}} // something else, but what
	case t.flow == nil && (l.yesOrNo(t.rd.toks) == answerNo || t.declines()): // "anything else?"
		return []Command{{Type: Chitchat, Text: "no"}}
	case t.flow == nil && t.likes():
		if f := t.a.flowIndex[st.Proposed]; f != nil {
			return t.starting(f, t.a.extract(t.rd, f.slots, nil))
		}
		return []Command{{Type: Confirm}}
	case t.skips(l.yesOrNo(t.rd.toks)): // "shall I write a reference?" "no"
		return []Command{{Type: Skip}}
	case t.awaitsYesNo() && answer != answerNone && len(left) <= 8:
		return []Command{{Type: SetSlot, Slot: st.WaitingForSlot, Value: answer == answerYes}}
	}
	if s := t.a.slotIndex[st.WaitingForSlot]; s != nil && t.flow != nil && !t.asks(t.rd.toks) && l.yesOrNo(t.rd.toks) == answerNone {
		toks := l.weak.trimLeft(l.trim(t.rd.toks)) // "sorry, Boston"
		if len(toks) > 0 && len(toks) < len(t.rd.toks) {
			sub := t.rd
			sub.raw = spanText(t.rd.raw, toks, 0, len(toks))
			var buf [24]token
			sub.toks = tokenize(sub.raw, buf[:0])
			if v, sure := sub.answer(s); sure == certain && (s.typ != TypeName || sub.plainName()) {
				return []Command{{Type: SetSlot, Slot: s.name, Value: v}}
			}
		}
		if v, sure := t.rd.answer(s); sure == certain && !s.free() && !t.foreign(s) {
			return []Command{{Type: SetSlot, Slot: s.name, Value: v}}
		}
		if s.typ == TypeName && !s.closed() {
			if v, ok := t.rd.afterCue(s, l.polite.trimRight(t.rd.toks)); ok && t.bareName(v) {
				return []Command{{Type: SetSlot, Slot: s.name, Value: titleWords(v)}}
			}
		}
	}
	return nil
}

// onlyTalk reports whether the sentences are thanks and questions, and nothing
// that would change anything.
func (t *turn) onlyTalk(toks []token) bool {
	if len(toks) == 0 {
		return false
	}
	for _, s := range t.rd.sentences(toks) {
		_, thanks := t.a.lang.commandSets["thanks"].at(s, 0)
		if thanks == 0 && !t.rd.asksAbout(s) {
			return false
		}
	}
	return true
}

// declines reports whether the message begins with a no and goes on with words.
func (t *turn) declines() bool {
	answer, _ := t.a.lang.leadingAnswer(t.rd.toks)
	return answer == answerNo && t.st.Finished != nil
}

// likes reports whether the message takes what was found or proposed.
func (t *turn) likes() bool {
	st := t.st
	if st.Proposed == "" && (st.Finished == nil || len(st.Finished.Found) == 0) {
		return false
	}
	if answer, _ := t.a.lang.leadingAnswer(t.rd.toks); answer != answerNone {
		return answer == answerYes
	}
	_, thanks := t.a.lang.commandSets["thanks"].at(t.rd.toks, 0)
	return thanks > 0 && st.Proposed == ""
}
