package dialog

import "github.com/hocketvoice/hocket/dialog/value"

// This file: what is left of a message that is neither a correction nor a
// request: yes and no with more words, and sentences around a value.

// rest makes what it can of a message that is neither a correction nor a
// request.
func (t *turn) rest(answer value.Answer, rest int) []Command {
	st, l := t.st, t.a.def.Lang
	left := t.rd.Toks[rest:]
	switch {
	case st.Confirmation != nil && answer == value.Yes:
		_, weak := l.Weak.At(left, 0)
		if t.onlyTalk(left) || len(left) <= 8 && weak == 0 && !l.Not.Within(left) && !l.Strong.Within(left) {
			return []Command{{Type: Confirm}}
		}
	case st.Confirmation != nil && answer == value.No:
		_, bye := l.CommandSets["goodbye"].At(left, 0)
		if bye > 0 || t.onlyTalk(left) || l.Light.Cover(l.Trim(left)) {
			return []Command{{Type: Deny}}
		}
		return []Command{{Type: CorrectSlot}} // something else, but what
	case t.flow == nil && (l.YesOrNo(t.rd.Toks) == value.No || t.declines()): // "anything else?"
		return []Command{{Type: Chitchat, Text: "no"}}
	case t.flow == nil && t.likes():
		if f := t.a.def.FlowIndex[st.Proposed]; f != nil {
			return t.starting(f, t.a.extract(t.rd, f.Slots, nil))
		}
		return []Command{{Type: Confirm}}
	case t.skips(l.YesOrNo(t.rd.Toks)): // "shall I write a reference?" "no"
		return []Command{{Type: Skip}}
	case t.awaitsYesNo() && answer != value.NoAnswer && len(left) <= 8:
		return []Command{{Type: SetSlot, Slot: st.WaitingForSlot, Value: answer == value.Yes}}
	}
	if s := t.a.def.SlotIndex[st.WaitingForSlot]; s != nil && t.flow != nil && !t.asks(t.rd.Toks) && l.YesOrNo(t.rd.Toks) == value.NoAnswer {
		toks := l.Weak.TrimLeft(l.Trim(t.rd.Toks)) // "sorry, Boston"
		if len(toks) > 0 && len(toks) < len(t.rd.Toks) {
			sub := t.rd
			sub.Raw = value.SpanText(t.rd.Raw, toks, 0, len(toks))
			var buf [24]value.Token
			sub.Toks = value.Tokenize(sub.Raw, buf[:0])
			if v, sure := sub.Answer(&s.Spec); sure == value.Certain && (s.Type != value.TypeName || sub.PlainName()) {
				return []Command{{Type: SetSlot, Slot: s.Name, Value: v}}
			}
		}
		if v, sure := t.rd.Answer(&s.Spec); sure == value.Certain && !s.Free() && !t.foreign(s) {
			return []Command{{Type: SetSlot, Slot: s.Name, Value: v}}
		}
		if s.Type == value.TypeName && !s.Closed() {
			if v, ok := t.rd.AfterCue(&s.Spec, l.Polite.TrimRight(t.rd.Toks)); ok && t.bareName(v) {
				return []Command{{Type: SetSlot, Slot: s.Name, Value: value.TitleWords(v)}}
			}
		}
	}
	return nil
}

// onlyTalk reports whether the sentences are thanks and questions, and nothing
// that would change anything.
func (t *turn) onlyTalk(toks []value.Token) bool {
	if len(toks) == 0 {
		return false
	}
	for _, s := range t.rd.Sentences(toks) {
		_, thanks := t.a.def.Lang.CommandSets["thanks"].At(s, 0)
		if thanks == 0 && !t.rd.Asks(s) {
			return false
		}
	}
	return true
}

// declines reports whether the message begins with a no and goes on with words.
func (t *turn) declines() bool {
	answer, _ := t.a.def.Lang.LeadingAnswer(t.rd.Toks)
	return answer == value.No && t.st.Finished != nil
}

// likes reports whether the message takes what was found or proposed.
func (t *turn) likes() bool {
	st := t.st
	if st.Proposed == "" && (st.Finished == nil || len(st.Finished.Found) == 0) {
		return false
	}
	if answer, _ := t.a.def.Lang.LeadingAnswer(t.rd.Toks); answer != value.NoAnswer {
		return answer == value.Yes
	}
	_, thanks := t.a.def.Lang.CommandSets["thanks"].At(t.rd.Toks, 0)
	return thanks > 0 && st.Proposed == ""
}
