package dialog

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/dialog/value"
)

// problemsOf parses one file and prints its problems, one a line.
func problemsOf(t testing.TB, yaml string) []string {
	t.Helper()
	_, problems := Parse([]File{{Name: "a.yaml", Data: []byte(yaml)}})
	var out []string
	for _, p := range problems {
		out = append(out, p.String())
	}
	return out
}

const validHead = `
slots:
  origin: {type: city, prompt: "From?", values: [Boston, Denver]}
  count: {type: integer, prompt: "How many?"}
actions:
  search: {inputs: [origin], outputs: [ref]}
`

func TestProblems(t *testing.T) {
	for _, c := range []struct {
		name string
		yaml string
		want []string // each a part of one problem's line
	}{
		{"unknown step", validHead + `
flows:
  f:
    trigger: {intents: [go]}
    steps:
      - {step: one, type: say, message: hi, jump_to: thre}
      - {step: two, type: say, message: hi}
      - {step: three, type: say, message: hi}
`, []string{`a.yaml:12:54: error: unknown step "thre" (did you mean "three"?)`, `no way leads to step "two"`, `no way leads to step "three"`}},
		{"duplicate step", validHead + `
flows:
  f:
    trigger: {intents: [go]}
    steps:
      - {step: one, type: say, message: hi}
      - {step: one, type: say, message: hi}
`, []string{`a.yaml:13:16: error: flow f: step "one" stands twice; first in line 12`}},
		{"unreachable", validHead + `
flows:
  f:
    trigger: {intents: [go]}
    steps:
      - {step: one, type: say, message: hi, jump_to: __end__}
      - {step: two, type: say, message: hi}
`, []string{`a.yaml:13:16: error: flow f: no way leads to step "two"`}},
		{"endless loop", validHead + `
flows:
  f:
    trigger: {intents: [go]}
    steps:
      - {step: one, type: say, message: hi}
      - {step: two, type: say, message: hi, jump_to: one}
`, []string{`the loop one, two never ends and never waits for the user`}},
		{"loop that nothing ends", validHead + `
flows:
  f:
    trigger: {intents: [go]}
    steps:
      - {step: init, type: set, slots: {n: 0}}
      - {step: w, type: while, condition: "n < 3", do: [{step: s, type: say, message: hi}]}
`, []string{`the loop w, s can never wait for the user, and nothing in it changes what decides its end`}},
		{"loop that ends", validHead + `
flows:
  f:
    trigger: {intents: [go]}
    steps:
      - {step: init, type: set, slots: {n: 0}}
      - {step: w, type: while, condition: "n < 3", do: [{step: s, type: set, slots: {n: "= n + 1"}}]}
`, nil},
		{"loop that asks", validHead + `
flows:
  f:
    trigger: {intents: [go]}
    steps:
      - {step: one, type: collect, slot: origin}
      - {step: two, type: say, message: hi, jump_to: one}
`, nil},
		{"unknown slot", validHead + `
flows:
  f:
    trigger: {intents: [go]}
    steps:
      - {step: one, type: collect, slot: orign}
`, []string{`a.yaml:12:42: error: step one: unknown slot "orign" (did you mean "origin"?)`}},
		{"unknown validator", `
slots:
  d: {type: date, prompt: "When?", validator: future_date}
flows:
  f: {trigger: {intents: [go]}, steps: [{step: a, type: collect, slot: d}]}
`, []string{`a.yaml:3:47: error: unknown validator "future_date" (did you mean "future_date_only"?)`}},
		{"unknown action", validHead + `
flows:
  f:
    trigger: {intents: [go]}
    steps: [{step: one, type: action, call: serch}]
`, []string{`unknown action "serch" (did you mean "search"?)`}},
		{"unknown flow", validHead + `
flows:
  first: {trigger: {intents: [go]}, steps: [{step: one, type: call, target: secnd}]}
  second: {steps: [{step: one, type: say, message: hi}]}
`, []string{`unknown flow "secnd" (did you mean "second"?)`, `flow second has no trigger phrases`}},
		{"unknown type", `
slots: {d: {type: dat}}
flows: {f: {trigger: {intents: [go]}, steps: [{step: a, type: sai, message: hi}]}}
`, []string{`slot d: unknown type "dat" (did you mean "date"?)`, `unknown type of step "sai": want one of collect, say, action, branch, confirm, set, while, call, link, handoff (did you mean "say"?)`}},
		{"unknown fields are warnings", validHead + `
flows:
  f:
    descripton: hm
    trigger: {intents: [go]}
    steps: [{step: a, type: say, message: hi, colour: red}]
extra: 1
`, []string{`a.yaml:10:5: warning: flow f: unknown field "descripton" is ignored (did you mean "description"?)`, `warning: flow f, step a (say): unknown field "colour" is ignored`, `a.yaml:13:1: warning: agent: unknown field "extra" is ignored`}},
		{"missing trigger", validHead + `
flows:
  f: {steps: [{step: a, type: say, message: hi}]}
`, []string{`warning: flow f has no trigger phrases and no step calls it`}},
		{"unknown slot in templates and greeting", `
settings: {greeting: "Hello {nam}"}
slots: {name: {type: string, prompt: "Who?"}}
flows:
  f:
    trigger: {intents: ["I am {nme}"]}
    steps:
      - {step: a, type: collect, slot: name, message: "Who, {nobody}?"}
`, []string{`settings.greeting: unknown slot "nam" (did you mean "name"?)`, `trigger "I am {nme}": unknown slot "nme" (did you mean "name"?)`, `step a.message: unknown slot "nobody"`}},
		{"expressions", validHead + `
flows:
  f:
    trigger: {intents: [go]}
    steps:
      - {step: a, type: branch, evaluate: "count >", cases: {"true": __end__}}
      - {step: b, type: branch, evaluate: "cont > 1", cases: {"true": __end__}}
      - {step: c, type: say, message: "{count + }"}
      - {step: d, type: say, message: "{count"}
      - {step: e, type: say, message: "{count:loud}"}
`, []string{`step a.evaluate: at character 8: got the end, want a value`, `step b.evaluate: unknown slot "cont" (did you mean "count"?)`, `step c.message: {count +}: at character 8: got the end, want a value`, `the brace is not closed`, `unknown format "loud"`}},
		{"wrong kinds", `
settings: {language: 7, retries: many}
slots: [1, {type: date}]
actions: none
flows:
  f: {steps: 3, trigger: {intents: {a: 1}}}
  g: 4
`, []string{
			`settings.retries: want a number`, `there are no words for "7"`,
			`slot "1": want a name`, `slots: want a field name in each entry`, `actions: want a mapping of names, got a single value`,
			`flow f.trigger.intents: want a list of phrases, got a mapping`, `flow f: want a list of steps, got a single value`,
			`flow g: want a mapping with steps`, `flow g has no trigger phrases`,
		}},
		{"twice", `
flows:
  f: {trigger: {intents: [go]}, steps: [{step: a, type: say, message: hi}]}
  f: {trigger: {intents: [go]}, steps: [{step: a, type: say, message: hi}]}
slots:
  s: {type: date, type: time}
`, []string{`flow "f" is defined twice; first in a.yaml, line 3`, `slot s: field "type" stands twice`}},
		{"steps that lack something", validHead + `
flows:
  f:
    trigger: {intents: [go]}
    steps:
      - {step: a, type: collect}
      - {step: b, type: say}
      - {step: c, type: action}
      - {step: d, type: branch, slot: count}
      - {step: e, type: branch, cases: {a: continue}}
      - {step: g, type: set}
      - {step: h, type: while, condition: "count > 1"}
      - {step: i, type: call}
      - {type: say, message: hi}
      - {step: j}
`, []string{
			`step a: want the name of a slot`, `step b: want a message`, `step c: want the name of an action`, `step d: want cases`,
			`step e: want slot or evaluate`, `step g: want {name: value}`, `step h: want a list of steps in the field do`,
			`step i: want the name of a flow`, `want the step's name in the field step`, `the step has no type`,
		}},
		{"limits", `
slots:
  n: {type: integer, min: 5, max: 1}
  t: {type: time, min: "8 o'clock"}
  c: {type: enum}
  v: {type: enum, values: [a, {value: b, synonyms: [a]}, "!"]}
  m: {type: money, currency: euros}
  l: {type: digits, length: [4, 2]}
flows: {f: {trigger: {intents: [go]}, steps: [{step: a, type: say, message: hi}]}}
`, []string{`slot n: min is above max`, `slot t.min: want a time as 08:30`, `slot c: the type enum wants values`, `"a" stands for "a" and for "b"`, `the value "!" has no letter or digit`, `slot m.currency: want a code of three letters`, `slot l.length: want a number or [least, most]`}},
		{"the user chooses the server", `
actions:
  a: {http: {url: "http://{n}/x"}}
  b: {http: {url: "{n}"}}
  c: {http: {url: "${BASE}{n}/x"}}
  d: {http: {url: "https://key:{n}@host/"}}
  e: {http: {url: "http://host:{n}/"}}
  f: {http: {url: "${SCHEME}//{n}/"}}
  fine: {http: {url: "${BASE}/{n}"}}
  fine2: {http: {url: "http://host?x={n}"}}
flows: {f: {trigger: {intents: [go]}, steps: [{step: a, type: action, call: a}]}}
`, []string{`action a.http.url: {n} would let the user choose the server`, `action b.http.url: {n}`, `action c.http.url: {n}`, `action d.http.url: {n}`, `action e.http.url: {n}`, `action f.http.url: {n}`}},
		{"actions", `
actions:
  a: {http: {method: FETCH}, mcp: {tool: x}}
  b: {http: {url: "http://x", timeout: soon}}
flows: {f: {trigger: {intents: [go]}, steps: [{step: a, type: action, call: a}, {step: b, type: action, call: b}]}}
`, []string{`action a.http.method: unknown method "FETCH"`, `action a.http: want a url`, `action a.mcp: want a server`, `action a: want http or mcp, not both`, `action b.http.timeout: want a duration`}},
		{"actions of tools", `
actions:
  a: {command: "", long: perhaps}
  b: {command: x, a2a: y}
  c: {a2a: {outputs: {x: y}}, http: {url: "http://x"}}
  d: {command: x, mock: {n: 1}}
flows: {f: {trigger: {intents: [go]}, steps: [{step: a, type: action, call: a}, {step: b, type: action, call: b}, {step: c, type: action, call: c}, {step: d, type: action, call: d}]}}
`, []string{
			`action a.command: want the name of a tool`, `action a.long: want true or false`,
			`action b.a2a: the action is carried out by a command already`, `action c.a2a: want the name of a tool`,
			`action c: want http, mcp, command or a2a, one of them`, `action d.mock: want command or mock, one of them`,
		}},
		{"map outputs", validHead + `
flows:
  f:
    trigger: {intents: [go]}
    steps:
      - {step: a, type: action, call: search, map_outputs: {number: rf}}
      - {step: b, type: action, call: search, map_outputs: {ref: number}}
`, []string{`action search declares no output "rf" (did you mean "ref"?)`, `read as {number: ref}`}},
		{"calls itself", validHead + `
flows:
  f: {trigger: {intents: [go]}, steps: [{step: a, type: call, target: g}]}
  g: {steps: [{step: a, type: link, target: f}]}
`, []string{`flow f calls itself`, `flow g calls itself`}},
		{"syntax", "flows:\n  f: [1\n  g: 2\n", []string{`a.yaml:`}},
		{"empty", "", []string{`a.yaml: error: the agent has neither flows nor instructions`}},
		{"start", "settings: {start: bok}\nflows: {book: {steps: [{step: a, type: say, message: hi}]}}\n", []string{
			`a.yaml:1:19: error: unknown flow "bok" (did you mean "book"?)`, `flow book has no trigger phrases`,
		}},
		{"alias", "slots: {a: {type: enum, values: *cites}, b: &cities [x]}\n", []string{`a.yaml:1:33: error: the alias *cites has no anchor before it`, `slot b: want a mapping of fields, got a list`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := problemsOf(t, c.yaml)
			if len(got) != len(c.want) {
				t.Errorf("%d problems, want %d:\n%s", len(got), len(c.want), strings.Join(got, "\n"))
			}
			for _, w := range c.want {
				found := false
				for _, g := range got {
					found = found || strings.Contains(g, w)
				}
				if !found {
					t.Errorf("no problem says %q:\n%s", w, strings.Join(got, "\n"))
				}
			}
		})
	}
}

// TestProblemPositions looks at a directory of files: each problem names its
// file and line, in the order of the files.
func TestProblemPositions(t *testing.T) {
	_, problems := Parse([]File{
		{"1.yaml", []byte("slots:\n  a: {type: date}\n")},
		{"2.yaml", []byte("flows:\n  f:\n    trigger: {intents: [go]}\n    steps:\n      - {step: x, type: collect, slot: b}\n")},
		{"3.yaml", []byte("slots:\n  a: {type: date}\nflows:\n  f: {steps: []}\n")},
	})
	var got []string
	for _, p := range problems {
		got = append(got, fmt.Sprintf("%s:%d", p.File, p.Line))
	}
	if want := "2.yaml:5 3.yaml:2 3.yaml:4"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// TestDirectoryIsOneAgent spreads an agent over files.
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
	a, problems := Options{Settings: []string{"voice"}}.Parse([]File{{"a.yaml", []byte(`
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
`)}})
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

// TestCustomValidator registers a validator in Go.
func TestCustomValidator(t *testing.T) {
	yaml := []byte(`
slots: {n: {type: integer, prompt: "A number?", validator: even}}
flows: {f: {trigger: {intents: [go]}, steps: [{step: a, type: collect, slot: n}, {step: b, type: say, message: "Took {n}."}]}}
`)
	if a, _ := Parse([]File{{"a.yaml", yaml}}); a != nil {
		t.Fatal("an unknown validator was accepted")
	}
	even := func(v any, c Check) (any, error) {
		n := v.(int64)
		if n == 13 {
			panic("unlucky")
		}
		if n%2 != 0 || c.Slot != "n" {
			return nil, fmt.Errorf("%d is odd", n)
		}
		return n, nil
	}
	a, problems := Options{Validators: map[string]Validator{"even": even}}.Parse([]File{{"a.yaml", yaml}})
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
	if _, problems := (Options{Validators: map[string]Validator{"x": nil}}).Parse(nil); !HasErrors(problems) {
		t.Error("a validator without a function was accepted")
	}
}

// TestParseIsDeterministic trains twice.
func TestParseIsDeterministic(t *testing.T) {
	a, b := testAgent(t, "bank.yaml"), testAgent(t, "bank.yaml")
	for i, w := range a.intents.weights {
		if w != b.intents.weights[i] {
			t.Fatalf("weight %d is %v and %v", i, w, b.intents.weights[i])
		}
	}
	if !equalStrings(a.idlePhrases, b.idlePhrases) {
		t.Error("the grammars differ")
	}
}

func equalStrings(a, b []string) bool { return strings.Join(a, "\n") == strings.Join(b, "\n") }

// TestParseIsBounded gives Parse more than it takes.
func TestParseIsBounded(t *testing.T) {
	for _, c := range []struct{ name, yaml, want string }{
		{"bytes", "# " + strings.Repeat("x", maxFileSize), "bytes: want at most"},
		{"lines", strings.Repeat("\n", maxFileLines+1), "lines: want at most"},
		{"brackets", "a: " + strings.Repeat("[", 5000), "nested too deep"},
		{"dashes", strings.Repeat("- ", 5000) + "x", "nested too deep"},
		{"aliases", "a: &a [1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n" +
			"d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]", "too much: want at most"},
		{"circle", "a: &a {b: *a}", "too much: want at most"},
		{"flows", "flows:\n" + strings.Repeat("  f: {}\n", 2), "defined twice"},
		{"problems", "slots:\n" + strings.Repeat("  1: x\n", 3000), "want a name"},
	} {
		got := problemsOf(t, c.yaml)
		if len(got) > maxProblems || !strings.Contains(strings.Join(got, "\n"), c.want) {
			t.Errorf("%s: %d problems, want one that says %q: %s", c.name, len(got), c.want, value.CutText(strings.Join(got, "\n"), 300))
		}
	}
}

// FuzzParse feeds Parse with bytes: it never panics and never takes long. An
// agent that it accepts can hold a conversation.
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
		a, problems := Parse([]File{{Name: "fuzz.yaml", Data: data}})
		if a == nil {
			if !HasErrors(problems) {
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

// TestOutsideValidators holds what a validator that asks a service may be.
func TestOutsideValidators(t *testing.T) {
	const file = `
slots: {ref: {type: code, prompt: Which?, validator: %s}}
actions: {pay: {inputs: [ref], http: {url: x}}, check_taken: {http: {url: x}}}
flows: {f: {trigger: {intents: [pay it]}, steps: [{step: a, type: collect, slot: ref}, {step: b, type: action, call: pay}]}}
`
	for validator, want := range map[string]string{
		"{http: {url: x}}":                     "",
		"[iban, {mcp: {server: s, tool: t}}]":  "",
		"{http: {url: x}, on_error: acept}":    "want accept or error",
		"{}":                                   "want the name of a validator, or http or mcp",
		"{http: {url: x}, mcp: {server: s}}":   "want the name of a validator, or http or mcp",
		"[{http: {url: x}}, {http: {url: y}}]": "a second service is asked",
		"{http: {url: x}, inputs: [reff]}":     `unknown slot "reff"`,
		"{http: {methd: GET, url: x}}":         `unknown field "methd"`,
	} {
		a, problems := Parse([]File{{"a.yaml", fmt.Appendf(nil, file, validator)}})
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
		if !slices.ContainsFunc(problems, func(p Problem) bool { return strings.Contains(p.String(), want) }) {
			t.Errorf("%s: %v, want %q", validator, problems, want)
		}
	}
	_, problems := Parse([]File{{"a.yaml", []byte(strings.ReplaceAll(fmt.Sprintf(file, "{http: {url: x}}"), "check_taken", "check_ref"))}})
	if len(problems) != 1 || !strings.Contains(problems[0].String(), "an action is called check_ref") {
		t.Errorf("a name that is taken: %v", problems)
	}
}

// TestLongActions: what carries an action out, and whether it takes its time, is in
// the action and in the call.
func TestLongActions(t *testing.T) {
	a, problems := Parse([]File{{"a.yaml", []byte(`
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
