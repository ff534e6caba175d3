// Command train makes the weights of package ending from the sentences of grammar.txt, which
// lies beside it. Run it in the folder turn/ending.
package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/hocketvoice/hocket/turn/ending"
)

//go:embed grammar.txt
var grammar string

func main() {
	if err := run(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "train:", err)
		os.Exit(1)
	}
}

// Of the training.
const (
	sentences = 120000
	rounds    = 4
	rate      = 0.05
	decay     = 2e-6
)

func run(report io.Writer) error {
	rules, err := parse(grammar)
	if err != nil {
		return err
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	var list []example
	for range sentences {
		list = append(list, examples(rnd, strings.Fields(rules.say(rnd, "turn")))...)
	}
	w := make([]float64, ending.Buckets())
	for round := range rounds {
		rnd.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		loss := 0.0
		for _, e := range list {
			loss += e.learn(w, rate/float64(round+1))
		}
		fmt.Fprintf(report, "round %d: %d examples, loss %.4f\n", round+1, len(list), loss/float64(len(list)))
	}
	out := make([]byte, len(w))
	for i, v := range w {
		out[i], _ = ending.Weight(v)
	}
	return os.WriteFile("weights.bin", out, 0o600)
}

// example is a beginning of a sentence, or a whole one. The beginnings of a sentence weigh as
// much as the sentence itself.
type example struct {
	index    []uint16
	complete bool
	weight   float64
}

// examples returns the examples of a sentence. In half of them the words of open classes are
// unknown.
func examples(rnd *rand.Rand, words []string) []example {
	var out []example
	most := len(ending.Features{}.Index)
	for n := 1; n <= len(words); n++ {
		e := example{complete: n == len(words), weight: 1}
		if !e.complete {
			e.weight = 1 / float64(len(words)-1)
		}
		f := ending.Read(strings.Join(words[:n], " "))
		e.index = f.Index[:most]
		if rnd.IntN(2) == 0 {
			e.index = f.Index[:ending.Named]
		}
		out = append(out, e)
	}
	return out
}

// learn moves the weights towards the example and returns the loss before.
func (e example) learn(w []float64, rate float64) float64 {
	sum := 0.0
	for _, i := range e.index {
		sum += w[i]
	}
	p, want := 1/(1+math.Exp(-sum)), 0.0
	if e.complete {
		want = 1
	}
	for _, i := range e.index {
		w[i] += rate*e.weight*(want-p) - decay*w[i]
	}
	if e.complete {
		return -math.Log(max(p, 1e-9))
	}
	return -math.Log(max(1-p, 1e-9)) * e.weight
}

// rules are the alternatives of each rule.
type rules map[string][]string

func parse(text string) (rules, error) {
	r := rules{}
	for i, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		name, list, ok := strings.Cut(line, ": ")
		if !ok || r[name] != nil {
			return nil, fmt.Errorf("grammar.txt:%d: expected a new name, a colon and alternatives", i+1)
		}
		r[name] = strings.Split(list, " | ")
	}
	for name, list := range r {
		for _, a := range list {
			for _, word := range strings.Fields(a) {
				if ref, ok := reference(word); ok && r[ref] == nil {
					return nil, fmt.Errorf("grammar.txt: rule %s: there is no rule %s", name, ref)
				}
			}
		}
	}
	if r["turn"] == nil {
		return nil, errors.New("grammar.txt: there is no rule turn")
	}
	return r, nil
}

func reference(word string) (string, bool) {
	rest, ok := strings.CutPrefix(word, "<")
	return strings.TrimSuffix(rest, ">"), ok
}

// say returns a sentence of a rule. Rules that go deep end by themselves.
func (r rules) say(rnd *rand.Rand, name string) string {
	list := r[name]
	words := strings.Fields(list[rnd.IntN(len(list))])
	for i, word := range words {
		if ref, ok := reference(word); ok {
			words[i] = r.say(rnd, ref)
		}
	}
	return strings.Join(words, " ")
}
