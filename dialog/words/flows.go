package words

import (
	"math"
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file: the flow whose words an utterance has.

// weights are how much each word says about which of several things is meant: 1
// if one of them alone has it, less the more have it.
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
	wordsAlone    = 0.25 // the same, if nearly all that was said is known
	wordsCoverage = 0.30 // least share of the words with content that are known
	wordsLead     = 0.10 // by which the best has to lead
	valueGiven    = 0.8  // what a value adds for the flow that alone takes it
	wordsSure     = 1.25 // sum of weights that interrupts another flow
)

// learnWords collects the words that speak for each flow: of its name, its
// description and its triggers.
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

// byWords finds the flow whose words an utterance has, when the classifier is not
// sure. Of two that are as good as each other it is the one that changes nothing.
func (t *message) byWords(toks []value.Token) (*agent.Flow, float64) {
	a, r := t.a, t.rd
	var buf [40]string
	words := a.def.Lang.Contents(toks, buf[:0])
	if len(words) == 0 || len(a.def.Flows) == 0 {
		return nil, 0
	}
	names := r.Names(toks) // London is known to nobody and no word of its own
	var best, second float64
	var which, next *agent.Flow
	share := 0.0
	given := a.givenTo(r)
	for i, f := range a.def.Flows {
		if a.closed[f] {
			continue
		}
		score, known := 0.0, 0
		for k, w := range words {
			if !a.flowWords[i][w] {
				continue
			}
			known++
			if !slices.Contains(words[:k], w) {
				score += a.flowWeights[w]
			}
		}
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

// givenTo is what the values of a message add to the score of each flow: those of
// a slot that few flows have say more.
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

// changes reports whether the flow runs an action that wants a yes.
func changes(f *agent.Flow) bool {
	return slices.ContainsFunc(f.Steps, func(s *agent.Step) bool {
		return s.Type == agent.StepAction && s.Action != nil && s.Action.RequiresConfirmation
	})
}

// triggerWords are the words with content of a trigger, and its slots.
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

// asksFor reports whether the message asks for a flow, and does not only have a word in
// common with it: "call an ambulance" calls nothing off. Of a flow that changes something
// it has all words of a trigger, or no others, or two of its values.
func (t *message) asksFor(f *agent.Flow, values []found) bool {
	if !changes(f) || len(values) >= 2 {
		return true
	}
	own, strange := t.ownWords(f, values)
	if strange == len(t.rd.Toks) {
		return true
	}
	if _, n := t.a.def.Lang.CancelVerbs.At(t.rd.Toks, strange); n > 0 && strange < own {
		return false // "cancel my last transfer" asks for no transfer
	}
	return t.hasTrigger(f, values, 0)
}

// hasTrigger reports whether the message has all words with content of one of the flow's
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

// mostlyOf reports whether more than half of the words that say something are the flow's:
// "somebody stole my money" speaks of money, and of no transfer.
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

// ownWords returns where the message has the first word of the flow, and the first that is
// neither one of the flow's nor of a value, a number, a name or one that every sentence
// has; the number of its tokens where it has none.
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

// valueOfFlow is the length of a value of a slot of the flow at token i.
func (t *message) valueOfFlow(f *agent.Flow, i int) int {
	best := 0
	for _, s := range f.Slots {
		if _, n := t.rd.Find(&s.Spec, t.rd.Toks, i, false); n > best {
			best = n
		}
	}
	return best
}
