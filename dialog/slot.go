package dialog

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// SlotType names what a slot holds. Its string is what files write and what
// [Expectation.Kind] carries, "yes_no" for booleans and confirmations apart.
type SlotType string

// The types of slots, with the form of their values.
const (
	TypeString  SlotType = "string"  // the words as they were said
	TypeName    SlotType = "name"    // a person's name
	TypeInteger SlotType = "integer" // int64
	TypeNumber  SlotType = "number"  // int64 if whole, else float64
	TypeFloat   SlotType = "float"   // as number
	TypeBoolean SlotType = "boolean" // bool
	TypeDate    SlotType = "date"    // "2025-12-12"
	TypeTime    SlotType = "time"    // "15:30"
	TypeDigits  SlotType = "digits"  // "007"
	TypeCode    SlotType = "code"    // letters and digits, upper case: "BK-98765"
	TypeEmail   SlotType = "email"   // "j.doe@example.com"
	TypePhone   SlotType = "phone"   // "+14155550123"
	TypeMoney   SlotType = "money"   // number, in the slot's currency
	TypeEnum    SlotType = "enum"    // one of the slot's values
	TypeCity    SlotType = "city"    // one of the slot's values, or any name if there are none
	TypeAddress SlotType = "address" // the words as they were said
	TypeAny     SlotType = "any"     // set by actions, never asked for
)

// slotTypes maps the names that files may use to types.
var slotTypes = map[string]SlotType{
	"string": TypeString, "text": TypeString, "str": TypeString,
	"name": TypeName, "person": TypeName, "person_name": TypeName,
	"integer": TypeInteger, "int": TypeInteger,
	"number": TypeNumber, "float": TypeFloat, "decimal": TypeFloat,
	"boolean": TypeBoolean, "bool": TypeBoolean, "yes_no": TypeBoolean,
	"date": TypeDate, "time": TypeTime,
	"digits": TypeDigits, "number_sequence": TypeDigits, "digit_sequence": TypeDigits, "pin": TypeDigits, "zip": TypeDigits, "card": TypeDigits,
	"code": TypeCode, "spelling": TypeCode, "alphanumeric": TypeCode, "iban": TypeCode,
	"email": TypeEmail, "e-mail": TypeEmail, "phone": TypePhone, "phone_number": TypePhone,
	"money": TypeMoney, "amount": TypeMoney, "currency": TypeMoney,
	"enum": TypeEnum, "choice": TypeEnum, "category": TypeEnum, "categorical": TypeEnum,
	"city": TypeCity, "location": TypeCity, "place": TypeCity, "airport": TypeCity,
	"address": TypeAddress,
	"any":     TypeAny, "object": TypeAny, "array": TypeAny, "list": TypeAny,
}

// slotTypeNames are the names that messages suggest.
var slotTypeNames = []string{
	"string", "name", "integer", "number", "float", "boolean", "date", "time", "digits", "code",
	"email", "phone", "money", "enum", "city", "address", "any", "number_sequence", "text",
}

// slot is a compiled slot.
type slot struct {
	name        string
	label       string // as people say it: "departure date"
	description string
	typ         SlotType
	kind        string // for Expectation.Kind
	required    bool
	secret      bool // never said, written or shown
	past        bool
	currency    string
	low, high   *float64 // numbers, or minutes for times
	length      [2]int   // of digits and codes; 0 is open
	def         any
	prompt      variants
	invalid     variants
	help        variants
	validators  []namedValidator
	check       *outsideCheck // nil: nobody outside is asked

	values  []slotValue
	lookup  *phraseTable // index into values
	entries []fuzzyEntry

	cues        *phraseTable // words before a value that point to this slot
	mentions    *phraseTable // words that name the slot
	promptWords map[string]bool
	trailing    *phraseTable
	typeCues    *phraseTable
	nouns       *phraseTable // what a slot of the type is called: "number"

	words map[string]bool // of its name and description, by meaning
	keys  map[string]bool // of its name alone, without "is" and "has"

	names   []string // that people use, for the grammar
	phrases []string // grammar of what may be answered
}

type slotValue struct {
	value    string
	synonyms []string
}

type fuzzyEntry struct {
	text  string
	code  string
	value int
}

// closed reports whether the slot's values are listed.
func (s *slot) closed() bool { return len(s.values) > 0 }

// free reports whether any words may be a value.
func (s *slot) free() bool {
	return !s.closed() && (s.typ == TypeString || s.typ == TypeAddress || s.typ == TypeName || s.typ == TypeAny)
}

// anyWords reports whether no grammar can say what a value looks like.
func (s *slot) anyWords() bool {
	return s.free() || !s.closed() && (s.typ == TypeEmail || s.typ == TypeCity)
}

// takesYesNo reports whether a yes or a no may be a value of free text.
func (s *slot) takesYesNo() bool {
	return slices.ContainsFunc(s.validators, func(v namedValidator) bool { return v.name == "yes_no" })
}

// numeric reports whether a bare number may be a value.
func (s *slot) numeric() bool {
	return s.typ == TypeInteger || s.typ == TypeNumber || s.typ == TypeFloat || s.typ == TypeMoney
}

// index builds what the slot's values are found by.
func (s *slot) index(l *language) {
	s.lookup = newPhraseTable()
	known := make(map[string]bool)
	for i, v := range s.values {
		for _, name := range append([]string{v.value}, v.synonyms...) {
			s.lookup.add(name, i)
			text := foldText(name)
			if len(text) >= 3 && !known[text] {
				known[text] = true
				s.entries = append(s.entries, fuzzyEntry{text: text, code: l.phoneticCode(text), value: i})
			}
		}
	}
}

// titleWords capitalises words that are all in lower case.
func titleWords(s string) string {
	if strings.ToLower(s) != s {
		return s
	}
	var b strings.Builder
	up := true
	for _, r := range s {
		if up {
			r = unicode.ToUpper(r)
		}
		b.WriteRune(r)
		up = r == ' ' || r == '-'
	}
	return b.String()
}

// canonNumber is the form in which numbers are kept: int64 if whole, so that a
// state reads back from JSON as it was.
func canonNumber(f float64) any {
	if f > -1<<63 && f < 1<<63 && f == float64(int64(f)) {
		return int64(f)
	}
	return f
}

func itoa(v int64) string { return strconv.FormatInt(v, 10) }

// stem cuts the endings that change with number and tense, so that "flights"
// and "flight", "booking" and "book" meet. It is crude on purpose.
func stem(w string) string {
	if len(w) > 5 {
		for _, suffix := range [...]string{"ing", "ed"} {
			if h, ok := strings.CutSuffix(w, suffix); ok && len(h) >= 3 {
				return strings.TrimSuffix(h, "e")
			}
		}
	}
	if len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") {
		w = w[:len(w)-1]
	}
	if len(w) > 3 {
		w = strings.TrimSuffix(w, "e")
	}
	return w
}

// firstUpper capitalises the first letter.
func firstUpper(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}
