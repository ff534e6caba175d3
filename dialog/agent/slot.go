package agent

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/hocketvoice/hocket/dialog/value"
)

// Slot is a compiled slot.
type Slot struct {
	value.Spec
	Name        string
	Label       string // as people say it: "departure date"
	Description string
	Kind        string // the Kind of an Expectation
	Required    bool
	Default     any
	Prompt      Variants
	Invalid     Variants
	Help        Variants
	Validators  []NamedValidator
	Differs     []string      // slots that must have another value
	Check       *outsideCheck // check by an external service, or nil
	Rejections  []Rejection

	Names []string // what people call the slot, for the grammar

	// YesNo has the texts that stand for a yes and a no, by [value.Answer], if a flow
	// compares the slot, which has free text, with one of them.
	YesNo [3]string
}

// Rejection is a rule that rejects values.
type Rejection struct {
	If      *expr // rejects the value if true with the value in its slot
	Message Variants
}

// Form returns the form of the slot's values, or nil if s is nil.
func (s *Slot) Form() *value.Spec {
	if s == nil {
		return nil
	}
	return &s.Spec
}

// TakesYesNo reports whether a yes or a no may be a value of the slot, which has free text.
func (s *Slot) TakesYesNo() bool {
	return s.YesNo != [3]string{} || slices.ContainsFunc(s.Validators, func(v NamedValidator) bool { return v.Name == "yes_no" })
}

// FirstUpper capitalizes the first letter.
func FirstUpper(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}
