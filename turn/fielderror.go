package turn

import (
	"errors"
	"fmt"
	"strings"
)

// FieldError reports an invalid field of an options struct. Package conv uses it too. A
// program can use it to report the problem with the names of its own configuration.
type FieldError struct {
	Field string   // path in the options struct, such as "MaxSilence" or "Steps[1].After"
	Value any      // the field's value, or its default if the field is zero
	Want  string   // what was expected, such as "more than 0"; empty with OneOf
	OneOf []string // the valid values, if there is a list of them

	Other      string // the field that Want refers to ("at most" Other), empty if none
	OtherValue any    // its value; nil if it does not matter
}

// Error returns "FIELD is VALUE: expected WANT".
func (e *FieldError) Error() string { return e.Field + " " + e.Problem(e.Other) }

// Problem returns the error without the field's name, "is VALUE: expected WANT". It refers
// to the field Other by the name other.
func (e *FieldError) Problem(other string) string {
	want := e.Want
	if len(e.OneOf) > 0 {
		want = "one of " + strings.Join(e.OneOf, ", ")
	}
	if e.Other != "" {
		want += " " + other
	}
	if e.OtherValue != nil {
		want += fmt.Sprintf(", %v", e.OtherValue)
	}
	value := fmt.Sprint(e.Value)
	if text, ok := e.Value.(string); ok {
		value = fmt.Sprintf("%q", text)
	}
	return "is " + value + ": expected " + want
}

// InField returns err with the name of the enclosing field prepended to the paths of its
// field errors. It handles errors joined with [errors.Join]. If err is nil, it returns nil.
func InField(name string, err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, err := range joined.Unwrap() {
			all = append(all, InField(name, err))
		}
		return errors.Join(all...)
	}
	field, ok := errors.AsType[*FieldError](err)
	if !ok {
		return err
	}
	in := *field
	in.Field = name + "." + field.Field
	if in.Other != "" {
		in.Other = name + "." + field.Other
	}
	return &in
}
