package agent

import (
	"maps"
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog/value"
)

// slotDraft is a slot whose definitions are being read. The definitions of the agent and of
// the flows that use the slot are combined.
type slotDraft struct {
	s         *Slot
	at        node
	typeGiven bool
	valuesAt  node
	values    []value.Choice
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
		if !Identifier(name) {
			c.fail(at, "slot %q: expected a name of letters, digits and underscores", name)
			return
		}
		d, there := drafts[name]
		if there && !inFlow {
			c.fail(at, "slot %q is defined twice; first in %s, line %d", name, d.at.file, d.at.line)
			return
		}
		if !there {
			d = &slotDraft{s: &Slot{Name: name, Spec: value.Spec{Type: value.TypeString}, Required: true}, at: at}
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
		c.a.Slots = append(c.a.Slots, d.s)
		c.a.SlotIndex[d.s.Name] = d.s
	}
}

// slotList calls define for each slot of a mapping of names or of a list with name fields.
func (c *compiler) slotList(n node, what string, define func(name string, at, def node)) {
	switch n.kind {
	case nodeMapping:
		seen := make(map[string]bool)
		for _, p := range n.pairs {
			if seen[p.key.text] {
				c.fail(p.key, "%s: slot %q is given twice", what, p.key.text)
				continue
			}
			seen[p.key.text] = true
			define(p.key.text, p.key, p.value)
		}
	case nodeSequence:
		for _, item := range n.items {
			if item.kind == nodeScalar { // only a name: the slot is defined elsewhere
				define(item.text, item, node{})
				continue
			}
			name, ok := item.find("name")
			if !ok || name.kind != nodeScalar {
				c.fail(item, "%s: expected a field name in each entry", what)
				continue
			}
			define(name.text, name, item)
		}
	case nodeNull, nodeMissing:
	case nodeScalar:
		c.fail(n, "%s is %s: expected a mapping or a list", what, n.kind)
	}
}

// Identifier reports whether a text may be the name of a slot, a flow or a step.
func Identifier(s string) bool {
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
	what := "slot " + s.Name
	if def.kind == nodeScalar { // origin: city
		c.slotType(d, def)
		return
	}
	c.fields(def, what, map[string]func(key, value node){
		"name": nil,
		"type": func(_, v node) { c.slotType(d, v) },
		"description": func(_, v node) {
			s.Description = firstText(s.Description, strings.TrimSpace(c.text(v, what+".description")))
		},
		"label":     func(_, v node) { s.Label = c.text(v, what+".label") },
		"prompt":    func(_, v node) { s.Prompt = firstVariants(s.Prompt, c.message(v, what+".prompt")) },
		"required":  func(_, v node) { s.Required = c.boolean(v, what+".required", true) },
		"validator": func(_, v node) { c.slotValidators(s, v) },
		"validation_error_message": func(_, v node) {
			s.Invalid = firstVariants(s.Invalid, c.message(v, what+".validation_error_message"))
		},
		"rejections": func(_, v node) { s.Rejections = append(s.Rejections, c.rejections(v, what)...) },
		"secret":     func(_, v node) { s.Secret = c.boolean(v, what+".secret", false) },
		"help":       func(_, v node) { s.Help = firstVariants(s.Help, c.message(v, what+".help")) },
		"values":     func(_, v node) { c.slotValues(d, v) },
		"options":    func(_, v node) { c.slotValues(d, v) },
		"default":    func(key, v node) { d.def, d.defAt = v, key },
		"currency":   func(_, v node) { c.slotCurrency(s, v) },
		"min":        func(_, v node) { d.lowText, d.lowAt = c.text(v, what+".min"), v },
		"max":        func(_, v node) { d.highText, d.lowAt = c.text(v, what+".max"), v },
		"length":     func(_, v node) { c.slotLength(s, v) },
		"past":       func(_, v node) { s.Past = c.boolean(v, what+".past", false) },
		"differs_from": func(_, v node) {
			for _, name := range c.texts(v, what+".differs_from") {
				s.Differs = append(s.Differs, name)
				c.refs = append(c.refs, nameRef{at: v, name: name, what: what + ".differs_from"})
			}
		},
		"cues":    func(_, v node) { d.cues = append(d.cues, c.texts(v, what+".cues")...) },
		"aliases": func(_, v node) { d.aliases = append(d.aliases, c.texts(v, what+".aliases")...) },
	})
}

func firstText(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func firstVariants(a, b Variants) Variants {
	if len(a) > 0 {
		return a
	}
	return b
}

func (c *compiler) slotType(d *slotDraft, v node) {
	name := strings.ToLower(strings.TrimSpace(c.text(v, "slot "+d.s.Name+".type")))
	if name == "" {
		return
	}
	typ, ok := value.Types[name]
	if !ok {
		c.report(SeverityError, v, nearest(name, value.TypeNames), "slot %s: unknown type %q", d.s.Name, name)
		return
	}
	if d.typeGiven && d.s.Type != typ {
		c.fail(v, "slot %s: type %s here, %s where it was defined first (%s, line %d)", d.s.Name, typ, d.s.Type, d.at.file, d.at.line)
		return
	}
	d.s.Type, d.typeGiven = typ, true
	if name == "iban" {
		d.s.Kind = "iban"
	}
}

func (c *compiler) slotCurrency(s *Slot, v node) {
	code := strings.ToUpper(strings.TrimSpace(c.text(v, "slot "+s.Name+".currency")))
	if len(code) != 3 || !value.UpperLetters(code) {
		c.fail(v, "slot %s.currency: expected a code of three letters, such as EUR", s.Name)
		return
	}
	s.Currency = code
}

func (c *compiler) slotLength(s *Slot, v node) {
	what := "slot " + s.Name + ".length"
	switch v.kind {
	case nodeScalar:
		if n, ok := c.count(v, what, 1, 100); ok {
			s.Length = [2]int{n, n}
		}
	case nodeSequence:
		if len(v.items) == 2 {
			low, ok1 := c.count(v.items[0], what, 1, 100)
			high, ok2 := c.count(v.items[1], what, 1, 100)
			if ok1 && ok2 && low <= high {
				s.Length = [2]int{low, high}
				return
			}
		}
		c.fail(v, "%s: expected a number or [least, most]", what)
	case nodeMissing, nodeNull, nodeMapping:
		c.fail(v, "%s: expected a number or [least, most]", what)
	}
}

// slotValues reads the values of a slot: texts, or {value, synonyms}.
func (c *compiler) slotValues(d *slotDraft, v node) {
	what := "slot " + d.s.Name + ".values"
	d.valuesAt = v
	if !v.given() {
		return
	}
	if v.kind == nodeMapping { // value: [synonyms]
		for _, p := range v.pairs {
			d.values = append(d.values, value.Choice{Value: p.key.text, Synonyms: c.texts(p.value, what)})
			d.plain = append(d.plain, p.key.scalar())
		}
		return
	}
	if v.kind != nodeSequence {
		c.fail(v, "%s is %s: expected a list", what, v.kind)
		return
	}
	for _, item := range v.items {
		switch item.kind {
		case nodeScalar:
			d.values = append(d.values, value.Choice{Value: item.text})
			d.plain = append(d.plain, item.scalar())
		case nodeMapping:
			var sv value.Choice
			var plain any
			c.fields(item, what, map[string]func(key, value node){
				"value":    func(_, v node) { sv.Value, plain = c.text(v, what), v.scalar() },
				"synonyms": func(_, v node) { sv.Synonyms = c.texts(v, what+".synonyms") },
				"aliases":  func(_, v node) { sv.Synonyms = append(sv.Synonyms, c.texts(v, what+".aliases")...) },
			})
			if sv.Value == "" {
				c.fail(item, "%s: expected {value: .., synonyms: [..]}", what)
				continue
			}
			d.values = append(d.values, sv)
			d.plain = append(d.plain, plain)
		case nodeMissing, nodeNull, nodeSequence:
			c.fail(item, "%s: expected text or {value: .., synonyms: [..]}", what)
		}
	}
}

// validatorList reads one or more names of validators.
func (c *compiler) validatorList(n node, what string) []NamedValidator {
	items := n.items
	if n.kind == nodeScalar {
		items = []node{n}
	}
	var out []NamedValidator
	for _, item := range items {
		name := c.text(item, what)
		if name == "" {
			continue
		}
		fn, ok := c.validators[name]
		if !ok {
			c.undeclared(item, "validator", name, slices.Sorted(maps.Keys(c.validators)), "every value of the slot's type passes")
		}
		out = append(out, NamedValidator{name, fn})
	}
	if len(out) == 0 && n.given() && n.kind != nodeSequence && n.kind != nodeScalar {
		c.fail(n, "%s: expected the name of a validator", what)
	}
	return out
}

// impliedTypes has the types of slots that have no type but a validator.
var impliedTypes = map[string]value.Type{
	"city_name": value.TypeCity, "future_date_only": value.TypeDate, "today_or_later": value.TypeDate, "past_date_only": value.TypeDate,
	"weekday_only": value.TypeDate, "booking_ref_format": value.TypeCode, "booking_reference": value.TypeCode, "iata_code": value.TypeCode,
	"email": value.TypeEmail, "phone": value.TypePhone, "phone_number": value.TypePhone, "iban": value.TypeCode, "credit_card": value.TypeDigits,
	"security_code": value.TypeDigits, "card_digits": value.TypeDigits, "zip_code": value.TypeDigits, "person_name": value.TypeName,
}

// finishSlot derives what the definitions leave open.
func (c *compiler) finishSlot(d *slotDraft) {
	s, l := d.s, c.a.Lang
	if s.Type == value.TypeString {
		for _, v := range s.Validators {
			if t, ok := impliedTypes[v.Name]; ok && len(d.values) == 0 {
				s.Type = t
				if v.Name == "iban" {
					s.Kind = "iban"
				}
				break
			}
		}
		if len(d.values) > 0 {
			s.Type = value.TypeEnum
		}
	}
	switch s.Type {
	case value.TypeEnum, value.TypeCity, value.TypeName, value.TypeAddress, value.TypeCode, value.TypeDigits, value.TypeString, value.TypeAny:
		s.Values = d.values
		c.checkValues(d)
	default:
		if len(d.values) > 0 {
			c.warn(d.valuesAt, "slot %s: values are ignored for the type %s", s.Name, s.Type)
		}
	}
	if s.Type == value.TypeEnum && len(s.Values) == 0 && d.valuesAt.line == 0 {
		c.fail(d.at, "slot %s: the type enum needs values", s.Name)
	}
	if s.Kind == "" {
		switch s.Type {
		case value.TypeBoolean:
			s.Kind = "yes_no"
		case value.TypeCode:
			s.Kind = "spelling"
		default:
			s.Kind = string(s.Type)
		}
	}
	if s.Label == "" {
		s.Label = strings.ReplaceAll(s.Name, "_", " ")
	}
	if d.typeGiven && s.Type == value.TypeMoney {
		c.a.Vars[s.Name+"_currency"] = true
	}
	c.slotLimits(d)
	c.slotDefault(d)
	naming := value.Naming{Name: s.Name, Label: s.Label, Description: s.Description, Cues: d.cues, Aliases: d.aliases}
	for _, t := range s.Prompt {
		naming.Prompts = append(naming.Prompts, t.text)
	}
	s.Learn(l, naming)
	s.Names = append([]string{s.Label}, d.aliases...)
}

// checkValues reports values without letters or digits, and names that stand for two
// values.
func (c *compiler) checkValues(d *slotDraft) {
	owner := make(map[string]string)
	for _, v := range d.values {
		for _, name := range append([]string{v.Value}, v.Synonyms...) {
			key := value.FoldText(name)
			if key == "" {
				c.fail(d.valuesAt, "slot %s: the value %q has no letter or digit", d.s.Name, name)
				continue
			}
			if o, there := owner[key]; there && o != v.Value {
				c.warn(d.valuesAt, "slot %s: %q stands for %q and for %q; the first is taken", d.s.Name, name, o, v.Value)
				continue
			}
			owner[key] = v.Value
		}
	}
}

func (c *compiler) slotLimits(d *slotDraft) {
	read := func(text, field string) *float64 {
		if text == "" {
			return nil
		}
		if d.s.Type == value.TypeTime {
			if m, ok := value.ParseTime(text); ok {
				f := float64(m)
				return &f
			}
			c.fail(d.lowAt, "slot %s.%s: expected a time such as 08:30", d.s.Name, field)
			return nil
		}
		f, ok := value.ToNumber(text)
		if !ok || !d.s.Numeric() {
			c.fail(d.lowAt, "slot %s.%s: expected a number, like the values of the slot", d.s.Name, field)
			return nil
		}
		return &f
	}
	d.s.Low, d.s.High = read(d.lowText, "min"), read(d.highText, "max")
	if d.s.Low != nil && d.s.High != nil && *d.s.Low > *d.s.High {
		c.fail(d.lowAt, "slot %s: min is above max", d.s.Name)
	}
}

func (c *compiler) slotDefault(d *slotDraft) {
	switch d.def.kind {
	case nodeScalar:
		d.s.Default = d.def.scalar()
	case nodeMapping, nodeSequence:
		c.fail(d.defAt, "slot %s.default: expected a single value", d.s.Name)
	case nodeMissing, nodeNull:
	}
}
