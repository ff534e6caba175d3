package value

import (
	"fmt"
)

// Type is the type of a slot's values, as files write it. A dialog.Expectation has it as
// its Kind, except for booleans and confirmations, whose Kind is "yes_no".
type Type string

// The types of slots, with the form of their values.
const (
	TypeString  Type = "string"  // the words as they were said
	TypeName    Type = "name"    // a person's name
	TypeInteger Type = "integer" // int64
	TypeNumber  Type = "number"  // int64 if whole, otherwise float64
	TypeFloat   Type = "float"   // the same as number
	TypeBoolean Type = "boolean" // bool
	TypeDate    Type = "date"    // "2025-12-12"
	TypeTime    Type = "time"    // "15:30"
	TypeDigits  Type = "digits"  // "007"
	TypeCode    Type = "code"    // letters and digits, upper case: "BK-98765"
	TypeEmail   Type = "email"   // "j.doe@example.com"
	TypePhone   Type = "phone"   // "+14155550123"
	TypeMoney   Type = "money"   // number, in the slot's currency
	TypeEnum    Type = "enum"    // one of the slot's values
	TypeCity    Type = "city"    // one of the slot's values, or any name if there are none
	TypeAddress Type = "address" // the words as they were said
	TypeAny     Type = "any"     // set by actions, never asked for
)

// Types maps the names that files may use to types.
var Types = map[string]Type{
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

// TypeNames are the names that error messages suggest.
var TypeNames = []string{
	"string", "name", "integer", "number", "float", "boolean", "date", "time", "digits", "code",
	"email", "phone", "money", "enum", "city", "address", "any", "number_sequence", "text",
}

// Spec says what values of a slot look like and which words point to them.
type Spec struct {
	Type      Type
	Secret    bool // whether values must not be said, recorded or shown
	Past      bool // whether dates are before today
	Currency  string
	Low, High *float64 // limits of numbers, or of times in minutes; nil if there is none
	Length    [2]int   // least and greatest length of digits and codes; 0 means no limit

	Values  []Choice
	Lookup  *Phrases // index into values
	entries []fuzzyEntry

	Cues        *Phrases // words before a value that point to this slot
	Mentions    *Phrases // words that name the slot
	PromptWords map[string]bool
	Trailing    *Phrases
	TypeCues    *Phrases
	nouns       *Phrases // names of slots of the type: "number"

	Words map[string]bool // words of its name and description, by meaning
	Keys  map[string]bool // words of its name only, without "is" and "has"
}

// Choice is a value of a closed list, with other names for it.
type Choice struct {
	Value    string
	Synonyms []string
}

type fuzzyEntry struct {
	text  string
	code  string
	value int
}

// Closed reports whether the slot has a list of values.
func (s *Spec) Closed() bool { return len(s.Values) > 0 }

// Free reports whether any words may be a value.
func (s *Spec) Free() bool {
	return !s.Closed() && (s.Type == TypeString || s.Type == TypeAddress || s.Type == TypeName || s.Type == TypeAny)
}

// AnyWords reports whether no grammar can describe the values.
func (s *Spec) AnyWords() bool {
	return s.Free() || !s.Closed() && (s.Type == TypeEmail || s.Type == TypeCity)
}

// Numeric reports whether a bare number may be a value.
func (s *Spec) Numeric() bool {
	return s.Type == TypeInteger || s.Type == TypeNumber || s.Type == TypeFloat || s.Type == TypeMoney
}

// Within returns an error if a value is outside the limits of the slot.
func (s *Spec) Within(value any) error {
	if s.Numeric() {
		f, ok := ToNumber(value)
		if !ok {
			return fmt.Errorf("%v is not a number", value)
		}
		if s.Low != nil && f < *s.Low {
			return fmt.Errorf("%v is below %v", value, *s.Low)
		}
		if s.High != nil && f > *s.High {
			return fmt.Errorf("%v is above %v", value, *s.High)
		}
		return nil
	}
	text, _ := value.(string)
	if s.Type == TypeTime {
		m, ok := ParseTime(text)
		if !ok {
			return fmt.Errorf("%v is not a time", value)
		}
		if s.Low != nil && float64(m) < *s.Low || s.High != nil && float64(m) > *s.High {
			return fmt.Errorf("%s is outside the hours", text)
		}
	}
	if low, high := s.Length[0], s.Length[1]; high > 0 {
		n := Length(value)
		if s.Type == TypePhone && n > 0 && text[0] == '+' {
			n--
		}
		if n < low || n > high {
			return fmt.Errorf("%d characters: expected %d to %d", n, low, high)
		}
	}
	return nil
}

// OnlyIn reports whether a number is within narrow limits of the slot that only such values
// have, as a year.
func (s *Spec) OnlyIn(v any) bool {
	f, ok := ToNumber(v)
	return ok && s.Low != nil && s.High != nil && *s.Low >= 100 && f >= *s.Low && f <= *s.High
}
