package words

import (
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/command"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file understands messages that are neither corrections nor requests: a yes or no with
// other words, and sentences around a value.

// rest returns the commands of a message that is neither a correction nor a request.
func (t *Reading) rest(answer value.Answer, rest int) []command.Command {
	switch st := t.st; {
	case st.Confirming && answer == value.No:
		return []command.Command{{Type: command.CorrectSlot}} // something is to be changed
	case st.Confirming:
		return nil // not a plain yes
	case t.flow == nil:
		return t.afterFlow()
	case t.skips(t.a.def.Lang.YesOrNo(t.rd.Toks)): // "shall I write a reference?" "no"
		return []command.Command{{Type: command.Skip}}
	case t.awaitsYesNo() && answer != value.NoAnswer && t.besides(t.rd.Toks[rest:]):
		return []command.Command{{Type: command.SetSlot, Slot: st.WaitingForSlot, Value: answer == value.Yes}}
	default:
		return t.amidWords()
	}
}

// afterFlow is rest while no flow is active: a no to "anything else?", or what was found or
// proposed is accepted.
func (t *Reading) afterFlow() []command.Command {
	switch {
	case t.a.def.Lang.YesOrNo(t.rd.Toks) == value.No || t.declines():
		return []command.Command{{Type: command.Chitchat, Text: "no"}}
	case !t.Likes():
		return nil
	}
	if f := t.a.def.FlowIndex[t.st.Proposed]; f != nil {
		return t.StartProposed(f)
	}
	return []command.Command{{Type: command.Confirm}}
}

// amidWords returns the value for the awaited slot that the message has among other words.
func (t *Reading) amidWords() []command.Command {
	s, l := t.a.def.SlotIndex[t.st.WaitingForSlot], t.a.def.Lang
	if s == nil || t.asks(t.rd.Toks) || l.YesOrNo(t.rd.Toks) != value.NoAnswer {
		return nil
	}
	if v, ok := t.withoutFiller(s); ok {
		return []command.Command{{Type: command.SetSlot, Slot: s.Name, Value: v}}
	}
	if v, sure := t.rd.Answer(&s.Spec); sure == value.Certain && !s.Free() && !t.rd.Denies() && !t.foreign(s) {
		return []command.Command{{Type: command.SetSlot, Slot: s.Name, Value: v}}
	}
	if s.Type == value.TypeName && !s.Closed() {
		if v, ok := t.rd.AfterCue(&s.Spec, l.Polite.TrimRight(t.rd.Toks)); ok && t.bareName(v) {
			return []command.Command{{Type: command.SetSlot, Slot: s.Name, Value: value.TitleWords(v)}}
		}
	}
	return nil
}

// withoutFiller returns the value that is left of the message without polite words around it:
// "sorry, Boston".
func (t *message) withoutFiller(s *agent.Slot) (val any, ok bool) {
	l := t.a.def.Lang
	toks := l.Weak.TrimLeft(l.Trim(t.rd.Toks))
	if len(toks) == 0 || len(toks) == len(t.rd.Toks) || thanksFor(t.rd, t.rd.Toks) {
		return nil, false
	}
	core := *t
	core.rd = t.rd.Part(toks)
	val, sure := core.rd.Answer(&s.Spec)
	switch {
	case sure != value.Certain:
		return nil, false
	case s.Type == value.TypeName && !s.Closed():
		return val, core.rd.PlainName()
	case s.Free(): // "no, that's all right" is no text
		answer, _ := l.LeadingAnswer(t.rd.Toks)
		return val, answer == value.NoAnswer && !core.asText(s, val).mayBeOther()
	}
	return val, true
}

// besides reports whether the words after a yes or no to a question for a slot change
// nothing about it: they are words of the slot or common words, in the same sentence. Another
// sentence may say what the yes is for: "okay, thanks. That should do it".
func (t *message) besides(toks []value.Token) bool {
	l, s := t.a.def.Lang, t.a.def.SlotIndex[t.st.WaitingForSlot]
	if len(t.rd.Sentences(t.rd.Toks)) > 1 && !t.named(s) || l.CommandSets["goodbye"].Within(t.rd.Toks) {
		return false // "yes, that is all for now"
	}
	for i := 0; i < len(toks); {
		n := 0
		for _, p := range [...]*value.Phrases{l.YesNo, l.Light, l.Polite, l.Fillers, l.Articles, l.CommandSets["thanks"]} {
			if _, m := p.At(toks, i); m > n {
				n = m
			}
		}
		if w, m := l.Meaning(toks, i); n == 0 && s != nil && (s.Words[w] || s.Keys[w]) {
			n = m
		}
		if n == 0 {
			return false
		}
		i += n
	}
	return true
}

// named reports whether the message contains a word of the slot.
func (t *message) named(s *agent.Slot) bool { return s != nil && t.namesWordOf(s) }

// declines reports whether the message begins with a no, after a flow has ended.
func (t *message) declines() bool {
	answer, _ := t.a.def.Lang.LeadingAnswer(t.rd.Toks)
	return answer == value.No && t.st.Finished != nil
}

// Likes reports whether the message accepts what was found or proposed.
func (t *Reading) Likes() bool {
	st := t.st
	if st.Proposed == "" && (st.Finished == nil || len(st.Finished.Found) == 0) {
		return false
	}
	l := t.a.def.Lang
	if answer, n := l.LeadingAnswer(t.rd.Toks); answer != value.NoAnswer {
		return answer == value.Yes && (n == len(t.rd.Toks) || !l.CommandSets["goodbye"].Within(t.rd.Toks)) // "great, that is all"
	}
	_, thanks := t.a.def.Lang.CommandSets["thanks"].At(t.rd.Toks, 0)
	return thanks > 0 && st.Proposed == ""
}
