package dialog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/hocketvoice/hocket/dialog/value"
)

// checkJSGF returns an error if a text is not the right-hand side of a rule of the JSpeech
// Grammar Format (W3C note, 5 June 2000), as far as the package uses it: words, (a | b),
// [optional], and + and * after a word or group.
func checkJSGF(rule string) error {
	p := jsgfParser{text: rule}
	if err := p.alternatives(0); err != nil {
		return err
	}
	if p.pos < len(p.text) {
		return fmt.Errorf("at %d: unexpected %q", p.pos, p.text[p.pos:])
	}
	return nil
}

type jsgfParser struct {
	text string
	pos  int
}

func (p *jsgfParser) space() {
	for p.pos < len(p.text) && p.text[p.pos] == ' ' {
		p.pos++
	}
}

func (p *jsgfParser) alternatives(depth int) error {
	if depth > 20 {
		return fmt.Errorf("nested too deep")
	}
	for {
		if err := p.sequence(depth); err != nil {
			return err
		}
		p.space()
		if p.pos >= len(p.text) || p.text[p.pos] != '|' {
			return nil
		}
		p.pos++
	}
}

func (p *jsgfParser) sequence(depth int) error {
	items := 0
	for {
		p.space()
		if p.pos >= len(p.text) || strings.IndexByte("|)]", p.text[p.pos]) >= 0 {
			if items == 0 {
				return fmt.Errorf("at %d: empty sequence", p.pos)
			}
			return nil
		}
		items++
		switch c := p.text[p.pos]; c {
		case '(', '[':
			p.pos++
			if err := p.alternatives(depth + 1); err != nil {
				return err
			}
			closing := byte(')')
			if c == '[' {
				closing = ']'
			}
			if p.pos >= len(p.text) || p.text[p.pos] != closing {
				return fmt.Errorf("at %d: %q is not closed", p.pos, c)
			}
			p.pos++
		default:
			start := p.pos
			for _, r := range p.text[p.pos:] {
				if !unicode.IsLower(r) && r != '\'' {
					break
				}
				p.pos += len(string(r))
			}
			if p.pos == start {
				return fmt.Errorf("at %d: %q is not a word", p.pos, p.text[p.pos:min(len(p.text), p.pos+10)])
			}
		}
		if p.pos < len(p.text) && (p.text[p.pos] == '+' || p.text[p.pos] == '*') {
			p.pos++
		}
	}
}

func TestJSGFChecker(t *testing.T) {
	for rule, ok := range map[string]bool{
		"boston": true, "(boston | new york) [please]": true, "(a | b)+": true, "i'd like (one | two)": true, "münchen": true,
		"": false, "(a | )": false, "(a": false, "a)": false, "Boston": false, "a, b": false, "<x>": false, "a | | b": false, "5": false, "[]": false,
	} {
		if err := checkJSGF(rule); (err == nil) != ok {
			t.Errorf("%q: %v, want well-formed %v", rule, err, ok)
		}
	}
}

// expectations returns what the agent expects at many points of conversations.
func expectations(t *testing.T, a *Agent, texts ...string) []Expectation {
	t.Helper()
	var st State
	now := tuesday
	out := []Expectation{a.Start(&st, now).Expect}
	for _, text := range texts {
		now = now.Add(2 * time.Second)
		o := a.Handle(&st, now, Message{Text: text})
		if o.Act != nil {
			o = a.Handle(&st, now, ActionEnded{ID: o.Act.ID, Outputs: map[string]any{
				"needs_code": "yes", "flights_found": 1, "flight_number": "Hocket 7", "departure_time": "noon", "price": 120, "booking_ref": "BK-40001",
			}})
		}
		out = append(out, o.Expect)
	}
	return out
}

// TestGrammars checks the syntax of every phrase of every expectation, and their total
// size.
func TestGrammars(t *testing.T) {
	var all []Expectation
	all = append(all, expectations(t, testAgent(t, "seed.yaml"), "book a flight", "boston", "chi", "no", "denver", "next friday", "cancel")...)
	all = append(all, expectations(t, testAgent(t, "bank.yaml"), "transfer money", "John Smith", "DE89370400440532013000", "fifty", "rent", "123456", "yes", "what is my balance", "x")...)
	all = append(all, expectations(t, testAgent(t, "de.yaml"), "ich brauche einen Termin", "Doktor Müller", "morgen", "neun Uhr", "ja")...)
	all = append(all, expectations(t, testAgent(t, "steps.yaml"), "show me the branches", "5", "divide by zero", "cancel", "ask me for confirmation", "apple")...)
	all = append(all, expectations(t, flightsExample(t), "book a flight", "boston", "denver", "tomorrow", "change the date")...)
	for _, language := range value.Languages() {
		a := templateAgent(t, language)
		for _, s := range a.def.Slots {
			all = append(all, Expectation{Slot: s.Name, Phrases: a.expects.slots[s]})
		}
	}
	phrases := 0
	for _, e := range all {
		size := 0
		for _, p := range e.Phrases {
			phrases++
			size += len(p)
			if err := checkJSGF(p); err != nil {
				t.Errorf("%s: %q: %v", e.Slot, p, err)
			}
		}
		if size > 2*maxGrammar || len(e.Phrases) > 2*maxPhrases {
			t.Errorf("%s: %d phrases of %d bytes", e.Slot, len(e.Phrases), size)
		}
	}
	if phrases < 500 {
		t.Errorf("only %d phrases", phrases)
	}
}

// accepts reports whether a small rule accepts a sentence, by expanding the rule.
func accepts(rule, sentence string) bool {
	return slices.Contains(matchJSGF(rule, strings.Fields(sentence)), 0)
}

// matchJSGF returns how many words may remain after the rule.
func matchJSGF(rule string, words []string) []int {
	p := &jsgfMatcher{text: rule}
	starts := map[int]bool{0: true}
	ends := p.alternatives(words, starts)
	var out []int
	for e := range ends {
		out = append(out, len(words)-e)
	}
	return out
}

type jsgfMatcher struct {
	text string
	pos  int
}

func (p *jsgfMatcher) alternatives(words []string, starts map[int]bool) map[int]bool {
	out := make(map[int]bool)
	for {
		for e := range p.sequence(words, starts) {
			out[e] = true
		}
		if p.pos >= len(p.text) || p.text[p.pos] != '|' {
			return out
		}
		p.pos++
	}
}

func (p *jsgfMatcher) sequence(words []string, starts map[int]bool) map[int]bool {
	cur := starts
	for {
		for p.pos < len(p.text) && p.text[p.pos] == ' ' {
			p.pos++
		}
		if p.pos >= len(p.text) || strings.IndexByte("|)]", p.text[p.pos]) >= 0 {
			return cur
		}
		begin := p.pos
		next := p.item(words, cur)
		if p.pos < len(p.text) && (p.text[p.pos] == '+' || p.text[p.pos] == '*') {
			star := p.text[p.pos] == '*'
			after := p.pos + 1
			all := make(map[int]bool)
			for e := range next {
				all[e] = true
			}
			frontier := next
			for len(frontier) > 0 {
				p.pos = begin
				more := p.item(words, frontier)
				frontier = make(map[int]bool)
				for e := range more {
					if !all[e] {
						all[e], frontier[e] = true, true
					}
				}
			}
			if star {
				for e := range cur {
					all[e] = true
				}
			}
			p.pos, next = after, all
		}
		cur = next
	}
}

func (p *jsgfMatcher) item(words []string, starts map[int]bool) map[int]bool {
	switch p.text[p.pos] {
	case '(':
		p.pos++
		out := p.alternatives(words, starts)
		p.pos++
		return out
	case '[':
		p.pos++
		out := p.alternatives(words, starts)
		p.pos++
		for s := range starts {
			out[s] = true
		}
		return out
	}
	begin := p.pos
	for p.pos < len(p.text) && strings.IndexByte(" |()[]+*", p.text[p.pos]) < 0 {
		p.pos++
	}
	word := p.text[begin:p.pos]
	out := make(map[int]bool)
	for s := range starts {
		if s < len(words) && words[s] == word {
			out[s+1] = true
		}
	}
	return out
}

// TestGrammarsCoverWhatPeopleSay checks that sentences that the agent understands are in
// the grammar for the recognizer.
func TestGrammarsCoverWhatPeopleSay(t *testing.T) {
	a := flightsExample(t)
	covered := func(e Expectation, sentence string) bool {
		for _, p := range e.Phrases {
			if accepts(p, sentence) {
				return true
			}
		}
		return false
	}
	es := expectations(t, a, "book a flight", "boston", "denver", "tomorrow", "yes")
	for i, sentences := range [][]string{
		{"i want to book a flight", "book me a flight to denver", "book a flight from new york to los angeles", "i want to talk to a person", "help"},
		{"boston", "from boston", "new york please", "i'd like to fly from boston", "it's salt lake city", "from boston to denver", "repeat that", "l a"},
		{"denver", "to denver", "san francisco please", "actually change the origin to chicago", "make it austin", "what do you mean"},
		{
			"next friday", "tomorrow", "on monday", "the third of may", "december twelfth", "on december the twelfth", "in two weeks", "actually make it chicago",
			"change the date", "friday the twelfth", "the day after tomorrow please",
		},
		{"yes", "no", "yes please", "actually make it chicago", "change the date", "go ahead"},
		{"actually make it chicago", "change the date", "change the destination to boston", "i want to book a flight", "goodbye", "cancel my flight"},
	} {
		for _, s := range sentences {
			if !covered(es[i], s) {
				t.Errorf("expectation %d (%s) does not cover %q", i, es[i].Slot, s)
			}
		}
	}
	bank := expectations(t, testAgent(t, "bank.yaml"), "transfer money", "John Smith", "DE89370400440532013000", "fifty", "rent", "123456")
	for i, sentences := range map[int][]string{
		3: {"fifty euros", "five hundred", "two thousand euros"},
		5: {"one two three four five six", "double oh seven one two three"},
		6: {"yes", "yes please", "no", "go ahead", "make it sixty euros"},
	} {
		for _, s := range sentences {
			if !covered(bank[i], s) {
				t.Errorf("expectation %d (%s %s) does not cover %q", i, bank[i].Slot, bank[i].Kind, s)
			}
		}
	}
}

// TestExpectationKinds checks that the kind of each expectation is one that turn-taking
// knows.
func TestExpectationKinds(t *testing.T) {
	es := expectations(t, testAgent(t, "bank.yaml"), "transfer money", "John Smith", "DE89370400440532013000", "fifty", "rent", "123456")
	var got []string
	for _, e := range es {
		got = append(got, e.Slot+":"+e.Kind)
	}
	if want := ": payee:name iban:iban amount:money concept:string security_code:digits :yes_no"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestJSGFWords(t *testing.T) {
	l, err := value.Load("en")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"New York": "new york", "L.A.": "l a", "LA": "l a", "St. Louis": "st louis", "I'd like 2 tickets": "i'd like two tickets", "gate 42": "gate forty two",
		"flight 407": "flight four zero seven", "A380": "a three eight zero", "Köln/Bonn": "köln bonn", "(x | y)": "x y", "---": "", "it’s": "it's", "90": "ninety",
	} {
		if got := jsgfWords(l, text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
