package agent

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/dialog/value"
)

// problemsOf parses one file and returns its problems, one on each line.
func problemsOf(t testing.TB, yaml string) []string {
	t.Helper()
	_, problems := Options{}.Parse([]File{{Name: "a.yaml", Data: []byte(yaml)}})
	var out []string
	for _, p := range problems {
		out = append(out, p.String())
	}
	return out
}

// TestIgnoredFieldsAreNamedOnce checks that an unknown field of all slots is one warning.
func TestIgnoredFieldsAreNamedOnce(t *testing.T) {
	_, problems := Options{}.Parse([]File{{Name: "a.yaml", Data: []byte(`
slots:
  a: {type: string, prompt: A?, persist: true}
  b: {type: string, prompt: B?, persist: true, promt: C?}
  c: {type: string, prompt: C?, persist: true, promt: C?}
flows:
  f: {trigger: {intents: [do f]}, steps: [{step: s, type: collect, slot: a, persist: true}, {step: t, type: collect, slot: b}]}
`)}})
	var got []string
	for _, p := range problems {
		got = append(got, p.String())
	}
	want := []string{
		`a.yaml:3:33: warning: slot a: unknown field "persist" is ignored, here and at 2 more`,
		`a.yaml:4:48: warning: slot b: unknown field "promt" is ignored (did you mean "prompt"?)`,
		`a.yaml:5:48: warning: slot c: unknown field "promt" is ignored (did you mean "prompt"?)`,
		`a.yaml:7:77: warning: flow f, step s (collect): unknown field "persist" is ignored`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestBuiltinFlows checks what a file must not define for a built-in flow.
func TestBuiltinFlows(t *testing.T) {
	const flow = "slots: {reason: {type: string, prompt: Why?}}\nflows:\n  f: {trigger: {intents: [do f]}, steps: [{step: s, type: say, message: hi}]}\n"
	for _, c := range []struct{ yaml, want string }{
		{`  pattern_cancel: {steps: [{step: a, type: say, message: hi}]}`, `a.yaml:4:3: error: flow "pattern_cancel": the names of built-in flows begin with pattern_, and there is none of this name (did you mean "pattern_cancel_flow"?)`},
		{`  pattern_cancel_flow: {trigger: {intents: [stop it]}, steps: [{step: a, type: say, message: hi}]}`, `a.yaml:4:3: error: flow pattern_cancel_flow: the engine begins it: triggers are not allowed`},
		{`  pattern_internal_error: {steps: [{step: a, type: collect, slot: reason}]}`, `error: flow pattern_internal_error, step a: the flow ends within its turn: a step of the type collect is not allowed`},
		{`  pattern_cancel_flow: {steps: [{step: a, type: engine, do: cancle}]}`, `error: step a.do: expected one of default, question, explanation, example, options, offer, repeat, cancel, restart, handoff, end (did you mean "cancel"?)`},
		{`  pattern_cancel_flow: {steps: [{step: a, type: say, phrase: canceled}]}`, `error: unknown phrase "canceled" (did you mean "cancelled"?)`},
		{`  g: {trigger: {intents: [do g]}, steps: [{step: a, type: call, target: pattern_cancel_flow}]}`, `error: step a: the engine begins the built-in flow pattern_cancel_flow: it is not called`},
		{`  g: {trigger: {intents: [do g]}, steps: [{step: a, type: engine, do: cancel}]}`, `error: flow g: unknown type of step "engine"`},
		{`  g: {trigger: {intents: [do g]}, steps: [{step: a, type: say, message: "{context.label}"}]}`, `error: step a.message: unknown slot "context"`},
		{`  pattern_cancel_flow: {steps: [{step: a, type: engine, do: default}, {step: b, type: say, message: "{context.flow}?"}]}`, ""},
	} {
		got := problemsOf(t, flow+c.yaml+"\n")
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
			t.Errorf("%s:\n%s\nwant one problem with\n%s", c.yaml, strings.Join(got, "\n"), c.want)
		}
	}
}

// TestRules checks the problems of rules, conditions and persisted slots.
func TestRules(t *testing.T) {
	const file = `
slots:
  a: {type: integer, prompt: A?%s}
  b: {type: string, prompt: B?}
flows:
  f:
    trigger: {intents: [do f]}
    %s
    steps: [{step: s, type: collect, slot: a%s}]
`
	for _, c := range []struct{ slot, flow, step, want string }{
		{", rejections: [{if: a > 5, message: 'No more than 5.'}]", "if: b != null", ", rejections: [{if: a > b}], ask_before_filling: true", ""},
		{"", "persisted_slots: [a]", "", ""},
		{", rejections: {if: a > 5}", "", "", `a.yaml:3:47: error: slot a.rejections is a mapping: expected a list of {if: .., message: ..}`},
		{", rejections: [{message: no}]", "", "", `error: slot a.rejections: a rule needs a condition in the field if`},
		{", rejections: [{if: 'a >'}]", "", "", `error: slot a.rejections.if: at character 4`},
		{", rejections: [{if: a > 5, utter: no}]", "", "", `warning: slot a.rejections: unknown field "utter" is ignored`},
		{"", "", ", rejections: [{if: c > 5}]", `error: step s.rejections.if: unknown slot "c"`},
		{"", "", ", ask_before_filling: perhaps", `error: step s.ask_before_filling: expected true or false`},
		{"", "if: c", "", `a.yaml:8:9: error: flow f.if: unknown slot "c"`},
		{"", "persisted_slots: [b]", "", `a.yaml:8:22: error: flow f.persisted_slots: no step of the flow sets "b"`},
		{"", "persisted_slots: [ab]", "", `error: unknown slot "ab"`},
	} {
		yaml := fmt.Sprintf(file, c.slot, c.flow, c.step)
		got := problemsOf(t, yaml)
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.Contains(got[0], c.want)) {
			t.Errorf("%s%s\nwant one problem with\n%s", yaml, strings.Join(got, "\n"), c.want)
		}
	}
}

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
`, []string{`a.yaml:12:54: error: unknown step "thre" (did you mean "three"?)`, `step "two" cannot be reached`, `step "three" cannot be reached`}},
		{"duplicate step", validHead + `
flows:
  f:
    trigger: {intents: [go]}
    steps:
      - {step: one, type: say, message: hi}
      - {step: one, type: say, message: hi}
`, []string{`a.yaml:13:16: error: flow f: step "one" is defined twice; first in line 12`}},
		{"unreachable", validHead + `
flows:
  f:
    trigger: {intents: [go]}
    steps:
      - {step: one, type: say, message: hi, jump_to: __end__}
      - {step: two, type: say, message: hi}
`, []string{`a.yaml:13:16: error: flow f: step "two" cannot be reached`}},
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
`, []string{`slot d: unknown type "dat" (did you mean "date"?)`, `unknown type of step "sai": expected one of collect, say, action, branch, confirm, set, while, call, link, handoff (did you mean "say"?)`}},
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
		{"a trigger of two flows", validHead + `
flows:
  f: {trigger: {intents: [hello there]}, steps: [{step: a, type: say, message: hi}]}
  g: {trigger: {intents: [Hello there!]}, steps: [{step: a, type: say, message: hi}]}
`, []string{`warning: flow g: trigger "Hello there!" is one of flow f too`}},
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
`, []string{`step a.evaluate: at character 8: found the end: expected a value`, `step b.evaluate: unknown slot "cont" (did you mean "count"?)`, `step c.message: {count +}: at character 8: found the end: expected a value`, `the brace is not closed`, `unknown format "loud"`}},
		{"wrong kinds", `
settings: {language: 7, retries: many}
slots: [1, {type: date}]
actions: none
flows:
  f: {steps: 3, trigger: {intents: {a: 1}}}
  g: 4
`, []string{
			`settings.retries: expected a number`, `there are no words for "7"`,
			`slot "1": expected a name`, `slots: expected a field name in each entry`, `actions is a single value: expected a mapping of names`,
			`flow f.trigger.intents is a mapping: expected a list of phrases`, `flow f: steps is a single value: expected a list of steps`,
			`flow g: expected a mapping with steps`, `flow g has no trigger phrases`,
		}},
		{"twice", `
flows:
  f: {trigger: {intents: [go]}, steps: [{step: a, type: say, message: hi}]}
  f: {trigger: {intents: [go]}, steps: [{step: a, type: say, message: hi}]}
slots:
  s: {type: date, type: time}
`, []string{`flow "f" is defined twice; first in a.yaml, line 3`, `slot s: field "type" is given twice`}},
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
			`step a: expected the name of a slot`, `step b: expected a message`, `step c: expected the name of an action`, `step d: expected cases`,
			`step e: expected slot or evaluate`, `step g: expected {name: value}`, `step h: expected a list of steps in the field do`,
			`step i: expected the name of a flow`, `expected the step's name in the field step`, `the step has no type`,
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
`, []string{`slot n: min is above max`, `slot t.min: expected a time such as 08:30`, `slot c: the type enum needs values`, `"a" stands for "a" and for "b"`, `the value "!" has no letter or digit`, `slot m.currency: expected a code of three letters`, `slot l.length: expected a number or [least, most]`}},
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
`, []string{`action a.http.method: unknown method "FETCH"`, `action a.http: expected a url`, `action a.mcp: expected a server`, `action a: expected http or mcp, not both`, `action b.http.timeout: expected a duration`}},
		{"actions of tools", `
actions:
  a: {command: "", long: perhaps}
  b: {command: x, a2a: y}
  c: {a2a: {outputs: {x: y}}, http: {url: "http://x"}}
  d: {command: x, mock: {n: 1}}
flows: {f: {trigger: {intents: [go]}, steps: [{step: a, type: action, call: a}, {step: b, type: action, call: b}, {step: c, type: action, call: c}, {step: d, type: action, call: d}]}}
`, []string{
			`action a.command: expected the name of a tool`, `action a.long: expected true or false`,
			`action b.a2a: the action is carried out by a command already`, `action c.a2a: expected the name of a tool`,
			`action c: expected one of http, mcp, command, a2a`, `action d.mock: expected one of command, mock`,
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
		{"alias", "slots: {a: {type: enum, values: *cites}, b: &cities [x]}\n", []string{`a.yaml:1:33: error: the alias *cites has no anchor before it`, `slot b is a list: expected a mapping of fields`}},
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

// TestProblemPositions checks that each problem in a directory of files names its file and
// line, in the order of the files.
func TestProblemPositions(t *testing.T) {
	_, problems := Options{}.Parse([]File{
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

// TestParseIsBounded checks that Parse refuses files beyond its limits.
func TestParseIsBounded(t *testing.T) {
	for _, c := range []struct{ name, yaml, want string }{
		{"bytes", "# " + strings.Repeat("x", maxFileSize), "bytes: expected at most"},
		{"lines", strings.Repeat("\n", maxFileLines+1), "lines: expected at most"},
		{"brackets", "a: " + strings.Repeat("[", 5000), "nested too deep"},
		{"dashes", strings.Repeat("- ", 5000) + "x", "nested too deep"},
		{"aliases", "a: &a [1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n" +
			"d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]", "the file is too large: expected at most"},
		{"circle", "a: &a {b: *a}", "the file is too large: expected at most"},
		{"flows", "flows:\n" + strings.Repeat("  f: {}\n", 2), "defined twice"},
		{"problems", "slots:\n" + strings.Repeat("  1: x\n", 3000), "expected a name"},
	} {
		got := problemsOf(t, c.yaml)
		if len(got) > maxProblems || !strings.Contains(strings.Join(got, "\n"), c.want) {
			t.Errorf("%s: %d problems, want one that says %q: %s", c.name, len(got), c.want, value.CutText(strings.Join(got, "\n"), 300))
		}
	}
}

// TestFlowsPage checks that docs/flows.md names everything that files may contain, and that
// its examples have no problems.
func TestFlowsPage(t *testing.T) {
	data, err := os.ReadFile("../../docs/flows.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	names := slices.Concat(stepTypeNames, slices.Sorted(maps.Keys(builtinValidators())), templateFormats)
	for typ := range slices.Values(value.TypeNames) {
		if value.Types[typ] == value.Type(typ) {
			names = append(names, typ)
		}
	}
	for _, fields := range stepFields {
		names = append(names, fields...)
	}
	names = append(names, slotFieldNames()...)
	for _, name := range names {
		if !regexp.MustCompile("`[^`\n]*\\b" + regexp.QuoteMeta(name) + "\\b[^`\n]*`").MatchString(page) {
			t.Errorf("docs/flows.md does not say what %q is", name)
		}
	}
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(page, -1)
	if len(blocks) < 2 {
		t.Fatalf("%d examples", len(blocks))
	}
	for i, b := range blocks {
		if _, problems := (Options{}).Parse([]File{{Name: fmt.Sprintf("example %d", i+1), Data: []byte(b[1])}}); len(problems) > 0 {
			t.Error(problems)
		}
	}
}

// slotFieldNames returns the fields of a slot that the parser knows.
func slotFieldNames() []string {
	source, err := os.ReadFile("parse_slots.go")
	if err != nil {
		return nil
	}
	_, body, _ := strings.Cut(string(source), "func (c *compiler) slotFields(")
	body, _, _ = strings.Cut(body, "\n}\n")
	var names []string
	for _, m := range regexp.MustCompile(`\n\t\t"([a-z_]+)":`).FindAllStringSubmatch(body, -1) {
		names = append(names, m[1])
	}
	return names
}

func TestTemplateErrors(t *testing.T) {
	for text, want := range map[string]string{
		"{":                       "not closed",
		"{}":                      "braces are empty",
		"{a|b}":                   "expected {name|one|many}",
		"{a:loud}":                "unknown format",
		"{a +}":                   "expected a value",
		"{{a}":                    "not closed",
		"{a} {b c}":               "expected an operator",
		"text {'x}":               "not closed",
		"{a|b|c|d}":               "expected {name|one|many}",
		"{a|one:x|few:y}":         "expected a form other",
		"{a|one:x|one:y|other:z}": "is given twice",
		"{a|=x:y|other:z}":        "expected a number after",
		"{a|one:x|two}":           "expected {name|one|many}, or {name|=0:",
	} {
		if _, err := CompileTemplate(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

const validHead = `
slots:
  origin: {type: city, prompt: "From?", values: [Boston, Denver]}
  count: {type: integer, prompt: "How many?"}
actions:
  search: {inputs: [origin], outputs: [ref]}
`

// TestVariants checks that the same turn uses the same variant, and the next turn another
// one.
func TestVariants(t *testing.T) {
	var v Variants
	for _, text := range []string{"one", "two", "three"} {
		tpl, _ := CompileTemplate(text)
		v = append(v, tpl)
	}
	got := ""
	for turn := range 4 {
		got += v.Pick(turn).text + " "
	}
	if got != "one two three one " {
		t.Errorf("got %q", got)
	}
	if Variants(nil).Pick(3) != nil {
		t.Error("a variant was chosen from none")
	}
}

// TestCataloguesAgree checks that every language has the same phrases with the same values.
func TestCataloguesAgree(t *testing.T) {
	english, err := value.Load("en")
	if err != nil {
		t.Fatal(err)
	}
	for _, tag := range value.Languages() {
		l, err := value.Load(tag)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := slices.Sorted(maps.Keys(english.Messages)), slices.Sorted(maps.Keys(l.Messages)); strings.Join(a, " ") != strings.Join(b, " ") {
			t.Errorf("%s: phrases %v, want %v", tag, b, a)
		}
		for _, key := range slices.Sorted(maps.Keys(l.Messages)) {
			for _, text := range l.Messages[key] {
				tpl, err := CompileTemplate(text)
				if err != nil {
					t.Errorf("%s %s: %v", tag, key, err)
					continue
				}
				for _, n := range tpl.Names {
					if !slices.Contains(engineNames, n) {
						t.Errorf("%s %s: the engine does not fill in {%s}", tag, key, n)
					}
				}
			}
		}
		for _, name := range append([]string{"skip", "retry", "thanks", "hello", "wait", "hangup"}, value.CommandWords[:]...) {
			if len(l.Data.Commands[name]) == 0 {
				t.Errorf("%s has no words for %s", tag, name)
			}
		}
	}
}
