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
	Kind        string // for Expectation.Kind
	Required    bool
	Default     any
	Prompt      Variants
	Invalid     Variants
	Help        Variants
	Validators  []NamedValidator
	Differs     []string      // slots that have another value
	Check       *outsideCheck // nil: nobody outside is asked
	Rejections  []Rejection

	Names []string // that people use, for the grammar

	// YesNo are the values of free text that stand for a yes and a no, by
	// [value.Answer], where a flow compares the slot with one of them.
	YesNo [3]string
}

// Rejection is a rule that turns a value down.
type Rejection struct {
	If      *expr // true with the value in its slot: the value is not taken
	Message Variants
}

// Form is what the slot's values look like; nil for no slot.
func (s *Slot) Form() *value.Spec {
	if s == nil {
		return nil
	}
	return &s.Spec
}

// TakesYesNo reports whether a yes or a no may be a value of free text.
func (s *Slot) TakesYesNo() bool {
	return s.YesNo != [3]string{} || slices.ContainsFunc(s.Validators, func(v NamedValidator) bool { return v.Name == "yes_no" })
}

// FirstUpper capitalises the first letter.
func FirstUpper(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}
