package words

import (
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/command"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file finds the parts of a request that are not used: "two tickets", "round trip", "from
// my savings". The user is told before anything is read back.

// Limits of what the user is told.
const (
	maxUnused = 3 // words in a part
	maxStory  = 6 // words of a clause that has no word of the request
	maxTold   = 3 // parts of a message
)

// leftOver returns the parts of a request that the commands do not use and that may
// matter to the flow: words other than its own and its values, in short clauses. Of an answer it
// returns how long something is to last.
func (t *message) leftOver(cmds []command.Command) []string {
	var f *agent.Flow
	for _, c := range cmds {
		if c.Type == command.StartFlow {
			if f != nil {
				return nil
			}
			f = t.a.def.FlowIndex[c.Flow]
		}
	}
	answers := f == nil
	if answers {
		f = t.flow
	}
	if f == nil || !changes(f) || t.a.exactTrigger(t.rd.Toks) == f {
		return nil
	}
	left := &leftovers{message: t, of: f, used: make(usages, len(t.rd.Toks))}
	if answers {
		return left.stretches(cmds)
	}
	left.markAll(cmds)
	out := append(left.conditions(), left.stretches(cmds)...)
	for i := 0; i < len(t.rd.Toks) && len(out) < maxTold; {
		end := left.clauseEnd(i)
		if about := slices.Contains(left.used[i:end], byFlow); about || end-i <= maxStory {
			out = append(out, left.within(i, end)...)
		}
		i = end
	}
	return out[:min(len(out), maxTold)]
}

// leftovers are the words of a request for a flow that nothing uses.
type leftovers struct {
	*message

	of   *agent.Flow
	used usages
}

// conditions returns the conditions of a request, of which the flow knows nothing: "if my balance
// is over 100". It marks their words.
func (t *leftovers) conditions() (out []string) {
	l, toks := t.a.def.Lang, t.rd.Toks
	for i := range toks {
		_, n := l.Conditions.At(toks, i)
		if _, polite := l.Polite.At(toks, i); n == 0 || polite > 0 || t.used[i] == byFlow {
			continue // "if possible"
		}
		end := i + n
		for end < len(toks) && !t.rd.SentenceEndsIn(toks, end) {
			end++
		}
		if l.Light.Cover(toks[i+n : end]) {
			continue // "if you can"
		}
		t.used.mark(i, end-i, byFlow)
		out = append(out, strings.Trim(value.SpanText(t.rd.Raw, toks, i, end), ".,;:!?"))
	}
	return out
}

// stretches returns how long something is to last, if no value says so: "for 7 days". It marks the
// words.
func (t *leftovers) stretches(cmds []command.Command) (out []string) {
	for i := range t.rd.Toks {
		number, n := t.rd.Lasts(i)
		if n == 0 || slices.ContainsFunc(cmds, func(c command.Command) bool { return c.Gives() && value.Equal(value.Canonical(c.Value), number) }) {
			continue
		}
		t.used.mark(i, n, byFlow)
		out = append(out, value.SpanText(t.rd.Raw, t.rd.Toks, i, i+n))
	}
	return out
}

// within returns the unused parts of a clause that are short enough to mention.
func (t *leftovers) within(from, to int) (out []string) {
	for from < to {
		text, end := t.next(from, to)
		if end == from {
			break
		}
		if text != "" {
			out = append(out, text)
		}
		from = end
	}
	return out
}

// usage says what a word is to a request.
type usage int

const (
	unused usage = iota
	light        // a common word
	byFlow       // a word of the flow or of a value
)

// markAll notes what each word is to the request.
func (t *leftovers) markAll(cmds []command.Command) {
	for i := range t.rd.Toks {
		t.markWord(i)
		for _, s := range t.of.Slots {
			t.markSlot(s, i)
		}
	}
	for _, c := range cmds {
		if s := t.a.def.SlotIndex[c.Slot]; s != nil && c.Value != nil {
			t.markValue(s, c.Value)
		}
	}
}

// usages says for each word of a message what it is to a request.
type usages []usage

// mark notes what the n words from i on are. A word that is more already stays so.
func (us usages) mark(i, n int, u usage) {
	for k := i; k < min(len(us), i+n); k++ {
		us[k] = max(us[k], u)
	}
}

// markWord marks the words at i that belong to the flow, or are common. Numbers are neither.
func (t *leftovers) markWord(i int) {
	l, toks := t.a.def.Lang, t.rd.Toks
	w, n := l.Meaning(toks, i)
	_, article := l.Articles.At(toks, i) // "einen" is both
	number := article == 0 && l.Number(toks, i) > 0
	if t.a.flowWords[t.of.Index][w] && !number {
		t.used.mark(i, n, byFlow)
	}
	for _, p := range [...]*value.Phrases{
		l.Light, l.Prefixes, l.Fillers, l.Polite, l.Articles, l.Carriers, l.Joins, l.Weak, l.Soft, l.Strong, l.Assign, l.YesNo, l.Clauses,
		l.Repairs, l.Questions, l.Again, l.Others, l.Bounds, l.RangeFrom, l.RangeTo, l.CommandSets["hello"], l.CommandSets["thanks"], l.CommandSets["same_again"],
	} {
		if _, n := p.At(toks, i); n > 0 && !number {
			t.used.mark(i, n, light)
		}
	}
	if t.a.wordOfFlow(toks, i) {
		t.used.mark(i, n, light)
	}
	t.used.mark(i, max(t.rd.WeekAt(i), l.Ordinal(toks, i)), light)
}

// markSlot marks the words at i that name a slot of the flow or may be its value.
func (t *leftovers) markSlot(s *agent.Slot, i int) {
	toks := t.rd.Toks
	if _, n := t.rd.Find(&s.Spec, toks, i, false); n > 0 && !s.Numeric() {
		t.used.mark(i, n, light) // not used: the flow asks for it
	}
	if w, n := t.a.def.Lang.Meaning(toks, i); s.Keys[w] || s.Words[w] {
		t.used.mark(i, n, byFlow)
	}
	if _, n := s.Mentions.At(toks, i); n > 0 {
		t.used.mark(i, n, byFlow)
	}
	t.used.mark(i, cueAt(s, toks, i), light)
}

// markValue marks the words of a value that was understood.
func (t *leftovers) markValue(s *agent.Slot, val any) {
	toks := t.rd.Toks
	for i := range toks {
		if v, n := t.rd.Find(&s.Spec, toks, i, true); n > 0 && (value.Equal(value.Canonical(v), val) || s.Closed()) {
			t.used.mark(i, n, byFlow)
		}
	}
	text, ok := val.(string)
	if !ok {
		return
	}
	words := value.Tokenize(text, nil)
	for i := 0; len(words) > 0 && i+len(words) <= len(toks); i++ {
		if value.JoinTokens(toks[i:i+len(words)]) == value.JoinTokens(words) {
			t.used.mark(i, len(words), byFlow)
		}
	}
}

// clauseEnd returns the end of the clause that begins at token i.
func (t *leftovers) clauseEnd(i int) int {
	for k := i + 1; k < len(t.rd.Toks); k++ {
		if _, n := t.a.def.Lang.Joins.At(t.rd.Toks, k); n > 0 || t.rd.SentenceEndsIn(t.rd.Toks, k) {
			return k
		}
	}
	return len(t.rd.Toks)
}

// next returns the first unused words of a clause, with the small words before them and
// what a number counts, and the index of their end. The text is "" if it is too long to
// mention. If there are no unused words, end is from.
func (t *leftovers) next(from, to int) (text string, end int) {
	toks := t.rd.Toks
	i := from + slices.Index(t.used[from:to], unused)
	if i < from {
		return "", from
	}
	end = i + 1
	for end < to && t.used[end] == unused {
		end++
	}
	if end-i > maxUnused || t.a.def.Lang.Number(toks, i) == 0 && !slices.ContainsFunc(toks[i:end], func(x value.Token) bool { return len(x.Text) > 3 }) {
		return "", end
	}
	part := t.rd
	part.Toks = toks[i:end]
	if _, misspelt := t.a.respelt(part); misspelt {
		return "", end
	}
	open := func(s *agent.Slot) bool { return s.Free() && s.TypeCues != nil && s.TypeCues.EndsAt(toks, i) > 0 }
	if slices.ContainsFunc(t.of.Slots, open) {
		return "", end // it may be a name, for which the flow asks
	}
	if t.a.def.Lang.Number(toks, end-1) == 1 && end < to && t.used[end] == byFlow {
		end++ // "two tickets"
	}
	for i > from && i > end-maxUnused-2 && t.used[i-1] == light && t.smallWord(i-1) {
		i--
	}
	return strings.Trim(value.SpanText(t.rd.Raw, toks, i, end), ".,;:!?"), end
}

// smallWord reports whether a token is an article or a preposition.
func (t *leftovers) smallWord(i int) bool {
	l, toks := t.a.def.Lang, t.rd.Toks
	if l.Articles.EndsAt(toks, i+1) > 0 || l.RangeFrom.EndsAt(toks, i+1) > 0 {
		return true
	}
	for _, p := range l.TypeCues { // order: any of them
		if p.EndsAt(toks, i+1) == 1 {
			return true
		}
	}
	return false
}
