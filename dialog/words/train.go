package words

import (
	"math"
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file trains the classifier of intents.

// example is one training utterance.
type example struct {
	features []feature
	class    int
}

// trainIntents trains the classifier on the trigger phrases.
func (a *Words) trainIntents() {
	c := &classifier{classes: len(a.def.Flows) + 1, exact: make(map[string]exactIntent)}
	a.intents = c
	a.values = value.NewPhrases()
	for _, s := range a.def.Slots {
		for k := range s.Lookup.IDs { // order: a set of phrases
			a.values.Add(k, 0)
		}
	}
	if len(a.def.Flows) == 0 {
		return
	}
	c.weights = make([]float32, c.classes*intentBuckets)
	c.bias = make([]float32, c.classes)
	var examples []example
	add := func(text string, class int) {
		toks := value.Tokenize(text, nil)
		if len(toks) > 0 {
			examples = append(examples, example{a.features(toks, nil), class})
		}
	}
	for i, f := range a.def.Flows {
		words := make(stems)
		for _, t := range f.Triggers {
			text := a.withoutSlots(t)
			add(text, i)
			add(value.JoinTokens(a.Core(value.Tokenize(text, nil))), i)
			words.learn(text)
			if !t.Slots {
				c.knowExactly(value.Tokenize(t.Text, nil), i, t.Text)
				c.knowExactly(a.Core(value.Tokenize(t.Text, nil)), i, t.Text)
			}
		}
		if a.Startable(f) {
			add(f.Label, i)
			words.learn(f.Label)
			if f.Description != "" && len(f.Description) < 120 {
				add(f.Description, i)
				words.learn(f.Description)
			}
		}
		c.words = append(c.words, words)
	}
	for _, text := range a.def.Lang.Data.Background {
		add(text, len(a.def.Flows))
	}
	for _, s := range a.def.Slots { // a value alone is not an intent, unless triggers use its words
		for k, v := range s.Values {
			if k < 12 && !c.knows(v.Value) {
				add(v.Value, len(a.def.Flows))
			}
		}
	}
	c.train(examples)
}

// stems is the set of the stems of a flow's words.
type stems map[string]bool

// learn adds the stems of a text, and how long ones begin: "stole" and "stolen" begin alike.
func (s stems) learn(text string) {
	for _, tok := range value.Tokenize(text, nil) {
		w := value.Stem(tok.Text)
		s[w] = true
		if len(w) >= 5 {
			s[w[:4]+"-"] = true
		}
	}
}

// knowExactly notes that a message of exactly these words asks for a flow. text is the trigger.
func (c *classifier) knowExactly(toks []value.Token, flow int, text string) {
	key := value.JoinTokens(toks)
	in, there := c.exact[key]
	switch {
	case len(toks) == 0:
	case !there:
		c.exact[key] = exactIntent{flow: flow, text: text}
	case in.flow != flow && !slices.Contains(in.others, flow):
		in.others = append(in.others, flow)
		c.exact[key] = in
	}
}

// knows reports whether a word of the text is in a trigger of any flow.
func (c *classifier) knows(text string) bool {
	for _, tok := range value.Tokenize(text, nil) {
		for _, words := range c.words {
			if words[value.Stem(tok.Text)] {
				return true
			}
		}
	}
	return false
}

// withoutSlots returns a trigger's text with a typical value in place of each slot with
// listed values, and without other slots.
func (a *Words) withoutSlots(t agent.Trigger) string {
	text := ""
	for _, p := range t.Parts {
		w := p.Word
		if p.Slot != nil {
			if !p.Slot.Closed() {
				continue
			}
			w = value.FoldText(p.Slot.Values[0].Value)
		}
		if text != "" {
			text += " "
		}
		text += w
	}
	return text
}

func (c *classifier) train(examples []example) {
	counts := make([]int, c.classes)
	for _, e := range examples {
		counts[e.class]++
	}
	work := 0
	for _, e := range examples {
		work += len(e.features) * c.classes * 2
	}
	rounds := intentRounds
	if work*rounds > intentWork {
		rounds = max(4, intentWork/max(1, work))
	}
	p := make([]float64, c.classes)
	order := make([]int, len(examples))
	for i := range order {
		order[i] = i
	}
	seed := uint32(1)
	for round := range rounds {
		for i := len(order) - 1; i > 0; i-- { // a fixed shuffle
			seed = seed*1664525 + 1013904223
			j := int(seed>>8) % (i + 1)
			order[i], order[j] = order[j], order[i]
		}
		rate := intentRate / (1 + 3*float64(round)/float64(rounds))
		for _, i := range order {
			e := &examples[i]
			c.probabilities(e.features, p)
			// Flows with few triggers count as much as those with many.
			weight := math.Min(3, math.Sqrt(float64(len(examples))/float64(c.classes*counts[e.class])))
			for k := range p {
				g := p[k]
				if k == e.class {
					g--
				}
				g *= rate * weight
				if math.Abs(g) < 1e-4 {
					continue
				}
				for _, f := range e.features {
					w := &c.weights[int(f.bucket)*c.classes+k]
					*w -= float32(g)*f.value + float32(rate*intentDecay)**w
				}
				c.bias[k] -= float32(g * 0.05)
			}
		}
	}
}
