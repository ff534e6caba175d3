package dialog

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
	"github.com/hocketvoice/hocket/dialog/words"
)

// Limits of a grammar. A recognizer compiles it while the user waits.
const (
	maxPhrases     = 120
	maxPhraseBytes = 12_000 // of one phrase
	maxGrammar     = 48_000 // of all phrases of an expectation
	maxListed      = 400    // values of a list
)

// grammar collects phrases up to the limits.
type grammar struct {
	l       *value.Language
	phrases []string
	size    int
}

func (g *grammar) add(p string) {
	p = strings.Join(strings.Fields(p), " ")
	if p == "" || len(p) > maxPhraseBytes || len(g.phrases) >= maxPhrases || g.size+len(p) > maxGrammar || slices.Contains(g.phrases, p) {
		return
	}
	g.phrases = append(g.phrases, p)
	g.size += len(p)
}

// fillIn puts the lists of the language into a phrase.
func fillIn(d *value.GrammarData, p string) string {
	return strings.NewReplacer(
		"{weekday}", d.WeekdayNames, "{month}", d.MonthNames, "{day}", d.DayNumbers,
		"{small}", d.SmallNumbers, "{hour}", d.SmallNumbers, "{digit}", d.DigitNames,
		"{number}", d.Number, "{year}", d.Years,
	).Replace(p)
}

// The countries that have IBANs (registry of ISO 13616, August 2025), by the form of their
// account numbers: digits only, beginning with four letters of the bank, and others. Letters
// sound alike; the grammar allows only those pairs that are a country of the right form.
const (
	ibanDigits = "ad ae al at ba be ch cy cz de dj dk ee es fi fo gl gr hr hu il is li lt lu ly me mk mn mr no om pl pt " +
		"rs sa sd se si sk st tl tn tr ua va xk"
	ibanBank   = "az bg bh gb gi ie iq jo kw lc lv mt mu ni nl pk ps qa ro sv vg ye"
	ibanOthers = "bi br by cr do eg fk fr ge gt hn it kz lb mc md ru sc sm so"
)

// ibanPhrase returns a phrase for an IBAN read aloud: the country, the check digits, the
// bank's letters where the country has them, and digits.
func ibanPhrase(d *value.GrammarData) string {
	spelled := func(countries string) string {
		list := strings.Fields(countries)
		for i, c := range list {
			list[i] = c[:1] + " " + c[1:]
		}
		return "(" + strings.Join(list, " | ") + ")"
	}
	letter, digit := d.Letters, d.DigitNames
	check := " " + digit + " " + digit + " "
	return "(" + spelled(ibanDigits) + check + digit + "+ | " +
		spelled(ibanBank) + check + letter + " " + letter + " " + letter + " " + letter + " " + digit + "+ | " +
		spelled(ibanOthers) + check + "[" + letter + "] " + digit + "+)"
}

// values returns phrases for a value of the slot, without words around it. It returns nil
// if any words may be a value.
func (g *grammar) values(s *agent.Slot) []string {
	d := &g.l.Data.Grammar
	if s.Closed() {
		var names []string
		for _, v := range s.Values {
			names = append(names, v.Value)
		}
		for _, v := range s.Values { // after the values, since the limit may cut them off
			names = append(names, v.Synonyms...)
		}
		if a := alternatives(g.l, names); a != "" {
			return []string{a}
		}
		return nil
	}
	var list []string
	switch s.Type {
	case value.TypeDate:
		list = d.Date
		if s.Past && len(d.PastDate) > 0 { // a past date, such as a date of birth, has a year
			list = d.PastDate
		}
	case value.TypeTime:
		list = d.Time
	case value.TypeDigits, value.TypePhone:
		return g.digits(s)
	case value.TypeInteger, value.TypeNumber, value.TypeFloat:
		return g.numbers(s)
	case value.TypeMoney:
		list = d.Money
	case value.TypeBoolean:
		return append(slices.Clone(d.Yes), d.No...)
	case value.TypeCode:
		letter, digit, check := d.Letters, d.DigitNames, func(v agent.NamedValidator) bool { return v.Name == "booking_ref_format" }
		switch {
		case s.Kind == "iban":
			return []string{ibanPhrase(d)}
		case slices.ContainsFunc(s.Validators, check): // the position decides between letters and digits
			four, either := strings.Repeat(" "+digit, 4), "("+letter+" | "+digit+") "
			return []string{
				letter + " " + letter + " [" + d.Dash + "]" + four + " [" + digit + " [" + digit + "]]",
				strings.Repeat(either, 6),
			}
		}
		return []string{"(" + d.Letters + " | " + d.DigitNames + " | " + d.Dash + ")+"}
	case value.TypeEmail, value.TypeString, value.TypeName, value.TypeEnum, value.TypeCity, value.TypeAddress, value.TypeAny:
		return nil // any words
	}
	return filled(d, list)
}

// group returns one phrase for all values of the slot. It returns "" if they may be any
// words, or if the phrase would be too long to be part of another.
func (g *grammar) group(s *agent.Slot) string {
	values := g.values(s)
	switch {
	case len(values) == 0 || s.Type == value.TypeBoolean && !s.Closed():
		return ""
	case len(values) == 1:
		return values[0]
	}
	p := "(" + strings.Join(values, " | ") + ")"
	if len(p) > maxPhraseBytes/2 {
		return ""
	}
	return p
}

// answers adds answers to the question for the slot: the value alone, and in the sentences
// that people put it in.
func (g *grammar) answers(s *agent.Slot, f *agent.Flow) {
	for _, v := range g.values(s) {
		g.add(v)
	}
	please := alternatives(g.l, g.l.Data.Grammar.Please)
	group := g.group(s)
	if group == "" {
		return
	}
	g.add(group + " " + please)
	carriers := alternatives(g.l, firstN(g.l.Data.Carriers, 24))
	g.add(carriers + " " + group + " [" + please + "]")
	if cues := alternatives(g.l, cueTexts(s, g.l)); cues != "" {
		g.add("[" + carriers + "] " + g.l.Data.Grammar.Infinitive + " " + cues + " " + group + " [" + please + "]")
	}
	if f == nil {
		return
	}
	for _, o := range f.Slots { // two values in one answer
		cue := alternatives(g.l, firstN(cueTexts(o, g.l), 6))
		other := g.group(o)
		if o == s || cue == "" || other == "" || o.Type != s.Type {
			continue
		}
		own := alternatives(g.l, firstN(cueTexts(s, g.l), 6))
		if own != "" {
			own = "[" + own + "] "
		}
		g.add(own + group + " " + cue + " " + other)
	}
}

func firstN(list []string, n int) []string { return list[:min(n, len(list))] }

// cueTexts returns the words that may come before a value of the slot, as they are said.
func cueTexts(s *agent.Slot, l *value.Language) []string {
	var out []string
	for _, role := range l.Data.Roles {
		for _, c := range role.Cues {
			if _, ok := s.Cues.IDs[value.FoldText(c)]; ok && !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	for _, c := range slices.Sorted(maps.Keys(s.Cues.IDs)) {
		if !slices.ContainsFunc(out, func(o string) bool { return value.FoldText(o) == c }) {
			out = append(out, c)
		}
	}
	return out
}

// changes adds the corrections that the flow's slots allow.
func (g *grammar) changes(f *agent.Flow) {
	for _, s := range f.Slots {
		names := alternatives(g.l, s.Names)
		value := g.group(s)
		for _, p := range g.l.Data.Grammar.Change {
			if strings.Contains(p, "{slot}") && names == "" || strings.Contains(p, "{value}") && value == "" {
				continue
			}
			g.add(strings.NewReplacer("{slot}", names, "{value}", value).Replace(p))
		}
	}
}

// starts adds the trigger phrases of all flows.
func (g *grammar) starts(a *Agent) {
	for _, f := range a.def.Flows {
		for _, t := range f.Triggers {
			g.add(g.trigger(t))
			if !t.Slots {
				g.add("[" + alternatives(g.l, firstN(g.l.Data.Prefixes, 8)) + "] " + g.coreText(a, t))
			}
		}
	}
}

// coreText returns a trigger without words like "I want to".
func (g *grammar) coreText(a *Agent, t agent.Trigger) string {
	toks := value.Tokenize(t.Text, nil)
	core := a.words.Core(toks)
	if len(core) == 0 {
		return ""
	}
	return jsgfWords(g.l, t.Text[core[0].Start:core[len(core)-1].End])
}

// trigger returns a trigger phrase with the values of its slots filled in, or "" if one of
// them takes any words.
func (g *grammar) trigger(t agent.Trigger) string {
	rest, out := t.Text, ""
	for _, p := range t.Parts {
		if p.Slot == nil {
			continue
		}
		i := strings.IndexByte(rest, '{')
		n := strings.IndexByte(rest, '}')
		if i < 0 || n < i {
			break
		}
		value := g.group(p.Slot)
		if value == "" {
			return ""
		}
		out += " " + jsgfWords(g.l, rest[:i]) + " " + value
		rest = rest[n+1:]
	}
	return out + " " + jsgfWords(g.l, rest)
}

func (g *grammar) commands() {
	for _, p := range g.l.Data.Grammar.Commands {
		g.add(p)
	}
}

func (g *grammar) yesNo() {
	for _, p := range g.l.Data.Grammar.Yes {
		g.add(p)
	}
	for _, p := range g.l.Data.Grammar.No {
		g.add(p)
	}
}

// finish builds what depends on the whole definition: the classifier, the prompt and the
// grammars.
func (a *Agent) finish() {
	a.expects = grammars{
		steps: make(map[*agent.Step][]string), slots: make(map[*agent.Slot][]string),
		confirm: make(map[*agent.Flow][]string), done: make(map[*agent.Flow][]string),
	}
	a.words = words.New(a.def)
	a.prompt = Prompt{System: a.promptSystem(), Schema: a.promptSchema()}
	for _, f := range slices.Concat(a.def.Flows, a.def.Replaced) {
		for _, s := range f.Steps {
			if s.Type == agent.StepCollect && !s.Slot.AnyWords() {
				g := grammar{l: a.def.Lang}
				g.answers(s.Slot, f)
				g.commands()
				g.changes(f)
				a.expects.steps[s] = slices.Clip(g.phrases)
			}
		}
		g := grammar{l: a.def.Lang}
		g.yesNo()
		g.commands()
		g.changes(f)
		a.expects.confirm[f] = slices.Clip(g.phrases)
		g = grammar{l: a.def.Lang}
		g.starts(a)
		g.commands()
		g.changes(f)
		a.expects.done[f] = slices.Clip(g.phrases)
	}
	for _, s := range a.def.Slots {
		if s.AnyWords() {
			continue // with a grammar the recognizer would turn names into commands
		}
		g := grammar{l: a.def.Lang}
		g.answers(s, nil)
		g.commands()
		a.expects.slots[s] = slices.Clip(g.phrases)
	}
	g := grammar{l: a.def.Lang}
	g.starts(a)
	g.commands()
	a.expects.idle = slices.Clip(g.phrases)
	g = grammar{l: a.def.Lang}
	g.yesNo()
	g.commands()
	for _, p := range a.def.Lang.Data.Commands["retry"] {
		g.add(jsgfWords(a.def.Lang, p))
	}
	a.expects.failed = slices.Clip(g.phrases)
}

// Expect returns what the agent expects to hear in a state, as the last [Output] said. It
// is for a state that was read from a checkpoint. The state does not change.
func (a *Agent) Expect(st *State) Expectation {
	c := st.Clone()
	c.init()
	return a.turn(&c, time.Time{}).expect()
}

// expect returns what the agent expects to hear in the current state.
func (t *flows) expect() Expectation {
	st := t.st
	e := Expectation{ReadBack: st.ReadBack}
	switch st.ConversationState {
	case WaitingForSlot:
		s := t.a.def.SlotIndex[st.WaitingForSlot]
		if s == nil {
			return e
		}
		e.Slot, e.Kind, e.Phrases, e.Secret = s.Name, s.Kind, t.a.expects.slots[s], s.Secret
		if step := t.collectStep(s); step != nil {
			e.Phrases = t.a.expects.steps[step]
		}
		if s.Kind == "digits" {
			e.Digits = s.Length[1]
		}
		if st.Suggested != nil {
			e.Kind = "yes_no"
			g := grammar{l: t.a.def.Lang}
			g.yesNo()
			e.Phrases = append(g.phrases, e.Phrases...)
		}
	case Confirming:
		e.Kind = "yes_no"
		if t.flow != nil {
			e.Phrases = t.a.expects.confirm[t.flow]
		}
	case Error:
		e.Phrases = t.a.expects.failed
	case Idle, Completed:
		e.Phrases = t.a.expects.idle
		if st.Finished != nil {
			if f := t.a.def.FlowIndex[st.Finished.Flow]; f != nil {
				e.Phrases = t.a.expects.done[f]
			}
		}
	case Understanding, ValidatingSlot, ExecutingAction:
	}
	return e
}
