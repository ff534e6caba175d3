package dialog

import (
	"slices"
	"strings"
)

// slotDraft is a slot while its definitions are being read: the agent's and
// those of the flows that use it add up.
type slotDraft struct {
	s         *slot
	at        node
	typeGiven bool
	valuesAt  node
	values    []slotValue
	plain     []any
	defAt     node
	def       node
	lowAt     node
	lowText   string
	highText  string
	cues      []string
	aliases   []string
}

// defineSlots reads the slots of the agent and of its flows.
func (c *compiler) defineSlots(sections, flows []section) {
	drafts := make(map[string]*slotDraft)
	var order []*slotDraft
	define := func(name string, at, def node, inFlow bool) {
		if !identifier(name) {
			c.fail(at, "slot %q: want a name of letters, digits and underscores", name)
			return
		}
		d, there := drafts[name]
		if there && !inFlow {
			c.fail(at, "slot %q is defined twice; first in %s, line %d", name, d.at.file, d.at.line)
			return
		}
		if !there {
			d = &slotDraft{s: &slot{name: name, typ: TypeString, required: true}, at: at}
			drafts[name] = d
			order = append(order, d)
		}
		c.slotFields(d, def)
	}
	for _, s := range sections {
		c.slotList(s.value, "slots", func(name string, at, def node) { define(name, at, def, false) })
	}
	for _, s := range flows {
		for _, p := range s.value.pairs {
			if v, ok := p.value.find("slots"); ok {
				c.slotList(v, "flow "+p.key.text+": slots", func(name string, at, def node) { define(name, at, def, true) })
			}
		}
	}
	for _, d := range order {
		c.finishSlot(d)
		c.a.slots = append(c.a.slots, d.s)
		c.a.slotIndex[d.s.name] = d.s
	}
}

// slotList walks slots as a mapping of names or as a list with name fields.
func (c *compiler) slotList(n node, what string, define func(name string, at, def node)) {
	switch n.kind {
	case nodeMapping:
		seen := make(map[string]bool)
		for _, p := range n.pairs {
			if seen[p.key.text] {
				c.fail(p.key, "%s: slot %q stands twice", what, p.key.text)
				continue
			}
			seen[p.key.text] = true
			define(p.key.text, p.key, p.value)
		}
	case nodeSequence:
		for _, item := range n.items {
			if item.kind == nodeScalar { // a name alone: defined elsewhere
				define(item.text, item, node{})
				continue
			}
			name, ok := item.find("name")
			if !ok || name.kind != nodeScalar {
				c.fail(item, "%s: want a field name in each entry", what)
				continue
			}
			define(name.text, name, item)
		}
	case nodeNull, nodeMissing:
	case nodeScalar:
		c.fail(n, "%s: want a mapping or a list, got %s", what, n.kind)
	}
}

func identifier(s string) bool {
	if s == "" || len(s) > 100 {
		return false
	}
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 127
		if !letter && (i == 0 || !(r >= '0' && r <= '9' || r == '-')) {
			return false
		}
	}
	return true
}

func (c *compiler) slotFields(d *slotDraft, def node) {
	s := d.s
	what := "slot " + s.name
	if def.kind == nodeScalar { // origin: city
		c.slotType(d, def)
		return
	}
	c.fields(def, what, map[string]func(key, value node){
		"name": nil,
		"type": func(_, v node) { c.slotType(d, v) },
		"description": func(_, v node) {
			s.description = firstText(s.description, strings.TrimSpace(c.text(v, what+".description")))
		},
		"label":     func(_, v node) { s.label = c.text(v, what+".label") },
		"prompt":    func(_, v node) { s.prompt = firstVariants(s.prompt, c.message(v, what+".prompt")) },
		"required":  func(_, v node) { s.required = c.boolean(v, what+".required", true) },
		"validator": func(_, v node) { c.slotValidators(s, v) },
		"validation_error_message": func(_, v node) {
			s.invalid = firstVariants(s.invalid, c.message(v, what+".validation_error_message"))
		},
		"secret":   func(_, v node) { s.secret = c.boolean(v, what+".secret", false) },
		"help":     func(_, v node) { s.help = firstVariants(s.help, c.message(v, what+".help")) },
		"values":   func(_, v node) { c.slotValues(d, v) },
		"options":  func(_, v node) { c.slotValues(d, v) },
		"default":  func(key, v node) { d.def, d.defAt = v, key },
		"currency": func(_, v node) { c.slotCurrency(s, v) },
		"min":      func(_, v node) { d.lowText, d.lowAt = c.text(v, what+".min"), v },
		"max":      func(_, v node) { d.highText, d.lowAt = c.text(v, what+".max"), v },
		"length":   func(_, v node) { c.slotLength(s, v) },
		"past":     func(_, v node) { s.past = c.boolean(v, what+".past", false) },
		"cues":     func(_, v node) { d.cues = append(d.cues, c.texts(v, what+".cues")...) },
		"aliases":  func(_, v node) { d.aliases = append(d.aliases, c.texts(v, what+".aliases")...) },
	})
}

func firstText(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func firstVariants(a, b variants) variants {
	if len(a) > 0 {
		return a
	}
	return b
}

func (c *compiler) slotType(d *slotDraft, v node) {
	name := strings.ToLower(strings.TrimSpace(c.text(v, "slot "+d.s.name+".type")))
	if name == "" {
		return
	}
	typ, ok := slotTypes[name]
	if !ok {
		c.report(SeverityError, v, nearest(name, slotTypeNames), "slot %s: unknown type %q", d.s.name, name)
		return
	}
	if d.typeGiven && d.s.typ != typ {
		c.fail(v, "slot %s: type %s here, %s where it was defined first (%s, line %d)", d.s.name, typ, d.s.typ, d.at.file, d.at.line)
		return
	}
	d.s.typ, d.typeGiven = typ, true
	if name == "iban" {
		d.s.kind = "iban"
	}
}

func (c *compiler) slotCurrency(s *slot, v node) {
	code := strings.ToUpper(strings.TrimSpace(c.text(v, "slot "+s.name+".currency")))
	if len(code) != 3 || !upperLetters(code) {
		c.fail(v, "slot %s.currency: want a code of three letters, as EUR", s.name)
		return
	}
	s.currency = code
}

func (c *compiler) slotLength(s *slot, v node) {
	what := "slot " + s.name + ".length"
	switch v.kind {
	case nodeScalar:
		if n, ok := c.count(v, what, 1, 100); ok {
			s.length = [2]int{n, n}
		}
	case nodeSequence:
		if len(v.items) == 2 {
			low, ok1 := c.count(v.items[0], what, 1, 100)
			high, ok2 := c.count(v.items[1], what, 1, 100)
			if ok1 && ok2 && low <= high {
				s.length = [2]int{low, high}
				return
			}
		}
		c.fail(v, "%s: want a number or [least, most]", what)
	case nodeMissing, nodeNull, nodeMapping:
		c.fail(v, "%s: want a number or [least, most]", what)
	}
}

// slotValues reads the list of what a slot may be: texts, or {value, synonyms}.
func (c *compiler) slotValues(d *slotDraft, v node) {
	what := "slot " + d.s.name + ".values"
	d.valuesAt = v
	if !v.given() {
		return
	}
	if v.kind == nodeMapping { // value: [synonyms]
		for _, p := range v.pairs {
			d.values = append(d.values, slotValue{value: p.key.text, synonyms: c.texts(p.value, what)})
			d.plain = append(d.plain, p.key.scalar())
		}
		return
	}
	if v.kind != nodeSequence {
		c.fail(v, "%s: want a list, got %s", what, v.kind)
		return
	}
	for _, item := range v.items {
		switch item.kind {
		case nodeScalar:
			d.values = append(d.values, slotValue{value: item.text})
			d.plain = append(d.plain, item.scalar())
		case nodeMapping:
			var sv slotValue
			var plain any
			c.fields(item, what, map[string]func(key, value node){
				"value":    func(_, v node) { sv.value, plain = c.text(v, what), v.scalar() },
				"synonyms": func(_, v node) { sv.synonyms = c.texts(v, what+".synonyms") },
				"aliases":  func(_, v node) { sv.synonyms = append(sv.synonyms, c.texts(v, what+".aliases")...) },
			})
			if sv.value == "" {
				c.fail(item, "%s: want {value: .., synonyms: [..]}", what)
				continue
			}
			d.values = append(d.values, sv)
			d.plain = append(d.plain, plain)
		case nodeMissing, nodeNull, nodeSequence:
			c.fail(item, "%s: want text or {value: .., synonyms: [..]}", what)
		}
	}
}

// validatorList reads one validator or several.
func (c *compiler) validatorList(n node, what string) []namedValidator {
	items := n.items
	if n.kind == nodeScalar {
		items = []node{n}
	}
	var out []namedValidator
	for _, item := range items {
		name := c.text(item, what)
		if name == "" {
			continue
		}
		fn, ok := c.validators[name]
		if !ok {
			c.undeclared(item, "validator", name, sortedKeys(c.validators), "every value of the slot's type passes")
		}
		out = append(out, namedValidator{name, fn})
	}
	if len(out) == 0 && n.given() && n.kind != nodeSequence && n.kind != nodeScalar {
		c.fail(n, "%s: want the name of a validator", what)
	}
	return out
}

// impliedTypes are the types that a validator wants where none is given.
var impliedTypes = map[string]SlotType{
	"city_name": TypeCity, "future_date_only": TypeDate, "today_or_later": TypeDate, "past_date_only": TypeDate,
	"weekday_only": TypeDate, "booking_ref_format": TypeCode, "booking_reference": TypeCode, "iata_code": TypeCode,
	"email": TypeEmail, "phone": TypePhone, "phone_number": TypePhone, "iban": TypeCode, "credit_card": TypeDigits,
	"security_code": TypeDigits, "card_digits": TypeDigits, "zip_code": TypeDigits, "person_name": TypeName,
}

// finishSlot derives what the definitions leave open.
func (c *compiler) finishSlot(d *slotDraft) {
	s, l := d.s, c.a.lang
	if s.typ == TypeString {
		for _, v := range s.validators {
			if t, ok := impliedTypes[v.name]; ok && len(d.values) == 0 {
				s.typ = t
				if v.name == "iban" {
					s.kind = "iban"
				}
				break
			}
		}
		if len(d.values) > 0 {
			s.typ = TypeEnum
		}
	}
	switch s.typ {
	case TypeEnum, TypeCity, TypeName, TypeAddress, TypeCode, TypeDigits, TypeString, TypeAny:
		s.values = d.values
		c.checkValues(d)
	default:
		if len(d.values) > 0 {
			c.warn(d.valuesAt, "slot %s: values are ignored for the type %s", s.name, s.typ)
		}
	}
	if s.typ == TypeEnum && len(s.values) == 0 && d.valuesAt.line == 0 {
		c.fail(d.at, "slot %s: the type enum wants values", s.name)
	}
	if s.kind == "" {
		switch s.typ {
		case TypeBoolean:
			s.kind = "yes_no"
		case TypeCode:
			s.kind = "spelling"
		default:
			s.kind = string(s.typ)
		}
	}
	if s.currency == "" {
		s.currency = l.data.Currency
	}
	if s.label == "" {
		s.label = strings.ReplaceAll(s.name, "_", " ")
	}
	if d.typeGiven && s.typ == TypeMoney && s.currency != "" {
		c.a.vars[s.name+"_currency"] = true
	}
	s.index(l)
	c.slotLimits(d)
	c.slotDefault(d)
	s.trailing, s.typeCues = l.trailingLight[string(s.typ)], l.typeCues[string(s.typ)]
	s.nouns = newPhraseTable(l.data.TypeNames[string(s.typ)])
	s.promptWords = make(map[string]bool)
	var buf [40]token
	for _, t := range s.prompt {
		for _, tok := range tokenize(t.text, buf[:0]) {
			s.promptWords[stem(tok.text)] = true
		}
	}
	s.learnWords(l)
	s.cues, s.mentions = c.slotCues(d), newPhraseTable(append([]string{s.label, s.name}, d.aliases...))
	s.names = append([]string{s.label}, d.aliases...)
}

// checkValues reports values that cannot be told apart.
func (c *compiler) checkValues(d *slotDraft) {
	owner := make(map[string]string)
	for _, v := range d.values {
		for _, name := range append([]string{v.value}, v.synonyms...) {
			key := foldText(name)
			if key == "" {
				c.fail(d.valuesAt, "slot %s: the value %q has no letter or digit", d.s.name, name)
				continue
			}
			if o, there := owner[key]; there && o != v.value {
				c.warn(d.valuesAt, "slot %s: %q stands for %q and for %q; the first is taken", d.s.name, name, o, v.value)
				continue
			}
			owner[key] = v.value
		}
	}
}

func (c *compiler) slotLimits(d *slotDraft) {
	read := func(text, field string) *float64 {
		if text == "" {
			return nil
		}
		if d.s.typ == TypeTime {
			if m, ok := parseClock(text); ok {
				f := float64(m)
				return &f
			}
			c.fail(d.lowAt, "slot %s.%s: want a time as 08:30", d.s.name, field)
			return nil
		}
		f, ok := toNumber(text)
		if !ok || !d.s.numeric() {
			c.fail(d.lowAt, "slot %s.%s: want a number, for a slot that holds one", d.s.name, field)
			return nil
		}
		return &f
	}
	d.s.low, d.s.high = read(d.lowText, "min"), read(d.highText, "max")
	if d.s.low != nil && d.s.high != nil && *d.s.low > *d.s.high {
		c.fail(d.lowAt, "slot %s: min is above max", d.s.name)
	}
}

func (c *compiler) slotDefault(d *slotDraft) {
	switch d.def.kind {
	case nodeScalar:
		d.s.def = d.def.scalar()
	case nodeMapping, nodeSequence:
		c.fail(d.defAt, "slot %s.default: want a single value", d.s.name)
	case nodeMissing, nodeNull:
	}
}

// slotCues collects the words before a value that point to the slot: given in
// the file, by the words of its name, and by the end of its prompt.
func (c *compiler) slotCues(d *slotDraft) *phraseTable {
	t := newPhraseTable(d.cues)
	words := strings.FieldsFunc(strings.ToLower(d.s.name), func(r rune) bool { return r == '_' || r == '-' })
	for _, role := range c.a.lang.data.Roles {
		for _, w := range words {
			if slices.Contains(role.Names, w) && d.s.typ != TypeDate && d.s.typ != TypeTime || slices.Contains(role.Names, w) && (w == "return" || w == "checkout" || w == "checkin") {
				for _, cue := range role.Cues {
					t.add(cue, 0)
				}
			}
		}
	}
	for _, p := range d.s.prompt {
		var buf [40]token
		toks := tokenize(p.text, buf[:0])
		if len(toks) == 0 {
			continue
		}
		last := toks[len(toks)-1].text
		for _, role := range c.a.lang.data.Roles {
			if slices.ContainsFunc(role.Cues, func(cue string) bool { return foldText(cue) == last }) {
				t.add(last, 0)
			}
		}
	}
	return t
}
