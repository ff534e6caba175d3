package toolset

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
	"github.com/hocketvoice/hocket/porttest"
)

const counting = `{"type":"object","properties":{"n":{"type":"integer","maximum":9},"to":{"type":"object",` +
	`"properties":{"name":{"type":"string"}}}},"required":["n"]}`

const pin = `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"pin":{"pattern":"^[0-9]+$"},"to":{"anyOf":[{"format":"email"},{"const":1}]}}}`

// TestCheck checks that invalid arguments are refused with the field's name and do
// not reach the tool, and that valid ones arrive unchanged.
func TestCheck(t *testing.T) {
	tool := &porttest.Tool{Known: []port.ToolSpec{{Name: "count", Schema: []byte(counting)}, {Name: "plain"}, {Name: "pin", Schema: []byte(pin)}}}
	c, err := Check(tool)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []struct{ name, arguments, want string }{
		{"count", `{}`, "count: the arguments do not fit the tool's schema: - at '': missing property 'n'"},
		{"count", ``, "missing property 'n'"},
		{"count", `{"n":"hush"}`, "at '/n': got string, want integer"},
		{"pin", `{"pin":"hush"}`, "at '/pin': '...' does not match pattern '^[0-9]+$'"},
		{"pin", `{"to":"hush"}`, "at '/to': '...' is not valid email"},
		{"count", `{"n":10}`, "at '/n': maximum: got 10, want 9"},
		{"count", `{"n":1,"to":{"name":3}}`, "at '/to/name': got number, want string"},
		{"count", `{"n":`, "the arguments are not a JSON object"},
		{"count", `{"n":1} {}`, "the arguments are not a JSON object"},
		{"count", `[1]`, "the arguments are not a JSON object"},
		{"plain", `7`, "plain: the arguments are not a JSON object"},
		{"plain", `{"x":"` + strings.Repeat("x", maxArguments) + `"}`, "expected at most 1048576"},
	} {
		_, err := c.Call(t.Context(), port.ToolCall{Name: w.name, Arguments: w.arguments}, nil)
		f, ok := errors.AsType[*port.Failure](err)
		if !ok || f.Code != errclass.InvalidArgs || !strings.Contains(f.Message, w.want) || strings.Contains(f.Message, "hush") {
			t.Errorf("%s %.40s: %v, expected %q", w.name, w.arguments, err, w.want)
		}
	}
	if len(tool.Calls()) != 0 {
		t.Errorf("the tool was called: %v", tool.Calls())
	}
	for _, arguments := range []string{`{"n":9}`, `{"n":1,"more":true}`} {
		if out, err := c.Call(t.Context(), port.ToolCall{Name: "count", Arguments: arguments}, nil); err != nil || out != arguments {
			t.Errorf("%s: %q, error %v", arguments, out, err)
		}
	}
	porttest.TestTool(t, func(*testing.T) port.Tool { return c }, port.ToolCall{ID: "1", Name: "count", Arguments: `{"n":1}`})
}

// TestCheckChanges checks that a tool is checked with its current schema, and that
// an invalid schema is reported at the start, or fails the call.
func TestCheckChanges(t *testing.T) {
	tool := fake("x")
	c, err := Check(tool)
	if err != nil {
		t.Fatal(err)
	}
	call := port.ToolCall{Name: "x", Arguments: "{}"}
	if _, err := c.Call(t.Context(), call, nil); err != nil {
		t.Error(err)
	}
	tool.Known[0].Schema = []byte(`{"required":["q"]}`)
	if _, err := c.Call(t.Context(), call, nil); err == nil || !strings.Contains(err.Error(), "missing property 'q'") {
		t.Errorf("%v", err)
	}
	for text, want := range map[string]string{
		`{"type":`:                                 "tool x: the schema is not valid JSON",
		`{"type":"strin"}`:                         "tool x:",
		`{"$ref":"http://127.0.0.1:1/x"}`:          "references to other schemas",
		`"` + strings.Repeat("x", maxSchema) + `"`: "expected at most 262144",
	} {
		tool.Known[0].Schema = []byte(text)
		if _, err := Check(tool); err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 2*maxMistake {
			t.Errorf("%.40s: %v, expected %q", text, err, want)
		}
		_, err := c.Call(t.Context(), call, nil)
		if f, ok := errors.AsType[*port.Failure](err); !ok || f.Code != errclass.ToolError {
			t.Errorf("%.40s: %v", text, err)
		}
	}
	if n := len(tool.Calls()); n != 1 {
		t.Errorf("%d calls", n)
	}
}

// TestMistakeReachesTheModel checks that a refusal has the form of seed 001,
// section 6.
func TestMistakeReachesTheModel(t *testing.T) {
	s, err := CompileSchema([]byte(counting))
	if err != nil {
		t.Fatal(err)
	}
	c, err := conv.New(conv.Options{Endpoint: "manual"})
	if err != nil {
		t.Fatal(err)
	}
	for _, ev := range []conv.Event{
		conv.UserStart{},
		conv.SessionReady{ID: "s"},
		conv.AudioReady{},
		conv.UserText{Text: "count"},
		conv.ToolCalled{ID: "c", Name: "count", Arguments: `{}`},
		conv.ToolFailed{ID: "c", Code: errclass.InvalidArgs, Message: fmt.Sprintf("count: %v", s.Check(`{}`))},
	} {
		c.Step(noon, ev)
	}
	h := c.History()
	const want = `{"error":"Tool failed: count: the arguments do not fit the tool's schema: - at '': missing property 'n'","code":"INVALID_ARGS"}`
	if last := h[len(h)-1].Text; last != want {
		t.Errorf("the history has %s", last)
	}
}

// FuzzArguments checks that any arguments are validated or refused.
func FuzzArguments(f *testing.F) {
	s, err := CompileSchema([]byte(counting))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(`{"n":1}`)
	f.Add(`{"n":10}`)
	f.Add(`[`)
	f.Fuzz(func(t *testing.T, arguments string) {
		if err := s.Check(arguments); err != nil {
			if len(err.Error()) > 2*maxMistake {
				t.Errorf("%d bytes: %v", len(err.Error()), err)
			}
			return
		}
		var v map[string]any
		d := json.NewDecoder(strings.NewReader(arguments))
		d.UseNumber()
		err := d.Decode(&v)
		if _, ok := v["n"].(json.Number); !ok || err != nil {
			t.Errorf("%q is taken: %v, error %v", arguments, v, err)
		}
	})
}

// FuzzSchema checks that any schema is compiled or refused.
func FuzzSchema(f *testing.F) {
	f.Add(`{"type":"object"}`, `{}`)
	f.Add(`{"$ref":"http://127.0.0.1:1/x"}`, `{}`)
	f.Add(`{"$ref":"#"}`, `{"a":1}`)
	f.Fuzz(func(_ *testing.T, text, arguments string) {
		if s, err := CompileSchema([]byte(text)); err == nil {
			_ = s.Check(arguments)
		}
	})
}

// BenchmarkCheck measures the validation of a call. Goal: less than 20 us.
func BenchmarkCheck(b *testing.B) {
	c, err := Check(&porttest.Tool{Known: []port.ToolSpec{{Name: "count", Schema: []byte(counting)}}})
	if err != nil {
		b.Fatal(err)
	}
	s, err := c.schema(c.Specs()[0])
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := s.Check(`{"n":1,"to":{"name":"Ada"}}`); err != nil {
			b.Fatal(err)
		}
	}
}
