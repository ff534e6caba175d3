package dialog

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/hocketvoice/hocket/dialog/value"
)

// slot is a compiled slot.
type slot struct {
	value.Spec
	name        string
	label       string // as people say it: "departure date"
	description string
	kind        string // for Expectation.Kind
	required    bool
	def         any
	prompt      variants
	invalid     variants
	help        variants
	validators  []namedValidator
	check       *outsideCheck // nil: nobody outside is asked

	names   []string // that people use, for the grammar
	phrases []string // grammar of what may be answered
}

// form is what the slot's values look like; nil for no slot.
func (s *slot) form() *value.Spec {
	if s == nil {
		return nil
	}
	return &s.Spec
}

// takesYesNo reports whether a yes or a no may be a value of free text.
func (s *slot) takesYesNo() bool {
	return slices.ContainsFunc(s.validators, func(v namedValidator) bool { return v.name == "yes_no" })
}

// firstUpper capitalises the first letter.
func firstUpper(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}
