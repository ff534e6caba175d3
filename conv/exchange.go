package conv

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"
	"unicode/utf8"
)

// MarshalEvent returns an event as a JSON object that [UnmarshalEvent] reads. It leaves out
// fields with their zero value.
func MarshalEvent(ev Event) ([]byte, error) {
	d := describe(ev)
	x := exchange{fields: fields{Type: d.name}, mode: writing}
	d.exchange(&x, ev)
	b, err := json.Marshal(&x.fields)
	if err != nil {
		return nil, fmt.Errorf("event %s: %w", d.name, err)
	}
	return b, nil
}

// exchange visits the fields of an event one after the other. The mode says whether it reads
// them from their wire form, writes them to it, checks them or hides their secrets. It keeps
// the first error.
type exchange struct {
	fields // the wire form

	mode      mode
	err       error
	hide      *mask
	texts     bool // while hiding or probing: the event has a text
	malformed bool // while checking: a text is not valid UTF-8
}

// mode says what an [exchange] does with the fields.
type mode uint8

const (
	checking mode = iota // check whether texts are valid UTF-8
	reading              // set the fields from their wire form
	writing              // set the wire form from the fields
	hiding               // hide the secrets in words
	probing              // find out whether the event has a text
)

// wired reports whether the mode is reading or writing.
func (x *exchange) wired() bool { return x.mode == reading || x.mode == writing }

// swap copies a value from the wire form or to it.
func swap[T comparable](x *exchange, wire **T, v *T) {
	if x.mode == reading {
		if *wire != nil {
			*v = **wire
		}
		return
	}
	var zero T
	if written := *v; written != zero {
		*wire = &written
	}
}

func (x *exchange) fail(format string, args ...any) {
	if x.err == nil {
		x.err = fmt.Errorf(format, args...)
	}
}

func (x *exchange) flag(wire **bool, v *bool) {
	if x.wired() {
		swap(x, wire, v)
	}
}

// text visits words that a person or an agent said or wrote. They may contain a secret.
func (x *exchange) text(wire **string, v *string) {
	if x.mode == checking { // first, because each step checks its event
		x.malformed = x.malformed || !utf8.ValidString(*v)
		return
	}
	if x.wired() {
		swap(x, wire, v)
		return
	}
	x.look(v, true)
}

// name visits an id, a name or a code. It contains no secret.
func (x *exchange) name(wire **string, v *string) {
	if x.mode == checking {
		x.malformed = x.malformed || !utf8.ValidString(*v)
		return
	}
	if x.wired() {
		swap(x, wire, v)
		return
	}
	x.look(v, false)
}

func (x *exchange) loose(wire **loose, v *string) {
	if !x.wired() {
		x.text(nil, v)
		return
	}
	value := loose(*v)
	swap(x, wire, &value)
	*v = string(value)
}

// data visits a JSON text. It may contain a secret.
func (x *exchange) data(wire **loose, v *string) {
	if x.mode == hiding {
		*v = x.hide.json(*v)
		return
	}
	x.loose(wire, v)
}

// look notes that the event has a text. While hiding it hides the secrets in words.
func (x *exchange) look(v *string, words bool) {
	x.texts = true
	if x.mode == hiding && words {
		*v = x.hide.Text(*v)
	}
}

func (x *exchange) number(name string, wire **int, v *int) {
	if x.wired() {
		x.wiredNumber(name, wire, v)
	}
}

func (x *exchange) wiredNumber(name string, wire **int, v *int) {
	swap(x, wire, v)
	if x.mode == reading && *v < 0 {
		x.fail("field %s is %d: expected 0 or more", name, *v)
	}
}

func (x *exchange) share(name string, wire **float64, v *float64) {
	if x.wired() {
		x.wiredShare(name, wire, v)
	}
}

func (x *exchange) wiredShare(name string, wire **float64, v *float64) {
	swap(x, wire, v)
	if x.mode == reading && (*v < 0 || *v > 1) {
		x.fail("field %s is %v: expected 0 to 1", name, *v)
	}
}

// span visits a duration. Its wire form is in milliseconds.
func (x *exchange) span(name string, wire **float64, v *time.Duration) {
	if x.wired() {
		x.wiredSpan(name, wire, v)
	}
}

func (x *exchange) wiredSpan(name string, wire **float64, v *time.Duration) {
	ms := milliseconds(*v)
	swap(x, wire, &ms)
	if x.mode != reading {
		return
	}
	if ms < 0 || ms > float64(math.MaxInt64)/float64(time.Millisecond)/2 {
		x.fail("field %s is %v: expected 0 or more", name, ms)
		return
	}
	*v = time.Duration(math.Round(ms * float64(time.Millisecond)))
}

// enum visits a string of a set of values. A nil allowed means that any value is valid.
func enum[T ~string](x *exchange, name string, wire **string, v *T, allowed []T) {
	value := string(*v)
	x.name(wire, &value)
	if x.mode != reading {
		return
	}
	if *v = T(value); value != "" && len(allowed) > 0 && !slices.Contains(allowed, *v) {
		x.fail("field %s is %q: expected one of %v", name, value, allowed)
	}
}

// The following methods visit the fields that several events have.

func (x *exchange) speech(turn, utterance *int) {
	x.number("turn", &x.Turn, turn)
	x.number("utterance", &x.Utterance, utterance)
}

func (x *exchange) reply(turn, request *int) {
	x.number("turn", &x.Turn, turn)
	x.number("request", &x.Request, request)
}

func (x *exchange) playout(turn, part *int) {
	x.number("turn", &x.Turn, turn)
	x.number("part", &x.Part, part)
}

func (x *exchange) heard(heard *time.Duration, text *string) {
	x.span("heard_ms", &x.HeardMS, heard)
	x.text(&x.Text, text)
}

func (x *exchange) call(id, name, arguments *string) {
	x.name(&x.ID, id)
	x.name(&x.Name, name)
	x.loose(&x.Arguments, arguments)
}

func (x *exchange) result(id, output *string) {
	x.name(&x.ID, id)
	x.loose(&x.Output, output)
}

func (x *exchange) failure(code, message *string) {
	x.name(&x.Code, code)
	x.text(&x.Message, message)
}
