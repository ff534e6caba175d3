package dialog

import "github.com/hocketvoice/hocket/dialog/value"

// This file: triggers with slots in braces.

// pattern matches an utterance against a trigger with slots in braces and
// returns the values. Free text takes what lies between the words.
func (a *Agent) pattern(r value.Reader, t trigger) ([]found, bool) {
	toks := a.lang.Polite.TrimRight(r.Toks)
	for start := 0; start < len(toks) && start < 8; start++ {
		for _, parts := range [...][]triggerPart{t.parts, t.core} {
			if len(parts) == 0 {
				continue
			}
			if out, ok := a.matchPattern(r, toks, start, parts, nil, 0); ok {
				return out, true
			}
		}
	}
	return nil, false
}

// coreParts is a trigger without the words before its matter, if a word with
// content is left beside the slots.
func (a *Agent) coreParts(t trigger) []triggerPart {
	n := 0
	for n < len(t.parts) && t.parts[n].slot == nil {
		n++
	}
	toks := make([]value.Token, n)
	for i := range n {
		toks[i].Text = t.parts[i].word
	}
	parts := t.parts[n-len(a.lang.Prefixes.TrimLeft(toks)):]
	if len(parts) == len(t.parts) {
		return nil
	}
	for _, p := range parts {
		if p.slot == nil {
			if _, light := a.lang.Light.At([]value.Token{{Text: p.word}}, 0); light == 0 {
				return parts
			}
		}
	}
	if len(parts) >= 3 && parts[0].slot == nil && parts[1].slot == nil {
		return parts // "fly to {destination}"
	}
	return nil
}

func (a *Agent) matchPattern(r value.Reader, toks []value.Token, i int, parts []triggerPart, out []found, depth int) ([]found, bool) {
	if len(parts) == 0 {
		return out, true
	}
	if i >= len(toks) || depth > 40 {
		return nil, false
	}
	p := parts[0]
	if p.slot == nil {
		if toks[i].Text != p.word && value.Stem(toks[i].Text) != value.Stem(p.word) {
			return nil, false
		}
		return a.matchPattern(r, toks, i+1, parts[1:], out, depth+1)
	}
	if !p.slot.Free() {
		k := i
		if _, n := r.Lang.Articles.At(toks, k); n > 0 {
			if v, m := r.Find(&p.slot.Spec, toks, k+n, false); k+n < len(toks) && m > 0 {
				return a.matchPattern(r, toks, k+n+m, parts[1:], append(out, found{slot: p.slot, value: v, start: k, end: k + n + m, cue: true}), depth+1)
			}
		}
		v, n := r.Find(&p.slot.Spec, toks, k, true)
		if n == 0 {
			return nil, false
		}
		return a.matchPattern(r, toks, k+n, parts[1:], append(out, found{slot: p.slot, value: v, start: k, end: k + n, cue: true}), depth+1)
	}
	if len(parts) == 1 { // the rest, unless it grows too long for a value
		if len(toks)-i > 12 {
			return nil, false
		}
		return a.textSpan(r, toks, i, len(toks), p.slot, out)
	}
	for end := i + 1; end < len(toks) && end <= i+8; end++ {
		next, ok := a.textSpan(r, toks, i, end, p.slot, out)
		if !ok {
			continue
		}
		if full, ok := a.matchPattern(r, toks, end, parts[1:], next, depth+1); ok {
			return full, true
		}
	}
	return nil, false
}

func (a *Agent) textSpan(r value.Reader, toks []value.Token, i, end int, s *slot, out []found) ([]found, bool) {
	text := value.SpanText(r.Raw, toks, i, end)
	if s.Type == value.TypeName {
		text = value.TitleWords(text)
	}
	return append(out, found{slot: s, value: text, start: i, end: end, cue: true}), true
}
