package conv

import (
	"reflect"
	"testing"
)

// TestWellFormed: every text of every event is looked at.
func TestWellFormed(t *testing.T) {
	for _, kind := range EventTypes() {
		ev, err := UnmarshalEvent([]byte(`{"type":"` + kind + `"}`))
		if err != nil {
			t.Fatal(err)
		}
		if !describe(ev).wellFormed(new(exchange), ev) {
			t.Errorf("%s without texts is no UTF-8", kind)
		}
		for i := range reflect.TypeOf(ev).NumField() {
			broken := reflect.New(reflect.TypeOf(ev)).Elem()
			if broken.Field(i).Kind() != reflect.String {
				continue
			}
			broken.Field(i).SetString("caf\xc3")
			ev, ok := broken.Interface().(Event)
			if !ok || describe(ev).wellFormed(new(exchange), ev) {
				t.Errorf("%s: %s is not looked at", kind, broken.Type().Field(i).Name)
			}
		}
	}
}
