package realtime

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// This file decodes JSON member by member, to distinguish absent, null and invalid
// members and to name the member in errors.

// object is a JSON object that is being decoded.
type object struct {
	path    string
	members map[string]json.RawMessage
}

// readObject splits an object into its members.
func readObject(path string, raw json.RawMessage) (object, *Error) {
	o := object{path: path}
	if err := json.Unmarshal(raw, &o.members); err != nil || o.members == nil {
		return o, wrongType(path, "an object")
	}
	return o, nil
}

// names returns the members' names in a fixed order.
func (o object) names() []string { return slices.Sorted(maps.Keys(o.members)) }

// refusals collects errors about single members that this server does not know or does
// not support, and that do not affect other members. A nil value collects nothing.
type refusals struct{ list []*Error }

// maxRefusals is the maximum number of errors that are collected.
const maxRefusals = 16

// alone collects an error about a single member and returns nil. It returns any other
// error.
func (r *refusals) alone(err *Error) *Error {
	if r == nil || err == nil || err.Code != CodeUnknown && err.Code != CodeUnsupported || len(r.list) == maxRefusals {
		return err
	}
	r.list = append(r.list, err)
	return nil
}

// eachMember calls take for the members of an object in a fixed order. It stops at the
// first error that does not concern a single member.
func (r *refusals) eachMember(path string, raw json.RawMessage, take func(name, path string, raw json.RawMessage) *Error) *Error {
	o, err := readObject(path, raw)
	if err != nil {
		return err
	}
	for _, name := range o.names() {
		if err := r.alone(take(name, o.at(name), o.members[name])); err != nil {
			return err
		}
	}
	return nil
}

// at returns the path of a member.
func (o object) at(name string) string {
	if o.path == "" {
		return name
	}
	return o.path + "." + name
}

func isNull(raw json.RawMessage) bool { return bytes.Equal(bytes.TrimSpace(raw), []byte("null")) }

// read decodes a value of the wanted kind. null becomes the zero value.
func read[T any](path string, raw json.RawMessage, want string, to *T) *Error {
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		return wrongType(path, want)
	}
	*to = v
	return nil
}

func readText(path string, raw json.RawMessage, to *string) *Error {
	return read(path, raw, "a string", to)
}

// readWord decodes one of the given words.
func readWord(path string, raw json.RawMessage, to *string, words ...string) *Error {
	var s string
	if err := readText(path, raw, &s); err != nil {
		return err
	}
	if !slices.Contains(words, s) {
		return notOneOf(path, s, words...)
	}
	*to = s
	return nil
}

// readNumber decodes a number from low to high.
func readNumber(path string, raw json.RawMessage, low, high float64, to *float64) *Error {
	var v *float64
	if err := json.Unmarshal(raw, &v); err != nil || v == nil {
		return wrongType(path, "a number")
	}
	if !(*v >= low && *v <= high) {
		return Invalid(CodeInvalidValue, path, "Invalid '%s': expected a number from %g to %g, but got %g instead.", path, low, high, *v)
	}
	*to = *v
	return nil
}

// readCount decodes an integer from low to high.
func readCount(path string, raw json.RawMessage, low, high int, to *int) *Error {
	var v *int
	if err := json.Unmarshal(raw, &v); err != nil || v == nil {
		return wrongType(path, "an integer")
	}
	if *v < low || *v > high {
		return Invalid(CodeInvalidValue, path, "Invalid '%s': expected an integer from %d to %d, but got %d instead.", path, low, high, *v)
	}
	*to = *v
	return nil
}

// readRaw stores a value without decoding it.
func readRaw(raw json.RawMessage, to *json.RawMessage) {
	if isNull(raw) {
		*to = nil
		return
	}
	*to = bytes.Clone(raw)
}
