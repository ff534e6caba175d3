package words

import (
	"math"
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// The intent classifier is a softmax regression over hashed features: words, pairs of words and
// groups of three letters. Training starts from zero and always has the same order, so that
// the same files give the same weights.

const (
	intentBits     = 12
	intentBuckets  = 1 << intentBits
	intentRate     = 0.9
	intentDecay    = 1e-5
	intentRounds   = 60
	intentWork     = 60_000_000 // maximum number of multiplications in training
	intentAccept   = 0.50       // least probability of the best flow
	intentLead     = 0.15       // least lead of the best flow over the next one
	intentSure     = 0.80       // probability that interrupts another flow
	intentCoverage = 0.32       // least share of the content words that are in its triggers
)

// classifier maps messages to flows. It is immutable after training.
type classifier struct {
	classes int                    // the number of flows, plus one for what no flow covers
	weights []float32              // classes times buckets, by bucket
	bias    []float32              // by class
	words   []stems                // by flow: stems of its triggers
	exact   map[string]exactIntent // whole triggers by text
}

type exactIntent struct {
	flow   int
	text   string
	others []int // flows with the same trigger
}

// feature is a hashed feature with its weight in the message.
type feature struct {
	bucket uint32
	value  float32
}

// features appends the features of a message. Words without content have less weight. All
// listed values of slots are the same feature.
func (a *Words) features(toks []value.Token, buf []feature) []feature {
	start := len(buf)
	add := func(h uint32, v float32) {
		b := (h * 2654435761) >> (32 - intentBits)
		for i := start; i < len(buf); i++ {
			if buf[i].bucket == b {
				buf[i].value += v
				return
			}
		}
		buf = append(buf, feature{b, v})
	}
	var previous uint32
	for i := 0; i < len(toks); i++ {
		w := value.Stem(toks[i].Text)
		weight := float32(1)
		if _, n := a.values.At(toks, i); n > 0 { // any listed value
			w, weight = "#", 0.35
			i += n - 1
		} else if _, n := a.def.Lang.Light.At(toks, i); n == 1 {
			weight = 0.35
		}
		h := value.Hash(w, 2166136261)
		add(h, weight)
		if previous != 0 {
			add(value.Hash(w, previous^0x9e3779b9), 0.7)
		}
		previous = h
		if weight == 1 && len(w) > 3 {
			for k := 0; k+3 <= len(w) && k < 12; k++ {
				add(value.Hash(w[k:k+3], 0x7ed55d16), 0.3)
			}
		}
	}
	norm := float32(0)
	for _, f := range buf[start:] {
		norm += f.value * f.value
	}
	if norm > 0 {
		norm = float32(1 / math.Sqrt(float64(norm)))
		for i := start; i < len(buf); i++ {
			buf[i].value *= norm
		}
	}
	return buf
}

// Core removes the introduction of a request: fillers, politeness, words like "I want to".
func (a *Words) Core(toks []value.Token) []value.Token {
	for {
		n := len(toks)
		toks = a.def.Lang.Trim(toks)
		toks = a.def.Lang.Prefixes.TrimLeft(toks)
		if len(toks) == n {
			return toks
		}
	}
}

// probabilities sets p to the probability of each class.
func (c *classifier) probabilities(features []feature, p []float64) {
	for k := range p {
		p[k] = float64(c.bias[k])
	}
	for _, f := range features {
		row := c.weights[int(f.bucket)*c.classes : int(f.bucket+1)*c.classes]
		for k, w := range row {
			p[k] += float64(w * f.value)
		}
	}
	top := p[0]
	for _, v := range p[1:] {
		top = math.Max(top, v)
	}
	sum := 0.0
	for k, v := range p {
		p[k] = math.Exp(v - top)
		sum += p[k]
	}
	for k := range p {
		p[k] /= sum
	}
}

// classify returns the flow that a message asks for, or nil, and its probability.
func (a *Words) classify(toks []value.Token) (*agent.Flow, float64) {
	c := a.intents
	if len(a.def.Flows) == 0 || len(toks) == 0 {
		return nil, 0
	}
	if f := a.exactTrigger(toks); f != nil {
		return f, 1
	}
	var fbuf [160]feature
	var pbuf [32]float64
	p := pbuf[:0]
	if c.classes > len(pbuf) {
		p = make([]float64, 0, c.classes)
	}
	p = p[:c.classes]
	c.probabilities(a.features(toks, fbuf[:0]), p)
	best, second := -1, -1
	for k := range p[:len(a.def.Flows)] {
		switch {
		case a.closed[a.def.Flows[k]]:
		case best < 0 || p[k] > p[best]:
			best, second = k, best
		case second < 0 || p[k] > p[second]:
			second = k
		}
	}
	if best < 0 {
		return nil, 0
	}
	if p[best] < intentAccept || p[best] < p[c.classes-1] || second >= 0 && p[best]-p[second] < intentLead {
		return nil, p[best]
	}
	if a.coverage(toks, best) < intentCoverage {
		return nil, p[best]
	}
	return a.def.Flows[best], p[best]
}

// exactTrigger returns the only flow that has the message as a trigger, without politeness,
// or nil.
func (a *Words) exactTrigger(toks []value.Token) *agent.Flow {
	if in, ok := a.exactIntent(toks); ok && len(in.others) == 0 {
		return a.def.Flows[in.flow]
	}
	return nil
}

// sharing returns the flows that have the message as a trigger, if there are several.
func (a *Words) sharing(toks []value.Token) []*agent.Flow {
	in, ok := a.exactIntent(toks)
	if !ok || len(in.others) == 0 {
		return nil
	}
	out := []*agent.Flow{a.def.Flows[in.flow]}
	for _, i := range in.others {
		out = append(out, a.def.Flows[i])
	}
	return out
}

func (a *Words) exactIntent(toks []value.Token) (exactIntent, bool) {
	if len(toks) > 24 {
		return exactIntent{}, false
	}
	var buf [160]byte
	for _, t := range [...][]value.Token{toks, a.Core(toks)} {
		if len(t) == 0 {
			continue
		}
		key := buf[:0]
		for i, tok := range t {
			if i > 0 {
				key = append(key, ' ')
			}
			key = append(key, tok.Text...)
		}
		if in, ok := a.intents.exact[string(key)]; ok {
			return a.opened(in)
		}
	}
	return exactIntent{}, false
}

// opened removes the flows that may not start. It reports whether any are left.
func (a *Words) opened(in exactIntent) (exactIntent, bool) {
	if len(a.closed) == 0 {
		return in, true
	}
	flows := slices.DeleteFunc(append([]int{in.flow}, in.others...), func(i int) bool { return a.closed[a.def.Flows[i]] })
	if len(flows) == 0 {
		return exactIntent{}, false
	}
	in.flow, in.others = flows[0], flows[1:]
	return in, true
}

// coverage returns the share of the content words that are in the flow's triggers. Values
// of its slots do not count. It keeps the classifier from being sure of words that it has
// never seen.
func (a *Words) coverage(toks []value.Token, class int) float64 {
	known, content := 0, 0
	for i := 0; i < len(toks); {
		if n := a.valueAt(toks, i, a.def.Flows[class]); n > 0 {
			i += n
			continue
		}
		w := value.Stem(toks[i].Text)
		switch {
		case a.intents.words[class][w] || len(w) >= 4 && a.intents.words[class][w[:4]+"-"]:
			if _, n := a.def.Lang.Light.At(toks, i); n == 0 {
				known++
				content++
			}
		default:
			if _, n := a.def.Lang.Light.At(toks, i); n > 0 {
				i += n
				continue
			}
			if _, n := a.def.Lang.Prefixes.At(toks, i); n > 0 {
				i += n
				continue
			}
			if _, n := a.def.Lang.Fillers.At(toks, i); n > 0 {
				i += n
				continue
			}
			content++
		}
		i++
	}
	if content == 0 {
		return 0
	}
	return float64(known) / float64(content)
}

// valueAt returns the length of a listed value of the flow's slots at token i.
func (a *Words) valueAt(toks []value.Token, i int, f *agent.Flow) int {
	n := 0
	for _, s := range f.Slots {
		if s.Closed() {
			if _, m := s.Lookup.At(toks, i); m > n {
				n = m
			}
		}
	}
	return n
}
