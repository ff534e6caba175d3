package words

import (
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file decides whether what a slot of free text would take may be meant otherwise. Any words
// may be its value, so a request, an approval or a sentence around the value looks like one. The
// question is put again; what is said once more is read back.

// freeText is a message as the value of a slot of free text.
type freeText struct {
	*message

	slot *agent.Slot
	text string
}

// asText returns the message as a value of a slot of free text.
func (t *message) asText(s *agent.Slot, v any) freeText {
	text, _ := v.(string)
	return freeText{t, s, text}
}

// isOther reports whether the message looks like something else.
func (t freeText) isOther() bool {
	return !t.slot.TakesYesNo() && (slices.ContainsFunc(t.rd.Sentences(t.rd.Toks), t.approves) || t.asksFor() || t.frames())
}

// mayBeOther reports whether the message may be meant otherwise: it has a value for another slot that
// has none yet, or says thanks.
func (t freeText) mayBeOther() bool {
	if t.slot.TakesYesNo() {
		return false
	}
	return slices.ContainsFunc(t.rd.Sentences(t.rd.Toks), t.saysThanks) || t.isOther() ||
		slices.ContainsFunc(t.flow.Slots, func(o *agent.Slot) bool {
			return o != t.slot && t.st.Slots[o.Name] == nil && (t.hasValueOf(o) || t.hasPlaceFor(o))
		})
}

// saysThanks reports whether a sentence begins with thanks.
func (t freeText) saysThanks(part []value.Token) bool {
	_, n := t.a.def.Lang.CommandSets["thanks"].At(part, 0)
	return n > 0
}

// approves reports whether a sentence begins with a yes, a no, praise or an opinion and goes on about
// something else: "that is great and all I need", "that sounds good", but not "no nuts".
func (t freeText) approves(part []value.Token) bool {
	l := t.a.def.Lang
	for _, toks := range [...][]value.Token{part, l.Carriers.TrimLeft(l.Fillers.TrimLeft(part))} {
		answer, n := l.LeadingAnswer(toks)
		_, carrier := l.Carriers.At(toks, 0)
		_, opinion := l.Opinions.At(toks, 0)
		switch {
		case opinion > 0:
			return true
		case n <= carrier || answer == value.NoAnswer: // "it is too dear"
		case answer == value.Yes, n == len(toks), t.rd.SentenceEndsIn(toks, n):
			return true
		}
	}
	return false
}

// asksFor reports whether the message has words of a request: "I want to leave from Austin", "find
// something in Napa", "I need it for four days instead".
func (t freeText) asksFor() bool {
	l, toks := t.a.def.Lang, t.a.def.Lang.Trim(t.rd.Toks)
	_, carrier := l.Carriers.At(toks, 0)
	_, wish := l.Soft.At(toks, 0)
	if _, prefix := l.Prefixes.At(toks, 0); prefix > 1 || carrier > 0 && wish > 0 {
		return true
	}
	core := value.Tokenize(t.text, nil)
	if said := l.Contents(core, nil); len(core) > 3 && len(said) > 0 && !t.slot.Keys[said[0]] && t.a.asksWith(said[0]) {
		return true
	}
	return l.NotWanted.Within(toks) || l.Strong.Within(toks)
}

// frames reports whether the message is a sentence around what may be the value: it is told in the
// first person, and has words that point to the slot, a name or a number.
func (t freeText) frames() bool {
	l, toks := t.a.def.Lang, t.a.def.Lang.Trim(t.rd.Toks)
	if len(toks) == 0 || !l.Pronouns.Within(toks[:1]) {
		return false
	}
	for i := 1; i < len(toks); i++ {
		if t.slot.Cues.EndsAt(toks, i) > 0 || l.Number(toks, i) > 0 && !l.Numbers.One[toks[i].Text] || t.rd.Names(toks[i:i+1]) > 0 {
			return true
		}
	}
	return false
}

// hasPlaceFor reports whether the message names a place for a slot that has any: "in Belmont".
func (t freeText) hasPlaceFor(o *agent.Slot) bool {
	if o.Type != value.TypeCity || o.Closed() {
		return false
	}
	for i := range t.rd.Toks {
		if _, n := t.rd.Place(i); n > 0 && (o.TypeCues.EndsAt(t.rd.Toks, i) > 0 || t.a.cueBefore(t.rd, o, i) > 0) {
			return true
		}
	}
	return false
}

// asksWith reports whether a trigger of a flow begins with a word.
func (a *Words) asksWith(word string) bool {
	return slices.ContainsFunc(a.triggers, func(of []triggerWords) bool {
		return slices.ContainsFunc(of, func(tr triggerWords) bool { return len(tr.words) > 0 && tr.words[0] == word })
	})
}
