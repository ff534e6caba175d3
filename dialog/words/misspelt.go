package words

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/command"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file understands requests with typing errors: "book a flihgt from Bostn to Denvr".

const (
	shortestMisspelt = 4 // characters of the shortest word that may be misspelt
	longMisspelt     = 7 // characters of the shortest word that may have two errors
)

// learnSpelling collects the words of requests, to which others are corrected, and all
// other known words, which are not corrected.
func (a *Words) learnSpelling() {
	a.spelt = make(map[string]bool)
	known := func(wanted bool, texts ...string) {
		for _, text := range texts {
			for _, tok := range value.Tokenize(text, nil) {
				a.spelt[tok.Text] = a.spelt[tok.Text] || wanted
			}
		}
	}
	d := a.def.Lang.Data
	for _, list := range [][]string{d.Light, d.Fillers, d.Polite, d.Questions, d.SoftMarkers, d.Yes, d.No, d.Background, d.Carriers, d.Prefixes, d.Interrogatives} {
		known(false, list...)
	}
	for k := range d.Numbers.Units { // order: a set of words
		known(false, k)
	}
	known(true, d.Prefixes...)
	known(true, d.Interrogatives...)
	for k := range d.Calendar.Months { // order: a set of words
		known(true, k)
	}
	for k := range d.Calendar.Weekdays { // order: a set of words
		known(true, k)
	}
	for k := range d.Calendar.Days { // order: a set of words
		known(true, k)
	}
	for _, s := range a.def.Slots {
		for k := range s.Lookup.IDs { // order: a set of words
			known(true, k)
		}
	}
	for _, f := range a.def.Flows {
		known(true, f.Label)
		for _, t := range f.Triggers {
			for _, p := range t.Parts {
				known(true, p.Word)
			}
		}
	}
	for w, wanted := range a.spelt { // order: a set of words
		if wanted && utf8.RuneCountInString(w) >= shortestMisspelt {
			a.speltWords = append(a.speltWords, w)
		}
	}
	slices.Sort(a.speltWords)
}

// respelt replaces each unknown word of a text by the nearest known word, if there is
// exactly one. It reports whether it replaced any.
func (a *Words) respelt(r value.Reader) (string, bool) {
	var b strings.Builder
	at, changed := 0, false
	for _, tok := range r.Toks {
		n := utf8.RuneCountInString(tok.Text)
		if _, known := a.spelt[tok.Text]; known || n < shortestMisspelt || strings.ContainsAny(tok.Text, "0123456789") {
			continue
		}
		limit := 1
		if n >= longMisspelt {
			limit = 2
		}
		best, near, tied := 2*limit+1, "", false
		for _, w := range a.speltWords {
			dist := 2 * value.EditDistance(tok.Text, w, limit)
			if dist == 2 && len(w) == len(tok.Text) && sameLetters(w, tok.Text) {
				dist = 1 // swapped letters are the most frequent error
			}
			switch {
			case dist < best:
				best, near, tied = dist, w, false
			case dist == best && best <= 2*limit:
				tied = true
			}
		}
		if near == "" || tied {
			continue
		}
		b.WriteString(r.Raw[at:tok.Start])
		b.WriteString(near)
		at, changed = tok.End, true
	}
	b.WriteString(r.Raw[at:])
	return b.String(), changed
}

// sameLetters reports whether two words consist of the same letters.
func sameLetters(a, b string) bool {
	x, y := []byte(a), []byte(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// withMisspelt adds misspelt values to a request that was understood without them, if the
// flow reads values back before it acts.
func (t *message) withMisspelt(cmds []command.Command) []command.Command {
	if t.flow != nil || cmds[0].Type != command.StartFlow {
		return cmds
	}
	f := t.a.def.FlowIndex[cmds[0].Flow]
	text, changed := t.a.respelt(t.rd)
	if !changed || !reads(f) {
		return cmds
	}
	r := value.Reader{Lang: t.rd.Lang, Raw: text, Toks: value.Tokenize(text, nil), Now: t.st.Now}
	for _, v := range t.a.extract(r, f.Slots, nil) {
		if !v.slot.Free() && !slices.ContainsFunc(cmds, func(c command.Command) bool { return c.Slot == v.slot.Name }) {
			cmds = append(cmds, command.Command{Type: command.SetSlot, Slot: v.slot.Name, Value: v.value})
		}
	}
	return cmds
}

// misspelt understands a request with typing errors. If the corrected words are a trigger,
// the flow starts, with values if it reads them back before it acts. Otherwise the flow may
// be offered.
func (t *Reading) misspelt() []command.Command {
	if t.flow != nil || t.st.Failed {
		return nil
	}
	text, changed := t.a.respelt(t.rd)
	if !changed {
		return nil
	}
	right := *t
	right.rd = value.Reader{Lang: t.rd.Lang, Raw: text, Toks: value.Tokenize(text, nil), Now: t.st.Now}
	f := t.a.exactTrigger(right.rd.Toks)
	var values []found
	if f == nil {
		f, values = right.byPattern()
	}
	if f == nil {
		if sure, p := right.intent(false); sure != nil && p >= intentSure && !right.negates(sure) {
			t.mayOffer(sure, nil)
		}
		return nil
	}
	if !reads(f) {
		values = nil
	}
	t.respelt = f.Name
	return right.starting(f, values)
}

// reads reports whether the flow asks for a confirmation before it acts.
func reads(f *agent.Flow) bool {
	return changes(f) || slices.ContainsFunc(f.Steps, func(s *agent.Step) bool { return s.Type == agent.StepConfirm })
}
