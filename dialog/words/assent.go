package words

import (
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file: what a message answers when a yes is asked for that cannot be taken back.
// A yes or no counts only if nothing stands beside it that it could depend on: every
// word has to be known as part of the answer.

// An Assent is what a message says to a question to confirm.
type Assent int

const (
	NoAssent Assent = iota // neither yes nor no, or something else with it
	Assents                // an unconditional yes
	Refuses                // a no, to all that was asked
	GivesUp                // a no, and the flow is to be left
)

// answerWords are the kinds of words that an answer consists of.
type answerWords struct {
	yes, no, cancel bool
	filled          bool // a word that agrees may be one that fills: "ok, then no"
	other           bool // a word that no answer has
	repeated        bool // a value or a name that was read back
}

// Assent reads the message as the answer to a question to confirm.
func (t *Reading) Assent() Assent {
	if t.a.def.Lang.Hedges.Within(t.rd.Toks) {
		return NoAssent // "I guess so", "mhm": said while one listens, or not meant
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

// leaves reports whether the message says, in more words than a command has, that the
// flow is to be left: "ok, never mind, forget it", "stop, don't send it".
func (t *Reading) leaves() bool { return t.flow != nil && t.Assent() == GivesUp }

// Hedged reports whether a message has a yes in it.
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

// besideAnswer is the length of what changes nothing in an answer: politeness, a
// hesitation, thanks, the words of the request itself.
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

// wordOfRequest reports whether a word is one that the flow is asked for with: "yes,
// book the flight".
func (t *message) wordOfRequest(toks []value.Token, i int) bool {
	if t.flow == nil || t.flow.Builtin {
		return false
	}
	w, n := t.a.def.Lang.Meaning(toks, i)
	return n == 1 && t.a.flowWords[t.flow.Index][w]
}

// readBackAt is the length of a value at token i that was read back as it is, with the
// word that points to it: "to Denver", "tomorrow".
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

// saidAs reports whether a value of the slot can be found among words and compared.
func (t *message) saidAs(s *agent.Slot) bool {
	return t.st.Slots[s.Name] != nil && !s.Secret && !s.Free() && s.Type != value.TypeBoolean && (s.Type != value.TypeCity || s.Closed())
}

// cueAt is the length of the words at token i that point to a slot.
func cueAt(s *agent.Slot, toks []value.Token, i int) int {
	_, n := s.Cues.At(toks, i)
	if s.TypeCues != nil {
		if _, m := s.TypeCues.At(toks, i); m > n {
			n = m
		}
	}
	return n
}
