package words

import (
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file matches triggers with slots.

// pattern matches a message against a trigger with slots and returns the values. A slot of
// free text takes the words between the trigger's words.
func (a *Words) pattern(r value.Reader, t agent.Trigger) ([]found, bool) {
	toks := a.def.Lang.Polite.TrimRight(r.Toks)
	for start := 0; start < len(toks) && start < 8; start++ {
		for _, parts := range [...][]agent.TriggerPart{t.Parts, t.Core} {
			if len(parts) == 0 {
				continue
			}
			if out, ok := a.matchPattern(r, toks, start, parts, nil, 0); ok {
				if slices.ContainsFunc(out, func(f found) bool { return denied(r, f) || a.alternative(r, f) }) {
					return nil, false
				}
				return out, true
			}
		}
	}
	return nil, false
}

func (a *Words) matchPattern(r value.Reader, toks []value.Token, i int, parts []agent.TriggerPart, out []found, depth int) ([]found, bool) {
	if len(parts) == 0 {
		return out, true
	}
	if i >= len(toks) || depth > 40 {
		return nil, false
	}
	p := parts[0]
	if p.Slot == nil {
		if toks[i].Text != p.Word && value.Stem(toks[i].Text) != value.Stem(p.Word) {
			return nil, false
		}
		return a.matchPattern(r, toks, i+1, parts[1:], out, depth+1)
	}
	if !p.Slot.Free() {
		k := i
		if _, n := r.Lang.Articles.At(toks, k); n > 0 {
			if v, m := r.Find(&p.Slot.Spec, toks, k+n, false); k+n < len(toks) && m > 0 {
				return a.matchPattern(r, toks, k+n+m, parts[1:], append(out, found{slot: p.Slot, value: v, start: k, end: k + n + m, cue: true}), depth+1)
			}
		}
		v, n := r.Find(&p.Slot.Spec, toks, k, true)
		if n == 0 {
			v, n = r.Misspelt(&p.Slot.Spec, toks, k)
		}
		if n == 0 {
			return nil, false
		}
		return a.matchPattern(r, toks, k+n, parts[1:], append(out, found{slot: p.Slot, value: v, start: k, end: k + n, cue: true}), depth+1)
	}
	if len(parts) == 1 { // the rest, unless it is too long for a value
		if len(toks)-i > 12 && p.Slot.Type != value.TypeName {
			return nil, false
		}
		return a.textSpan(r, toks, i, len(toks), p.Slot, out)
	}
	for end := i + 1; end < len(toks) && end <= i+8; end++ {
		next, ok := a.textSpan(r, toks, i, end, p.Slot, out)
		if !ok {
			continue
		}
		if full, ok := a.matchPattern(r, toks, end, parts[1:], next, depth+1); ok {
			return full, true
		}
	}
	return nil, false
}

func (a *Words) textSpan(r value.Reader, toks []value.Token, i, end int, s *agent.Slot, out []found) ([]found, bool) {
	text := value.SpanText(r.Raw, toks, i, end)
	if s.Type == value.TypeName {
		n := r.NameRun(toks, i)
		if n == 0 || n < end-i && end < len(toks) { // what follows the name says something else
			return nil, false
		}
		end = i + n
		text = value.TitleWords(value.SpanText(r.Raw, toks, i, end))
	}
	return append(out, found{slot: s, value: text, start: i, end: end, cue: true}), true
}
