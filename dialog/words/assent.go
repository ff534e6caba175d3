package words

import (
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file reads answers to questions to confirm. A yes or no counts only if the message has
// nothing on which it could depend: every word must be known as part of an answer.

// An Assent is the answer of a message to a question to confirm.
type Assent int

const (
	NoAssent Assent = iota // neither a yes nor a no, or not only that
	Assents                // an unconditional yes
	Refuses                // a no
	GivesUp                // a no that cancels the flow
)

// answerWords says which kinds of words an answer has.
type answerWords struct {
	yes, no, cancel bool
	filled          bool // a yes that may be just a filler: "ok, then no"
	other           bool // a word that is not part of an answer
	repeated        bool // a value that was read back
}

// Assent returns the answer of the message to a question to confirm.
func (t *Reading) Assent() Assent {
	if t.a.def.Lang.Hedges.Within(t.rd.Toks) {
		return NoAssent // "I guess so", "mhm": doubtful, or a signal of a listener
	}
	if len(t.rd.Toks) == 1 && !strings.Contains(t.rd.Raw, "?") {
		switch t.a.def.Lang.YesOrNo(t.rd.Toks) {
		case value.Yes:
			return Assents
		case value.No:
			return Refuses
		case value.NoAnswer:
		}
	}
	w := t.answerWords(t.rd.Toks)
	switch {
	case w.other || strings.Contains(t.rd.Raw, "?"):
		return NoAssent
	case w.yes && !w.no && !w.cancel:
		return Assents
	case w.yes || w.repeated || t.a.def.Lang.Wrong(t.rd.Toks):
		return NoAssent
	case w.cancel:
		return GivesUp
	case w.no:
		return Refuses
	case w.filled: // "ok"
		return Assents
	default:
		return NoAssent
	}
}

// leaves reports whether the message cancels the flow in more words than a command has:
// "ok, never mind, forget it", "stop, don't send it".
func (t *Reading) leaves() bool { return t.flow != nil && t.Assent() == GivesUp }

// CallsOff reports whether the message, said after something was done, may mean that it should
// not have been: "wait", "no no no", "don't", but not "no" or "no thanks".
func (t *Reading) CallsOff() bool {
	l := t.a.def.Lang
	core := l.Polite.TrimRight(l.Fillers.TrimLeft(t.rd.Toks))
	if _, waits := l.CommandSets["wait"].Whole(core); waits {
		return true
	}
	if len(core) == 0 || l.YesOrNo(core) != value.No && !l.Weak.Cover(core) {
		return false
	}
	_, n := l.YesNo.At(core, 0)
	_, doNot := l.DoNot.At(core, 0)
	return n < len(core) || doNot == n
}

// AddsCondition reports whether the message is a condition of what was said before: "but only if it
// is refundable".
func (t *Reading) AddsCondition() bool {
	l, toks := t.a.def.Lang, t.a.def.Lang.Trim(t.rd.Toks)
	for {
		n := len(toks)
		if toks = l.Trim(l.Clauses.TrimLeft(l.Weak.TrimLeft(toks))); len(toks) == n {
			break
		}
	}
	_, n := l.Conditions.At(toks, 0)
	return n > 0
}

// Hedged reports whether the message contains a yes.
func (t *Reading) Hedged() bool {
	w := t.answerWords(t.rd.Toks)
	return w.yes || w.filled
}

func (t *message) answerWords(toks []value.Token) (w answerWords) {
	l := t.a.def.Lang
	for i := 0; i < len(toks); {
		id, n := l.YesNo.At(toks, i)
		if c, m := l.Commands.At(toks, i); m > 0 && m >= n && value.CommandWords[c] == "cancel" && !(w.yes && t.wordOfRequest(toks, i)) {
			w.cancel = true
			i += m
			continue
		}
		if _, m := l.Keep.At(toks, i); m > n {
			w.no = true
			i += m
			continue
		}
		_, doNot := l.DoNot.At(toks, i)
		_, filler := l.Fillers.At(toks, i)
		if k := t.readBackAt(toks, i); k > max(n, filler) {
			w.repeated = true
			i += k
			continue
		}
		switch {
		case doNot > 0 && doNot >= n: // "don't book it" is a no as a whole
			w.no = true
			i += doNot
			if next, m := l.YesNo.At(toks, i); m > 0 && next == 0 {
				i += m
			}
		case n > 0 && id == 0 && filler == n:
			w.filled = true
			i += n
		case n > 0:
			if _, echo := l.Echoes.At(toks, i); echo > 0 && i+max(n, echo) == len(l.Polite.TrimRight(toks)) {
				w.other = true // "sure it is", "yes it would" answer something else
				return w
			}
			w.yes, w.no = w.yes || id == 0, w.no || id == 1
			i += n
		case filler > 0:
			i += filler
		default:
			k := t.besideAnswer(toks, i)
			if k == 0 {
				w.other = true
				return w
			}
			i += k
		}
	}
	return w
}

// besideAnswer returns the length of words at token i that do not change an answer:
// politeness, thanks, articles, words of the request.
func (t *message) besideAnswer(toks []value.Token, i int) int {
	l := t.a.def.Lang
	best := 0
	for _, p := range [...]*value.Phrases{l.Polite, l.CommandSets["thanks"], l.Articles} {
		if _, n := p.At(toks, i); n > best {
			best = n
		}
	}
	if best == 0 && t.wordOfRequest(toks, i) {
		best = 1
	}
	return best
}

// wordOfRequest reports whether token i is a word with which users ask for the flow: "yes,
// book the flight".
func (t *message) wordOfRequest(toks []value.Token, i int) bool {
	if t.flow == nil || t.flow.Builtin {
		return false
	}
	w, n := t.a.def.Lang.Meaning(toks, i)
	return n == 1 && t.a.flowWords[t.flow.Index][w]
}

// readBackAt returns the length of a value at token i that was read back unchanged, with
// the words that point to it: "to Denver", "tomorrow".
func (t *message) readBackAt(toks []value.Token, i int) int {
	if !t.st.Confirming || t.flow == nil {
		return 0
	}
	sub := t.rd
	sub.Toks = toks
	best := 0
	for _, s := range t.flow.Slots {
		if !t.saidAs(s) {
			continue
		}
		k := i
		if n := cueAt(s, toks, i); n > 0 {
			k += n
		}
		for _, from := range [...]int{i, k} {
			if from >= len(toks) {
				continue
			}
			if v, n := sub.Find(&s.Spec, toks, from, false); n > 0 && value.Equal(value.Canonical(v), t.st.Slots[s.Name]) {
				best = max(best, from+n-i)
			}
		}
	}
	return best
}

// saidAs reports whether a value of the slot can be found in words and compared.
func (t *message) saidAs(s *agent.Slot) bool {
	return t.st.Slots[s.Name] != nil && !s.Secret && !s.Free() && s.Type != value.TypeBoolean && (s.Type != value.TypeCity || s.Closed())
}

// cueAt returns the length of the words at token i that point to a slot.
func cueAt(s *agent.Slot, toks []value.Token, i int) int {
	_, n := s.Cues.At(toks, i)
	if s.TypeCues != nil {
		if _, m := s.TypeCues.At(toks, i); m > n {
			n = m
		}
	}
	return n
}
