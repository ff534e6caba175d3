package transfer

import (
	"errors"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

func target(change func(*Target)) Options {
	t := Target{Name: "desk", To: "+15550100200"}
	change(&t)
	return Options{Targets: []Target{t}}
}

// TestOptions checks that invalid targets are refused, with a reason.
func TestOptions(t *testing.T) {
	for want, change := range map[string]func(*Target){
		"the name is":                    func(t *Target) { t.Name = "the desk" },
		"to is empty":                    func(t *Target) { t.To = "" },
		"must not both be set":           func(t *Target) { t.Allow = []string{"+49*"} },
		"to is not a number":             func(t *Target) { t.To = "hello" },
		"from is not a number":           func(t *Target) { t.From = "me" },
		"expected the beginning":         func(t *Target) { t.To, t.Allow = "", []string{"*"} },
		"ring is 2h0m0s":                 func(t *Target) { t.Ring = 7200e9 },
		"two targets have the name desk": nil,
	} {
		o := target(func(*Target) {})
		if change != nil {
			o = target(change)
		} else {
			o.Targets = append(o.Targets, o.Targets[0])
		}
		if _, err := New(o); err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), `"`, ""), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
}

// TestCall checks what a call is refused for before anybody is called, and that no error has a
// number.
func TestCall(t *testing.T) {
	tools, err := New(Options{Targets: []Target{{Name: "desk", To: "+15550100200"}, {Name: "branch", Allow: []string{"+4930*", "+15550100300"}, Confirm: true}}})
	if err != nil {
		t.Fatal(err)
	}
	specs := tools.Specs()
	if len(specs) != 2 || !specs[0].Announced || !specs[0].Irreversible || specs[0].Long || specs[0].Confirm || !specs[1].Confirm {
		t.Errorf("the tools are %+v", specs)
	}
	for _, tc := range []struct{ name, arguments, code, want string }{
		{"desk", `{}`, errclass.ToolError, "no telephone call"},
		{"nobody", `{}`, errclass.ToolError, "there is no target"},
		{"branch", `{"to":"+49 30 123456"}`, errclass.ToolError, "no telephone call"},
		{"branch", `{"to":"+15550100300"}`, errclass.ToolError, "no telephone call"},
		{"branch", `{"to":"+15550100301"}`, errclass.InvalidArgs, "not on the list"},
		{"branch", `{"to":"110"}`, errclass.InvalidArgs, "emergency"},
		{"branch", `{"to":7}`, errclass.InvalidArgs, "is not a number"},
		{"branch", `{}`, errclass.InvalidArgs, "is not a number"},
	} {
		_, err := tools.Call(t.Context(), port.ToolCall{Name: tc.name, Arguments: tc.arguments}, nil)
		f, ok := errors.AsType[*port.Failure](err)
		if !ok || f.Code != tc.code || !strings.Contains(f.Message, tc.want) || strings.Contains(f.Message, "555010030") || strings.Contains(f.Message, "123456") {
			t.Errorf("%s(%s): %v, expected %s %q", tc.name, tc.arguments, err, tc.code, tc.want)
		}
	}
}
