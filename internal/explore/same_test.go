package explore

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
)

// TestSameSeesEveryField checks that a difference in any field is detected, except for
// those of flows.
func TestSameSeesEveryField(t *testing.T) {
	state := func() *conv.State {
		st := &conv.State{Calls: make([]conv.Call, 1), History: make([]conv.Item, 1)}
		st.Consent.Calls = slices.Grow(st.Consent.Calls, 1)[:1]
		st.Faults.Expiries = make([]time.Time, 1)
		st.Pending.Settle = slices.Grow(st.Pending.Settle, 1)[:1]
		return st
	}
	if !same(state(), state()) {
		t.Fatal("a state is not the same as its copy")
	}
	fields := 0
	var change func(path string, of func(*conv.State) reflect.Value)
	change = func(path string, of func(*conv.State) reflect.Value) {
		st := state()
		v := of(st)
		switch {
		case !v.CanSet():
			return // not exported: such structs are compared as a whole
		case v.Type() == reflect.TypeFor[time.Time]():
			v.Set(reflect.ValueOf(time.Unix(1, 0)))
		case v.Kind() == reflect.Struct:
			for i := range v.NumField() {
				change(path+"."+v.Type().Field(i).Name, func(st *conv.State) reflect.Value { return of(st).Field(i) })
			}
			return
		case v.Kind() == reflect.Array:
			change(path+"[2]", func(st *conv.State) reflect.Value { return of(st).Index(2) })
			return
		case v.Kind() == reflect.Slice && v.Len() > 0:
			change(path+"[0]", func(st *conv.State) reflect.Value { return of(st).Index(0) })
			v.Set(reflect.Zero(v.Type()))
		case v.Kind() == reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		case v.Kind() == reflect.Map:
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(reflect.ValueOf("x"), reflect.Zero(v.Type().Elem()))
		case v.CanInt():
			v.SetInt(1)
		case v.CanUint():
			v.SetUint(1)
		case v.CanFloat():
			v.SetFloat(1)
		case v.Kind() == reflect.Bool:
			v.SetBool(true)
		case v.Kind() == reflect.String:
			v.SetString("x")
		default:
			t.Fatalf("%s is a %v: the test does not know how to change it", path, v.Type())
		}
		if path == "Pending.Follow" {
			return
		}
		fields++
		if same(state(), st) || same(st, state()) {
			t.Errorf("a state that differs in %s is the same", path)
		}
	}
	top := reflect.TypeFor[conv.State]()
	for i := range top.NumField() {
		if top.Field(i).Name != "Dialogue" {
			change(top.Field(i).Name, func(st *conv.State) reflect.Value { return reflect.ValueOf(st).Elem().Field(i) })
		}
	}
	if fields < 100 {
		t.Errorf("only %d fields were tried", fields)
	}
}
