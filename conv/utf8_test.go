package conv

import (
	"reflect"
	"testing"
)

// malformed reports whether a text of the event is not UTF-8.
func malformed(ev Event) bool {
	var x exchange
	describe(ev).late(&x, &State{}, ev)
	return x.malformed
}

// TestWellFormed: every text of every event is looked at.
func TestWellFormed(t *testing.T) {
	for _, kind := range EventTypes() {
		ev, err := UnmarshalEvent([]byte(`{"type":"` + kind + `"}`))
		if err != nil {
			t.Fatal(err)
		}
		if malformed(ev) {
			t.Errorf("%s without texts is malformed", kind)
		}
		for i := range reflect.TypeOf(ev).NumField() {
			broken := reflect.New(reflect.TypeOf(ev)).Elem()
			if broken.Field(i).Kind() != reflect.String {
				continue
			}
			broken.Field(i).SetString("caf\xc3")
			ev, ok := broken.Interface().(Event)
			if !ok || !malformed(ev) {
				t.Errorf("%s: %s is not looked at", kind, broken.Type().Field(i).Name)
			}
		}
	}
}
