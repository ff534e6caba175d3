package conv

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/dialog"
)

// wordless are the fields of a state that hold no words of anybody's: ids, names of
// tools, codes and modes.
var wordless = []string{
	"Reply.Kind", "Reply.Why", "Calls.ID", "Calls.Key", "Calls.Name", "Calls.Secrets", "Calls.State",
	"Session.ID", "Rules.BargeIn", "Conn.Unanswered.Fate", "Faults.Code", "Pending.News", "Pending.Announcing", "Pending.Apology",
	"Pending.Settle.ID", "Pending.Settle.Key", "Suspended.Source", "Barge.Heard.Kind", "Expect.Slot", "Expect.Kind",
}

// TestPrivacyLeavesNoField fills every string of a state, and holds those that a
// snapshot without words still has against the list of what holds none: a new field
// is decided about, or the test fails.
func TestPrivacyLeavesNoField(t *testing.T) {
	var st State
	fill(reflect.ValueOf(&st).Elem(), "")
	st.Phase, st.Before = Understanding, Understanding
	c, err := New(Options{Privacy: PrivacyNone})
	if err != nil {
		t.Fatal(err)
	}
	c.st = st
	c.st.Dialogue, c.st.Suspended.Facts = dialog.State{}, nil // each is dropped as a whole
	b, err := c.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, m := range regexp.MustCompile(`«([^»]*)»`).FindAllStringSubmatch(string(b), -1) {
		if path := m[1]; !slices.Contains(left, path) {
			left = append(left, path)
		}
	}
	for _, path := range left {
		if !slices.ContainsFunc(wordless, func(known string) bool { return path == known || strings.HasPrefix(path, known+".") }) {
			t.Errorf("a snapshot without words has the field %s", path)
		}
	}
	if len(left) < 5 {
		t.Errorf("only %v were found: the state was not filled", left)
	}
}

// fill gives every string that can be set a text that names its place.
func fill(v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("«" + path + "»")
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 || v.Type().Elem().Kind() == reflect.Interface {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), path)
	case reflect.Map:
		if v.Type() == reflect.TypeFor[map[string]json.RawMessage]() {
			v.Set(reflect.ValueOf(map[string]json.RawMessage{"«" + path + "»": json.RawMessage(`"«` + path + `»"`)}))
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() || v.Type() == reflect.TypeFor[dialog.State]() || v.Type() == reflect.TypeFor[json.RawMessage]() {
			return
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if !f.IsExported() {
				continue
			}
			name := f.Name
			if path != "" {
				name = fmt.Sprintf("%s.%s", path, f.Name)
			}
			fill(v.Field(i), name)
		}
	default:
		// Numbers, flags and interfaces hold no words here.
	}
}
