package dialog

import (
	"slices"
	"strings"
	"time"
)

// grammarData is the "grammar" part of a language file: what a recognizer may
// be told to expect, as right-hand sides of JSGF rules. {weekday} and the like
// stand for the lists beside them.
type grammarData struct {
	Please       []string `json:"please"`
	Infinitive   string   `json:"infinitive"` // between "I'd like" and "fly from"
	Commands     []string `json:"commands"`
	Yes          []string `json:"yes"`
	No           []string `json:"no"`
	Change       []string `json:"change"` // {slot} {value}
	DayNumbers   string   `json:"day_numbers"`
	MonthNames   string   `json:"month_names"`
	WeekdayNames string   `json:"weekday_names"`
	DigitNames   string   `json:"digit_names"`
	SmallNumbers string   `json:"small_numbers"`
	Number       string   `json:"number"`
	Date         []string `json:"date"`
	PastDate     []string `json:"past_date"` // of slots whose days are past
	Years        string   `json:"years"`
	Time         []string `json:"time"`
	Digits       []string `json:"digits"`
	Integer      []string `json:"integer"`
	Money        []string `json:"money"`
	Letters      string   `json:"letters"`
	Dash         string   `json:"dash"`
	Dot          string   `json:"dot"`
}

// Bounds of a grammar: a recognizer compiles it while the user waits.
const (
	maxPhrases     = 120
	maxPhraseBytes = 12_000 // of one phrase
	maxGrammar     = 48_000 // of all phrases of an expectation
	maxListed      = 400    // values of a list
)

// grammar collects phrases within the bounds.
type grammar struct {
	l       *language
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

// fill puts the lists of the language into a phrase.
func (d *grammarData) fill(p string) string {
	return strings.NewReplacer(
		"{weekday}", d.WeekdayNames, "{month}", d.MonthNames, "{day}", d.DayNumbers,
		"{small}", d.SmallNumbers, "{hour}", d.SmallNumbers, "{digit}", d.DigitNames,
		"{number}", d.Number, "{year}", d.Years,
	).Replace(p)
}

// The countries that have IBANs (the registry of ISO 13616, of August 2025): those
// whose accounts are written in digits, those that begin with four letters of the
// bank, and the others. Letters sound alike; two that are a country of the right
// kind rarely do.
const (
	ibanDigits = "ad ae al at ba be ch cy cz de dj dk ee es fi fo gl gr hr hu il is li lt lu ly me mk mn mr no om pl pt " +
		"rs sa sd se si sk st tl tn tr ua va xk"
	ibanBank   = "az bg bh gb gi ie iq jo kw lc lv mt mu ni nl pk ps qa ro sv vg ye"
	ibanOthers = "bi br by cr do eg fk fr ge gt hn it kz lb mc md ru sc sm so"
)

// iban is an IBAN as it is read aloud: country, check digits, the letters of a
// bank where a country has them, digits.
func (d *grammarData) iban() string {
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

// values are the phrases that a value of the slot may be, without any words
// around it.
func (g *grammar) values(s *slot) []string {
	d := &g.l.data.Grammar
	if s.closed() {
		var names []string
		for _, v := range s.values {
			names = append(names, v.value)
		}
		for _, v := range s.values { // the values first: synonyms may fall to the bound
			names = append(names, v.synonyms...)
		}
		if a := g.l.alternatives(names); a != "" {
			return []string{a}
		}
		return nil
	}
	var list []string
	switch s.typ {
	case TypeDate:
		list = d.Date
		if s.past && len(d.PastDate) > 0 { // a date of birth has its year
			list = d.PastDate
		}
	case TypeTime:
		list = d.Time
	case TypeDigits, TypePhone:
		list = d.Digits
	case TypeInteger, TypeNumber, TypeFloat:
		list = d.Integer
	case TypeMoney:
		list = d.Money
	case TypeBoolean:
		return append(slices.Clone(d.Yes), d.No...)
	case TypeCode:
		letter, digit, check := d.Letters, d.DigitNames, func(v namedValidator) bool { return v.name == "booking_ref_format" }
		switch {
		case s.kind == "iban":
			return []string{d.iban()}
		case slices.ContainsFunc(s.validators, check): // where a letter is, no digit is heard, and the other way round
			four, either := strings.Repeat(" "+digit, 4), "("+letter+" | "+digit+") "
			return []string{
				letter + " " + letter + " [" + d.Dash + "]" + four + " [" + digit + " [" + digit + "]]",
				strings.Repeat(either, 6),
			}
		}
		return []string{"(" + d.Letters + " | " + d.DigitNames + " | " + d.Dash + ")+"}
	case TypeEmail, TypeString, TypeName, TypeEnum, TypeCity, TypeAddress, TypeAny:
		return nil // any words
	}
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = d.fill(p)
	}
	return out
}

// group is one phrase for all values of the slot, "" if they are any words or
// too many to go inside another phrase.
func (g *grammar) group(s *slot) string {
	values := g.values(s)
	switch {
	case len(values) == 0 || s.typ == TypeBoolean && !s.closed():
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

// answers adds what may be answered when the slot is asked for: the value, in
// the sentences that people wrap it in.
func (g *grammar) answers(s *slot, f *flow) {
	for _, v := range g.values(s) {
		g.add(v)
	}
	please := g.l.alternatives(g.l.data.Grammar.Please)
	group := g.group(s)
	if group == "" {
		return
	}
	g.add(group + " " + please)
	carriers := g.l.alternatives(firstN(g.l.data.Carriers, 24))
	g.add(carriers + " " + group + " [" + please + "]")
	if cues := g.l.alternatives(s.cueTexts(g.l)); cues != "" {
		g.add("[" + carriers + "] " + g.l.data.Grammar.Infinitive + " " + cues + " " + group + " [" + please + "]")
	}
	if f == nil {
		return
	}
	for _, o := range f.slots { // two values in one breath
		cue := g.l.alternatives(firstN(o.cueTexts(g.l), 6))
		other := g.group(o)
		if o == s || cue == "" || other == "" || o.typ != s.typ {
			continue
		}
		own := g.l.alternatives(firstN(s.cueTexts(g.l), 6))
		if own != "" {
			own = "[" + own + "] "
		}
		g.add(own + group + " " + cue + " " + other)
	}
}

func firstN(list []string, n int) []string { return list[:min(n, len(list))] }

// cueTexts are the words before a value of the slot, as they are said.
func (s *slot) cueTexts(l *language) []string {
	var out []string
	for _, role := range l.data.Roles {
		for _, c := range role.Cues {
			if _, ok := s.cues.ids[foldText(c)]; ok && !slices.Contains(out, c) {
				out = append(out, c)
			}
		}
	}
	for _, c := range sortedKeys(s.cues.ids) {
		if !slices.ContainsFunc(out, func(o string) bool { return foldText(o) == c }) {
			out = append(out, c)
		}
	}
	return out
}

// changes adds the corrections that the flow's slots allow.
func (g *grammar) changes(f *flow) {
	for _, s := range f.slots {
		names := g.l.alternatives(s.names)
		value := g.group(s)
		for _, p := range g.l.data.Grammar.Change {
			if strings.Contains(p, "{slot}") && names == "" || strings.Contains(p, "{value}") && value == "" {
				continue
			}
			g.add(strings.NewReplacer("{slot}", names, "{value}", value).Replace(p))
		}
	}
}

// starts adds the trigger phrases of all flows.
func (g *grammar) starts(a *Agent) {
	for _, f := range a.flows {
		for _, t := range f.triggers {
			g.add(g.trigger(t))
			if !t.slots {
				g.add("[" + g.l.alternatives(firstN(g.l.data.Prefixes, 8)) + "] " + g.coreText(a, t))
			}
		}
	}
}

// coreText is a trigger without "I want to".
func (g *grammar) coreText(a *Agent, t trigger) string {
	toks := tokenize(t.text, nil)
	core := a.core(toks)
	if len(core) == 0 {
		return ""
	}
	return g.l.jsgfWords(t.text[core[0].start:core[len(core)-1].end])
}

// trigger is a trigger phrase with its slots filled in; "" if one of them takes
// any words.
func (g *grammar) trigger(t trigger) string {
	rest, out := t.text, ""
	for _, p := range t.parts {
		if p.slot == nil {
			continue
		}
		i := strings.IndexByte(rest, '{')
		n := strings.IndexByte(rest, '}')
		if i < 0 || n < i {
			break
		}
		value := g.group(p.slot)
		if value == "" {
			return ""
		}
		out += " " + g.l.jsgfWords(rest[:i]) + " " + value
		rest = rest[n+1:]
	}
	return out + " " + g.l.jsgfWords(rest)
}

func (g *grammar) commands() {
	for _, p := range g.l.data.Grammar.Commands {
		g.add(p)
	}
}

func (g *grammar) yesNo() {
	for _, p := range g.l.data.Grammar.Yes {
		g.add(p)
	}
	for _, p := range g.l.data.Grammar.No {
		g.add(p)
	}
}

// finish builds what depends on the whole agent: the names of slots in
// corrections, the classifier and the grammars.
func (a *Agent) finish() {
	for _, f := range a.flows {
		a.nameSlots(f)
	}
	a.learnCues()
	for _, f := range a.flows {
		for i := range f.triggers {
			f.triggers[i].core = a.coreParts(f.triggers[i])
		}
	}
	for _, s := range a.slots {
		if s.secret {
			a.secrets = append(a.secrets, s)
		}
	}
	a.trainIntents()
	a.learnWords()
	a.learnAskables()
	a.prompt = Prompt{System: a.promptSystem(), Schema: a.promptSchema()}
	for _, f := range a.flows {
		for _, s := range f.steps {
			if s.typ == stepCollect && !s.slot.anyWords() {
				g := grammar{l: a.lang}
				g.answers(s.slot, f)
				g.commands()
				g.changes(f)
				s.phrases = slices.Clip(g.phrases)
			}
		}
		g := grammar{l: a.lang}
		g.yesNo()
		g.commands()
		g.changes(f)
		f.confirmPhrases = slices.Clip(g.phrases)
		g = grammar{l: a.lang}
		g.starts(a)
		g.commands()
		g.changes(f)
		f.idlePhrases = slices.Clip(g.phrases)
	}
	for _, s := range a.slots {
		if s.anyWords() {
			continue // a grammar would bend every name to a command
		}
		g := grammar{l: a.lang}
		g.answers(s, nil)
		g.commands()
		s.phrases = slices.Clip(g.phrases)
	}
	g := grammar{l: a.lang}
	g.starts(a)
	g.commands()
	a.idlePhrases = slices.Clip(g.phrases)
	g = grammar{l: a.lang}
	g.yesNo()
	g.commands()
	for _, p := range a.lang.data.Commands["retry"] {
		g.add(a.lang.jsgfWords(p))
	}
	a.errorPhrases = slices.Clip(g.phrases)
}

// Expect is what the agent awaits in a state: what the last [Output] said, for a
// state that was read back. It changes nothing.
func (a *Agent) Expect(st *State) Expectation {
	c := st.Clone()
	c.init()
	return a.turn(&c, time.Time{}).expect()
}

// expect is what the agent awaits in the state it is in.
func (t *turn) expect() Expectation {
	st := t.st
	e := Expectation{ReadBack: st.ReadBack}
	switch st.ConversationState {
	case WaitingForSlot:
		s := t.a.slotIndex[st.WaitingForSlot]
		if s == nil {
			return e
		}
		e.Slot, e.Kind, e.Phrases, e.Secret = s.name, s.kind, s.phrases, s.secret
		if step := t.collectStep(s); step != nil {
			e.Phrases = step.phrases
		}
		if st.Suggested != nil {
			e.Kind = "yes_no"
			g := grammar{l: t.a.lang}
			g.yesNo()
			e.Phrases = append(g.phrases, e.Phrases...)
		}
	case Confirming:
		e.Kind = "yes_no"
		if t.flow != nil {
			e.Phrases = t.flow.confirmPhrases
		}
	case Error:
		e.Phrases = t.a.errorPhrases
	case Idle, Completed:
		e.Phrases = t.a.idlePhrases
		if st.Finished != nil {
			if f := t.a.flowIndex[st.Finished.Flow]; f != nil {
				e.Phrases = f.idlePhrases
			}
		}
	case Understanding, ValidatingSlot, ExecutingAction:
	}
	return e
}
