package dialog

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/dialog/agent"
)

// TestDirectoryIsOneAgent compiles an agent in several files.
func TestDirectoryIsOneAgent(t *testing.T) {
	a := testAgent(t, "soni/00-settings.yaml", "soni/10-slots.yaml", "soni/20-flows.yaml")
	if n := len(a.Flows()); n != 3 {
		t.Errorf("%d flows, want 3", n)
	}
	if act, ok := a.Action("get_balance"); !ok || len(act.Inputs) != 1 || act.Outputs[0] != "balance" {
		t.Errorf("get_balance is %+v", act)
	}
	if _, ok := a.Settings().Other["persistence"]; !ok {
		t.Error("settings.persistence is lost")
	}
}

func TestSettings(t *testing.T) {
	a, problems := New(agent.Options{Settings: []string{"voice"}}.Parse([]agent.File{{Name: "a.yaml", Data: []byte(`
version: 1.0
instructions: Be kind.
settings:
  language: de-AT
  turn: {policy: easyturn, silence: 500ms, threshold: 0.4, semantic: true, mode: fast}
  barge_in: hybrid
  model: {name: m, understanding: true, temperature: 0.5}
  voice: slt
  handoff: no
  retries: 5
  history_limit: 7
flows: {f: {trigger: {intents: [los]}, steps: [{step: a, type: say, message: hi}]}}
`)}}))
	if a == nil || len(problems) > 0 {
		t.Fatal(problems)
	}
	s := a.Settings()
	turn, _ := s.Other["turn"].(map[string]any)
	if s.Language != "de" || turn["policy"] != "easyturn" || turn["threshold"] != 0.4 || s.Other["barge_in"] != "hybrid" {
		t.Errorf("settings %+v", s)
	}
	if !s.Model.Understanding || !s.Model.Answers || s.Model.Name != "m" || s.Model.Other["temperature"] != 0.5 {
		t.Errorf("model %+v: want understanding, and answers because there are instructions", s.Model)
	}
	if s.Other["voice"] != "slt" || s.Handoff || s.Retries != 5 || s.HistoryLimit != 7 || a.Instructions() != "Be kind." {
		t.Errorf("settings %+v", s)
	}
}

// TestAgentDescription checks that the description is that of the first file that has one, and not
// what a model is told.
func TestAgentDescription(t *testing.T) {
	a, problems := Parse([]agent.File{
		{Name: "a.yaml", Data: []byte("instructions: Be kind.\n")},
		{Name: "b.yaml", Data: []byte("description: |\n  Books flights.\n")},
		{Name: "c.yaml", Data: []byte("description: Something else.\n")},
	})
	if a == nil || len(problems) > 0 {
		t.Fatal(problems)
	}
	if a.Description() != "Books flights." || a.Instructions() != "Be kind." {
		t.Errorf("description %q, instructions %q", a.Description(), a.Instructions())
	}
}

// TestCustomValidator uses a validator written in Go.
func TestCustomValidator(t *testing.T) {
	yaml := []byte(`
slots: {n: {type: integer, prompt: "A number?", validator: even}}
flows: {f: {trigger: {intents: [go]}, steps: [{step: a, type: collect, slot: n}, {step: b, type: say, message: "Took {n}."}]}}
`)
	if a, _ := Parse([]agent.File{{Name: "a.yaml", Data: yaml}}); a != nil {
		t.Fatal("an unknown validator was accepted")
	}
	even := func(v any, c agent.Check) (any, error) {
		n := v.(int64)
		if n == 13 {
			panic("unlucky")
		}
		if n%2 != 0 || c.Slot != "n" {
			return nil, fmt.Errorf("%d is odd", n)
		}
		return n, nil
	}
	a, problems := New(agent.Options{Validators: map[string]agent.Validator{"even": even}}.Parse([]agent.File{{Name: "a.yaml", Data: yaml}}))
	if a == nil {
		t.Fatal(problems)
	}
	var st State
	a.Start(&st, tuesday)
	a.Handle(&st, tuesday, Message{Text: "go"})
	a.Handle(&st, tuesday, Message{Text: "three"})
	if st.ConversationState != WaitingForSlot || st.Slots["n"] != nil {
		t.Errorf("after an odd number: %s %v", st.ConversationState, st.Slots)
	}
	out := a.Handle(&st, tuesday, Message{Text: "thirteen"})
	if e, _ := st.Metadata["error"].(map[string]any); st.ConversationState != Error || e["recovery_state"] != "validating_slot" || e["type"] != "ValidatorError" {
		t.Errorf("after a panic: %s %v %+v", st.ConversationState, st.Metadata, out)
	}
	a.Handle(&st, tuesday, Message{Text: "try again"})
	if out := a.Handle(&st, tuesday, Message{Text: "four"}); joinLines(out.Say) != "Took 4." {
		t.Errorf("after an even number: %+v %+v", out.Say, st)
	}
	if _, problems := (agent.Options{Validators: map[string]agent.Validator{"x": nil}}).Parse(nil); !agent.HasErrors(problems) {
		t.Error("a validator without a function was accepted")
	}
}

// TestParseIsDeterministic compiles the same files twice.
func TestParseIsDeterministic(t *testing.T) {
	a, b := testAgent(t, "bank.yaml"), testAgent(t, "bank.yaml")
	if !equalStrings(a.expects.idle, b.expects.idle) {
		t.Error("the grammars differ")
	}
}

func equalStrings(a, b []string) bool { return strings.Join(a, "\n") == strings.Join(b, "\n") }

// FuzzParse checks that Parse never panics and is never slow, and that an agent that it
// accepts can hold a conversation.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/*.yaml", "testdata/soni/*.yaml", "../examples/*/*.yaml"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			if data, err := os.ReadFile(file); err == nil {
				f.Add(data)
			}
		}
	}
	for _, s := range []string{
		"", "[", "a: &a [*a]", "a: &a {b: *a}\nflows: *a", "{a: {b: {c: [[[[[[[[[[", "- - - - - -", "? ? ?", "!!binary x", "flows: {f: {steps: [{step: a, type: while, condition: 'a', do: [a]}]}}",
		"slots: {a: {type: enum, values: [1, 2.5, true, null, ~]}}", "%YAML 1.2\n---\nflows: {}", "<<: [1]", "a: |\n  b", "\xff\xfe", "a: \"\\ud800\"", "flows:\n\t- x", "x: *", "&", "a:\n- b\n c",
		"flows: {f: {trigger: {intents: ['{a} {a} {b']}, steps: [{step: a, type: say, message: '{a|b|c} {d:raw} {{e}}'}]}}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		a, problems := Parse([]agent.File{{Name: "fuzz.yaml", Data: data}})
		if a == nil {
			if !agent.HasErrors(problems) {
				t.Fatal("neither an agent nor an error")
			}
			return
		}
		var st State
		a.Start(&st, tuesday)
		for _, text := range []string{"go", "yes", "7", "cancel"} {
			if o := a.Handle(&st, tuesday, Message{Text: text}); o.Act != nil {
				a.Handle(&st, tuesday, ActionEnded{ID: o.Act.ID})
			}
		}
		checkRoundTrip(t, st)
	})
}

// TestOutsideValidators checks which validators may call a service.
func TestOutsideValidators(t *testing.T) {
	const file = `
slots: {ref: {type: code, prompt: Which?, validator: %s}}
actions: {pay: {inputs: [ref], http: {url: x}}, check_taken: {http: {url: x}}}
flows: {f: {trigger: {intents: [pay it]}, steps: [{step: a, type: collect, slot: ref}, {step: b, type: action, call: pay}]}}
`
	for validator, want := range map[string]string{
		"{http: {url: x}}":                     "",
		"[iban, {mcp: {server: s, tool: t}}]":  "",
		"{http: {url: x}, on_error: acept}":    "expected accept or error",
		"{}":                                   "expected one of the name of a validator, http, mcp",
		"{http: {url: x}, mcp: {server: s}}":   "expected one of the name of a validator, http, mcp",
		"[{http: {url: x}}, {http: {url: y}}]": "expected at most one service",
		"{http: {url: x}, inputs: [reff]}":     `unknown slot "reff"`,
		"{http: {methd: GET, url: x}}":         `unknown field "methd"`,
	} {
		a, problems := Parse([]agent.File{{Name: "a.yaml", Data: fmt.Appendf(nil, file, validator)}})
		if want == "" {
			if len(problems) > 0 {
				t.Errorf("%s: %v", validator, problems)
				continue
			}
			if act, ok := a.Action("check_ref"); !ok || act.Checks != "ref" || !act.Idempotent {
				t.Errorf("%s: %+v", validator, act)
			}
			continue
		}
		if !slices.ContainsFunc(problems, func(p agent.Problem) bool { return strings.Contains(p.String(), want) }) {
			t.Errorf("%s: %v, want %q", validator, problems, want)
		}
	}
	_, problems := Parse([]agent.File{{Name: "a.yaml", Data: []byte(strings.ReplaceAll(fmt.Sprintf(file, "{http: {url: x}}"), "check_taken", "check_ref"))}})
	if len(problems) != 1 || !strings.Contains(problems[0].String(), "the action name check_ref is reserved") {
		t.Errorf("a name that is taken: %v", problems)
	}
}

// TestLongActions checks that an action and its call say how it is run and whether it takes
// long.
func TestLongActions(t *testing.T) {
	a, problems := Parse([]agent.File{{Name: "a.yaml", Data: []byte(`
slots: {topic: {type: any}}
actions:
  ask: {inputs: [topic], command: {name: researcher, outputs: {answer: summary.text}}}
  look: {command: find, long: false}
  talk: {a2a: planner}
  load: {http: {url: "http://x"}, long: true}
  read: {http: {url: "http://x"}}
flows:
  f:
    trigger: {intents: [go]}
    steps:
      - {step: a, type: action, call: ask}
      - {step: b, type: action, call: look}
      - {step: c, type: action, call: talk}
      - {step: d, type: action, call: load}
      - {step: e, type: action, call: read}
`)}})
	if a == nil || len(problems) > 0 {
		t.Fatal(problems)
	}
	act, _ := a.Action("ask")
	if act.Tool == nil || act.Tool.Kind != "command" || act.Tool.Name != "researcher" || act.Tool.Outputs["answer"] != "summary.text" || !slices.Equal(act.Outputs, []string{"answer"}) {
		t.Errorf("%+v", act)
	}
	var st State
	a.Start(&st, tuesday)
	out := a.Handle(&st, tuesday, Message{Text: "go", Confidence: 1})
	long := map[string]bool{}
	for out.Act != nil {
		long[out.Act.Name] = out.Act.Long
		out = a.Handle(&st, tuesday, ActionEnded{ID: out.Act.ID})
	}
	if want := map[string]bool{"ask": true, "look": false, "talk": true, "load": true, "read": false}; !maps.Equal(long, want) {
		t.Errorf("%v, expected %v", long, want)
	}
}
