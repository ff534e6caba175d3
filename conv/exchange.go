package conv

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"
	"unicode/utf8"
)

// MarshalEvent writes an event as [UnmarshalEvent] reads it. Fields with their
// zero value are left out.
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

// exchange takes the fields of an event, one after the other, from the wire, to it, past
// a check, or behind a mask, and keeps the first error.
type exchange struct {
	fields

	mode      mode
	err       error
	hide      *mask
	texts     bool // there is a text; not noted while checking
	malformed bool // checking: a text is not UTF-8
}

// mode is what an [exchange] does with the fields.
type mode uint8

const (
	checking mode = iota // for texts that are malformed
	reading
	writing
	hiding  // the secrets in what somebody may have said
	probing // for texts
)

// wired reports whether the fields are exchanged with the wire.
func (x *exchange) wired() bool { return x.mode == reading || x.mode == writing }

// swap moves a value between the wire and an event.
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

// text exchanges words: what somebody said, wrote or was told, which may have a secret.
func (x *exchange) text(wire **string, v *string) {
	if x.mode == checking { // on each step
		x.malformed = x.malformed || !utf8.ValidString(*v)
		return
	}
	if x.wired() {
		swap(x, wire, v)
		return
	}
	x.look(v, true)
}

// name exchanges an id, a name or a code, which has no secret.
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

// look notes that there is a text, and hides the secrets in it if it may have one.
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

// span exchanges a duration, in milliseconds on the wire.
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

// enum exchanges a value of a set of strings; allowed is nil if all are.
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

// The fields that several events share.

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
