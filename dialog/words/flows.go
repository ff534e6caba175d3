package words

import (
	"math"
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file finds the flow whose words a message has.

// weights returns the weight of each word for choosing between several sets: 1 for a word
// of one set only, and less for a word of several.
func weights(sets []map[string]bool) map[string]float64 {
	count := make(map[string]int)
	for _, set := range sets {
		for w := range set { // order: a count of each word
			count[w]++
		}
	}
	out := make(map[string]float64, len(count))
	for w, n := range count { // order: the weight of a word does not depend on the others
		out[w] = 1
		if len(sets) > 1 {
			out[w] = 0.3 + 0.7*math.Log(float64(len(sets))/float64(n))/math.Log(float64(len(sets)))
		}
	}
	return out
}

// Thresholds of the comparison by words.
const (
	wordsAccept   = 0.75 // least sum of weights
	wordsAlone    = 0.25 // least sum of weights if most words are known
	wordsCoverage = 0.30 // least share of the content words that are known
	wordsLead     = 0.10 // least lead of the best flow
	valueGiven    = 0.8  // what a value adds to the score of the only flow that takes it
	wordsSure     = 1.25 // sum of weights that interrupts another flow
)

// learnWords collects the words of each flow: those of its name, its description and its
// triggers.
func (a *Words) learnWords() {
	sets := make([]map[string]bool, len(a.def.Flows))
	a.triggers = make([][]triggerWords, len(a.def.Flows))
	for i, f := range a.def.Flows {
		sets[i] = make(map[string]bool)
		if !a.Startable(f) {
			continue
		}
		texts := []string{f.Label, f.Description}
		for _, t := range f.Triggers {
			texts = append(texts, a.withoutSlots(t))
			a.triggers[i] = append(a.triggers[i], a.wordsOf(t))
		}
		for _, text := range texts {
			toks := slices.DeleteFunc(value.Tokenize(text, nil), func(t value.Token) bool {
				_, n := a.def.Lang.Indefinite.At([]value.Token{t}, 0)
				return n > 0
			})
			for _, w := range a.def.Lang.Contents(toks, nil) {
				sets[i][w] = true
			}
		}
	}
	a.flowWords, a.flowWeights = sets, weights(sets)
}

// byWords finds the flow with most words of a message, for messages that the classifier
// cannot decide. Of two equal flows it prefers one that changes nothing.
func (t *message) byWords(toks []value.Token) (*agent.Flow, float64) {
	a, r := t.a, t.rd
	var buf [40]string
	words := a.def.Lang.Contents(toks, buf[:0])
	if len(words) == 0 || len(a.def.Flows) == 0 {
		return nil, 0
	}
	names := r.Names(toks) // names are not words of a flow
	var best, second float64
	var which, next *agent.Flow
	share := 0.0
	given := a.givenTo(r)
	for i, f := range a.def.Flows {
		if a.closed[f] {
			continue
		}
		score, known := a.weigh(i, words)
		if score > 0 {
			score += given[i]
		}
		switch {
		case score > best:
			best, which, second, next = score, f, best, which
			share = float64(known) / float64(max(known, len(words)-names))
		case score > second:
			second, next = score, f
		}
	}
	if which == nil || share < wordsCoverage || best < wordsAccept && (share < 0.6 || best < wordsAlone) {
		return nil, 0
	}
	if best-second < wordsLead {
		if next == nil || changes(which) == changes(next) {
			return nil, 0
		}
		if changes(which) {
			which = next
		}
	}
	if best >= wordsSure && best-second >= 0.5 {
		return which, intentSure
	}
	return which, intentAccept
}

// weigh returns the weight of the words that belong to flow i, each counted once, and how
// many of the words do.
func (a *Words) weigh(i int, words []string) (weight float64, known int) {
	for k, w := range words {
		if !a.flowWords[i][w] {
			continue
		}
		known++
		if !slices.Contains(words[:k], w) {
			weight += a.flowWeights[w]
		}
	}
	return weight, known
}

// givenTo returns what the values in a message add to the score of each flow. Values of a
// slot that few flows use add more.
func (a *Words) givenTo(r value.Reader) []float64 {
	out := make([]float64, len(a.def.Flows))
	for _, s := range a.def.Slots {
		if s.Free() || s.Type == value.TypeBoolean || s.Type == value.TypeCity && !s.Closed() {
			continue
		}
		users := 0
		for _, f := range a.def.Flows {
			if f.UsesSlot(s) {
				users++
			}
		}
		if users == 0 || users == len(a.def.Flows) || len(a.extract(r, []*agent.Slot{s}, nil)) == 0 {
			continue
		}
		for i, f := range a.def.Flows {
			if f.UsesSlot(s) {
				out[i] += valueGiven * float64(len(a.def.Flows)-users) / float64(len(a.def.Flows)-1)
			}
		}
	}
	return out
}

// changes reports whether the flow runs an action that requires confirmation.
func changes(f *agent.Flow) bool {
	return slices.ContainsFunc(f.Steps, func(s *agent.Step) bool {
		return s.Type == agent.StepAction && s.Action != nil && s.Action.RequiresConfirmation
	})
}

// triggerWords has the content words of a trigger and its slots.
type triggerWords struct {
	words []string
	slots []*agent.Slot
}

func (a *Words) wordsOf(t agent.Trigger) (out triggerWords) {
	var toks []value.Token
	for _, p := range t.Parts {
		if p.Slot != nil {
			out.slots = append(out.slots, p.Slot)
			continue
		}
		toks = append(toks, value.Tokenize(p.Word, nil)...)
	}
	out.words = a.def.Lang.Contents(toks, nil)
	return out
}

// asksFor reports whether the message asks for a flow and does not just share a word with
// it: "call an ambulance" does not call anything off. For a flow that changes something,
// the message must have all words of a trigger, or no other words, or two values of the
// flow.
func (t *message) asksFor(f *agent.Flow, values []found) bool {
	if !changes(f) || len(values) >= 2 {
		return true
	}
	own, strange := t.ownWords(f, values)
	if strange == len(t.rd.Toks) {
		return true
	}
	if _, n := t.a.def.Lang.CancelVerbs.At(t.rd.Toks, strange); n > 0 && strange < own {
		return false // "cancel my last transfer" does not ask for a transfer
	}
	return t.hasTrigger(f, values, 0)
}

// hasTrigger reports whether the message has all content words of one of the flow's
// triggers, in any order, and a value for one of its slots, if it has slots. Triggers with
// fewer slots than least do not count.
func (t *message) hasTrigger(f *agent.Flow, values []found, least int) bool {
	said := t.a.def.Lang.Contents(t.rd.Toks, nil)
	return slices.ContainsFunc(t.a.triggers[f.Index], func(tr triggerWords) bool {
		missing := func(w string) bool { return !slices.Contains(said, w) }
		given := func(s *agent.Slot) bool {
			return slices.ContainsFunc(values, func(v found) bool { return v.slot == s })
		}
		if len(tr.words) == 0 || len(tr.slots) < least || slices.ContainsFunc(tr.words, missing) {
			return false
		}
		return len(tr.slots) == 0 || slices.ContainsFunc(tr.slots, given)
	})
}

// mostlyOf reports whether more than half of the content words belong to the flow:
// "somebody stole my money" mentions money but does not ask for a transfer.
func (t *message) mostlyOf(f *agent.Flow, values []found) bool {
	var rest []value.Token
	for i, tok := range t.rd.Toks {
		if !slices.ContainsFunc(values, func(v found) bool { return v.start <= i && i < v.end }) {
			rest = append(rest, tok)
		}
	}
	words, known := t.a.def.Lang.Contents(rest, nil), 0
	for _, w := range words {
		if t.a.flowWords[f.Index][w] {
			known++
		}
	}
	return 2*known > len(words)-t.rd.Names(rest)
}

// ownWords returns the index of the flow's first word in the message, and of the first word
// that is not of the flow, a value, a number, a name or a common word. Each is the number
// of tokens if there is no such word.
func (t *message) ownWords(f *agent.Flow, values []found) (own, strange int) {
	l, toks := t.a.def.Lang, t.rd.Toks
	own = len(toks)
	for i := 0; i < len(toks); {
		if k := slices.IndexFunc(values, func(v found) bool { return v.start <= i && i < v.end }); k >= 0 {
			i = values[k].end
			continue
		}
		w, n := l.Meaning(toks, i)
		if t.a.flowWords[f.Index][w] {
			own = min(own, i)
		}
		known := t.a.flowWords[f.Index][w] || i > 0 && t.rd.Capital(i) || l.Number(toks, i) > 0
		for _, p := range [...]*value.Phrases{l.Light, l.Prefixes, l.Fillers, l.Polite, l.Articles, l.Carriers, l.Joins, l.Weak, l.Soft, l.CommandSets["hello"]} {
			if _, m := p.At(toks, i); m > 0 {
				known, n = true, max(n, m)
			}
		}
		if !known && t.valueOfFlow(f, i) == 0 {
			return own, i
		}
		i += max(n, t.valueOfFlow(f, i))
	}
	return own, len(toks)
}

// valueOfFlow returns the length of a value of one of the flow's slots at token i.
func (t *message) valueOfFlow(f *agent.Flow, i int) int {
	best := 0
	for _, s := range f.Slots {
		if _, n := t.rd.Find(&s.Spec, t.rd.Toks, i, false); n > best {
			best = n
		}
	}
	return best
}
