package conv

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
)

// nameless are the ends of the paths in which no secret is looked for: ids, and the names
// that stand in the agent's files or in this program.
var nameless = []string{
	".ID", ".Key", ".CallID", ".Name", ".Code", ".Source", ".Cause", ".Secrets[]", "Pending.News[]", "Pending.Announcing[]", "Pending.Apology",
	".Flow", ".Step", ".Slot", ".Check", ".CurrentFlow", ".CurrentStep", ".WaitingForSlot", ".Path[]", ".Found[]", ".Recent[]", ".Given[]", ".Kept[]", ".Proposed",
	".More[]", "Asking.Resume", "Cache.Context", "Data.On", "Data.Action", "Data.Command", "Trace[].Event", "Expect.Kind", "Expect.Phrases[]", "Messages[].Role",
}

// imbue puts a text into every string of a value that may be anything, and a number into
// every value of JSON.
func imbue(x reflect.Value, text string, depth int) {
	switch x.Kind() {
	case reflect.String:
		if x.Type() == reflect.TypeFor[string]() {
			x.SetString(text)
		}
	case reflect.Struct:
		if x.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range x.NumField() {
			if x.Type().Field(i).IsExported() {
				imbue(x.Field(i), text, depth)
			}
		}
	case reflect.Slice:
		if x.Type().Elem().Kind() == reflect.Uint8 || depth > 6 {
			return
		}
		x.Set(reflect.MakeSlice(x.Type(), 1, 1))
		imbue(x.Index(0), text, depth+1)
	case reflect.Pointer:
		if depth > 6 {
			return
		}
		x.Set(reflect.New(x.Type().Elem()))
		imbue(x.Elem(), text, depth+1)
	case reflect.Map:
		x.Set(reflect.MakeMap(x.Type()))
		if x.Type().Elem().Kind() == reflect.Interface {
			x.SetMapIndex(reflect.ValueOf("one"), reflect.ValueOf(text))
			x.SetMapIndex(reflect.ValueOf("deep"), reflect.ValueOf([]any{map[string]any{"n": int64(4711)}, json.Number("4711")}))
			x.SetMapIndex(reflect.ValueOf("named"), reflect.ValueOf(map[string]any{"4711": true}))
		}
	case reflect.Interface:
		if x.Type() == reflect.TypeFor[any]() {
			x.Set(reflect.ValueOf(text))
		} else if x.Type() == reflect.TypeFor[Event]() {
			x.Set(reflect.ValueOf(TaskDone{Output: text}))
		}
	default:
	}
}

// leaks are the paths of the strings that have the secret in them yet.
func leaks(x reflect.Value, path string, out []string) []string {
	switch x.Kind() {
	case reflect.String:
		if strings.Contains(x.String(), "4711") && !slices.ContainsFunc(nameless, func(end string) bool { return strings.HasSuffix(path, end) }) {
			out = append(out, path)
		}
	case reflect.Int64:
		if x.Int() == 4711 {
			out = append(out, path)
		}
	case reflect.Struct:
		for i := range x.NumField() {
			if f := x.Type().Field(i); f.IsExported() {
				out = leaks(x.Field(i), path+"."+f.Name, out)
			}
		}
	case reflect.Slice:
		for i := range x.Len() {
			out = leaks(x.Index(i), path+"[]", out)
		}
	case reflect.Map:
		for k, v := range x.Seq2() {
			out = leaks(v, path+"{}", leaks(k, path+"{key}", out))
		}
	case reflect.Pointer, reflect.Interface:
		if !x.IsNil() {
			out = leaks(x.Elem(), path, out)
		}
	default:
	}
	return out
}

// TestMaskIsComplete: whatever events, effects and the state have for texts, none of them
// shows a secret.
func TestMaskIsComplete(t *testing.T) {
	made, problems := dialog.Parse([]agent.File{{Name: "a.yaml", Data: []byte(`
slots:
  pin: {type: digits, length: 4, secret: true, prompt: "What is your PIN?"}
flows:
  login:
    description: log in
    steps:
      - {step: a, type: collect, slot: pin}
`)}})
	if made == nil {
		t.Fatal(problems)
	}
	var k mask
	k.Learn(made, &dialog.State{Slots: map[string]any{"pin": "4711"}})
	const text = "it is 47-11, so 4711"

	for i := range descriptions {
		ev := descriptions[i].bare
		x := reflect.New(reflect.TypeOf(ev))
		imbue(x.Elem(), text, 0)
		out := k.event(x.Elem().Interface().(Event)) //nolint:forcetypeassert // it is one
		if found := leaks(reflect.ValueOf(out), EventType(ev), nil); len(found) > 0 {
			t.Errorf("the event shows the secret: %q", found)
		}
	}
	for i := range works {
		zero, err := works[i].read([]byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		x := reflect.New(reflect.TypeOf(zero))
		imbue(x.Elem(), text, 0)
		out := k.effect(x.Elem().Interface().(Effect)) //nolint:forcetypeassert // it is one
		if found := leaks(reflect.ValueOf(out), works[i].name, nil); len(found) > 0 {
			t.Errorf("the effect shows the secret: %q", found)
		}
	}
	var st State
	imbue(reflect.ValueOf(&st).Elem(), text, 0)
	st = st.clone()
	k.conceal(&st)
	if found := leaks(reflect.ValueOf(st), "state", nil); len(found) > 0 {
		t.Errorf("the state shows the secret: %q", found)
	}
}
