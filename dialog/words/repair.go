package words

import (
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file removes what the user takes back in the same message: "100 no 200", "from Boston no
// wait from Chicago", "not Monday, Tuesday".

// repair removes from the message what the user takes back: the value before a "no" if
// another value for the same slot follows, and the value after a "not" if another value is
// next to it. If the flow already has the value after "not", the message is a correction
// and stays.
func (t *message) repair() {
	for range 4 {
		from, to := t.takenBack()
		if from == to {
			return
		}
		t.leaveOut(from, to)
	}
}

// leaveOut removes tokens from the message.
func (t *message) leaveOut(from, to int) {
	toks := t.rd.Toks
	text := t.rd.Raw[:toks[from].Start]
	if to < len(toks) {
		text += t.rd.Raw[toks[to].Start:]
	}
	t.read(text)
}

// takenBack returns the range of tokens that the user takes back.
func (t *message) takenBack() (from, to int) {
	l, toks := t.a.def.Lang, t.rd.Toks
	slots := t.a.def.Slots
	if t.flow != nil {
		slots = t.flow.Slots
	}
	for i := range toks {
		if _, n := l.Repairs.At(toks, i); n > 0 && i > 0 && i+n < len(toks) {
			for _, s := range slots {
				if from, to := t.replaced(s, i, i+n); from < to {
					return from, to
				}
			}
		}
		if _, n := l.Not.At(toks, i); n > 0 && i+n < len(toks) {
			for _, s := range slots {
				if to := t.refusedValue(s, i, i+n); to > i {
					return i, to
				}
			}
		}
	}
	return 0, 0
}

// formed reports whether the values of a slot have a form or are listed.
func formed(s *agent.Slot) bool {
	return !s.Free() && s.Type != value.TypeBoolean && (s.Type != value.TypeCity || s.Closed())
}

// replaced returns the range of the value that ends before the words at token i, if another
// value for the same slot follows at token j.
func (t *message) replaced(s *agent.Slot, i, j int) (from, to int) {
	if !formed(s) {
		return 0, 0
	}
	toks := t.rd.Toks
	b := t.pastCue(s, j)
	if _, n := t.rd.Find(&s.Spec, toks, b, true); n == 0 {
		return 0, 0
	}
	for k := max(0, i-10); k < i; k++ {
		if _, n := t.rd.Find(&s.Spec, toks, k, true); n != i-k {
			continue
		}
		if b > j { // "from Boston no from Chicago"
			k -= s.Cues.EndsAt(toks, k)
			return k, j
		}
		return k, b
	}
	return 0, 0
}

// pastCue returns the index of the token after the words that precede a value at token k.
func (t *message) pastCue(s *agent.Slot, k int) int {
	l, toks := t.a.def.Lang, t.rd.Toks
	for k < len(toks) {
		n := 0
		for _, p := range [...]*value.Phrases{s.Cues, l.Articles, l.Fillers, s.TypeCues} {
			if p == nil {
				continue
			}
			if _, m := p.At(toks, k); m > n {
				n = m
			}
		}
		if n == 0 || k+n >= len(toks) {
			break
		}
		k += n
	}
	return k
}

// refusedValue returns the end of the value at token j, after a "not" at token i, if
// another value of the slot is next to it, and 0 otherwise.
func (t *message) refusedValue(s *agent.Slot, i, j int) int {
	if !formed(s) {
		return 0
	}
	toks := t.rd.Toks
	k := t.pastCue(s, j)
	old, n := t.rd.Find(&s.Spec, toks, k, true)
	if n == 0 || t.holds(old) {
		return 0
	}
	end := k + n
	next := end
	if next < len(toks) && (toks[next].Text == "but" || toks[next].Text == "sondern") {
		next++
	}
	if next < len(toks) {
		if _, m := t.rd.Find(&s.Spec, toks, t.pastCue(s, next), true); m > 0 {
			return next
		}
	}
	for b := max(0, i-10); b < i; b++ {
		if _, m := t.rd.Find(&s.Spec, toks, b, true); m == i-b {
			return end
		}
	}
	return 0
}

// holds reports whether a slot of the flow has the value.
func (t *message) holds(v any) bool {
	return t.flow != nil && slices.ContainsFunc(t.flow.Slots, func(s *agent.Slot) bool { return value.Equal(t.st.Slots[s.Name], v) })
}
