package rasa

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
)

var update = flag.Bool("update", false, "write the golden files anew")

// transfer returns the files of the example.
func transfer(t testing.TB) []agent.File {
	t.Helper()
	var files []agent.File
	for _, name := range []string{"domain.yml", "data/flows/flows.yml"} {
		data, err := os.ReadFile("testdata/transfer/" + name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, agent.File{Name: name, Data: data})
	}
	return files
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (-update writes it anew):\n%s", name, got)
	}
}

func TestConvert(t *testing.T) {
	out, problems := Convert(transfer(t))
	golden(t, "testdata/transfer.yaml", out)
	var list strings.Builder
	for _, p := range problems {
		list.WriteString(p.String() + "\n")
	}
	golden(t, "testdata/transfer.lost.txt", []byte(list.String()))
}

// converted returns the agent of the example.
func converted(t *testing.T, files ...agent.File) *dialog.Agent {
	t.Helper()
	out, problems := Convert(files)
	if out == nil {
		t.Fatal(problems)
	}
	a, problems := dialog.Parse([]agent.File{{Name: "converted.yaml", Data: out}})
	for _, p := range problems {
		if p.Severity == agent.SeverityError {
			t.Error(p)
		} else {
			t.Log(p)
		}
	}
	if a == nil {
		t.Fatalf("%s", out)
	}
	return a
}

// talk holds a conversation. Actions return the outputs of their names.
func talk(t *testing.T, a *dialog.Agent, outputs map[string]map[string]any, lines ...string) (said []string, calls []dialog.ActionCall) {
	t.Helper()
	var st dialog.State
	now := time.Date(2025, 12, 2, 12, 0, 0, 0, time.UTC)
	a.Start(&st, now)
	for _, line := range lines {
		now = now.Add(5 * time.Second)
		out := a.Handle(&st, now, dialog.Message{Text: line, Confidence: 1})
		words := ""
		for {
			for _, s := range out.Say {
				words += s.Text + " "
			}
			if out.Act == nil {
				break
			}
			calls = append(calls, *out.Act)
			out = a.Handle(&st, now, dialog.ActionEnded{ID: out.Act.ID, Outputs: outputs[out.Act.Name]})
		}
		t.Logf("> %s\n%s", line, words)
		said = append(said, words)
	}
	return said, calls
}

func TestConversation(t *testing.T) {
	a := converted(t, transfer(t)...)
	funds := map[string]map[string]any{"action_check_funds": {"funds_ok": true}, "action_send_money": {}}
	for _, c := range []struct {
		name    string
		outputs map[string]map[string]any
		lines   []string
		says    []string // in each answer
		calls   []string
	}{
		{
			"sends", funds,
			[]string{"I want to send money to a friend", "Peter Miller", "50", "instant", "yes"},
			[]string{"", "send to Peter Miller?", "Normal or instant?", "50 dollars for Peter Miller, instant", "on its way to Peter Miller"},
			[]string{"action_check_funds", "action_send_money"},
		},
		{
			"a no sends nothing", funds,
			[]string{"I want to send money to a friend", "Peter Miller", "50", "instant", "no"},
			[]string{"", "", "", "", "nothing was sent"},
			[]string{"action_check_funds"},
		},
		{
			"a yes with a condition sends nothing", funds,
			[]string{"I want to send money to a friend", "Peter Miller", "50", "instant", "yes, but only if it is free"},
			[]string{"", "", "", "", ""},
			[]string{"action_check_funds"},
		},
		{
			"too much is asked again",
			map[string]map[string]any{"action_check_funds": {"funds_ok": false}},
			[]string{"I want to send money to a friend", "Peter Miller", "50000", "instant"},
			[]string{"", "", "", "does not have that much"},
			[]string{"action_check_funds"},
		},
		{
			"a guard that cannot be said lets nobody in", nil,
			[]string{"I want to block a bank card", "yes"},
			[]string{"I'm afraid I can't help with that", ""},
			nil,
		},
		{
			"a guard that is false lets nobody in", nil,
			[]string{"I want to close an account", "yes"},
			[]string{"I'm afraid I can't help with that", ""},
			nil,
		},
		{
			"a rejection has its own words", nil,
			[]string{"I want to send money to a friend", "Peter Miller", "0"},
			[]string{"", "", "I can only send more than nothing. How much shall I send to Peter Miller?"},
			nil,
		},
		{
			"what is asked before it is filled is asked", nil,
			[]string{"I want to send money to a friend", "Peter Miller, instant", "yes", "50"},
			[]string{"", "Did you mean Peter Miller, instant?", "", "Normal or instant?"},
			nil,
		},
		{
			"a persisted slot is not asked for again", funds,
			[]string{"I want to send money to a friend", "Peter Miller", "50", "instant", "yes", "I want to send money to a friend"},
			[]string{"", "", "", "", "", "How much shall I send to Peter Miller?"},
			[]string{"action_check_funds", "action_send_money"},
		},
		{
			"a pattern is the built-in flow", nil,
			[]string{"I want to send money to a friend", "cancel"},
			[]string{"", "All right, nothing was sent."},
			nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			said, calls := talk(t, a, c.outputs, c.lines...)
			for i, want := range c.says {
				if !strings.Contains(said[i], want) {
					t.Errorf("%q: %q, want %q in it", c.lines[i], said[i], want)
				}
			}
			var names []string
			for _, call := range calls {
				names = append(names, call.Name)
			}
			if strings.Join(names, " ") != strings.Join(c.calls, " ") {
				t.Errorf("called %v, want %v", names, c.calls)
			}
			if c.name == "a guard that cannot be said lets nobody in" && strings.Contains(strings.Join(said, ""), "lose it") {
				t.Error("the flow began")
			}
		})
	}
}

// TestFlowsOfFlows checks that a flow calls one flow and links to another whatever their
// conditions, which apply to users only.
func TestFlowsOfFlows(t *testing.T) {
	for _, set := range []string{"true", "false"} {
		a := converted(t, agent.File{Name: "desk.yml", Data: []byte(`
slots:
  floor: {type: text}
  staff: {type: bool}
responses:
  utter_ask_floor: [{text: "Which floor?"}]
  utter_desk: [{text: "Here is your desk."}]
flows:
  reserve_desk:
    description: Reserve a desk.
    steps:
      - call: choose_floor
      - set_slots: [{staff: ` + set + `}]
      - link: show_desk
  choose_floor:
    description: Choose a floor.
    if: false
    steps:
      - collect: floor
  show_desk:
    description: Show the plan.
    if: slots.staff
    steps:
      - action: utter_desk
`)})
		said, _ := talk(t, a, nil, "I want to reserve a desk", "the third", "show the plan", "choose a floor")
		if !strings.Contains(said[0], "Which floor?") || !strings.Contains(said[1], "Here is your desk.") ||
			strings.Contains(said[2], "desk.") || strings.Contains(said[3], "Which floor?") {
			t.Errorf("staff %s: %q", set, said)
		}
	}
}

func TestCondition(t *testing.T) {
	for _, c := range []struct {
		text, want string
		ok         bool
	}{
		{"slots.sum > 100 and not slots.ok", "sum > 100 and not ok", true},
		{"slots.payee is not null", "payee != null", true},
		{"slots.payee is defined", "payee != null", true},
		{"slots.payee is undefined", "payee == null", true},
		{`slots.speed = "this is it"`, `speed == "this is it"`, true},
		{"slots.sum >= 5", "sum >= 5", true},
		{"slots.payee matches '^[A-Z]'", "", false},
		{"slots.payee contains 'x'", "", false},
		{"context.channel == 'web'", "", false},
		{"", "", false},
		{"slots.", "", false},
	} {
		if got, _, ok := condition(c.text); got != c.want || ok != c.ok {
			t.Errorf("condition(%q) = %q, %v, want %q, %v", c.text, got, ok, c.want, c.ok)
		}
	}
}

func TestConvertRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"flows: [":                   "f.yml:1",
		"slots: {a: {type: text}}\n": "no flows",
		"":                           "no flows",
	} {
		out, problems := Convert([]agent.File{{Name: "f.yml", Data: []byte(text)}})
		if out != nil || len(problems) != 1 || !strings.Contains(problems[0].String(), want) {
			t.Errorf("%q: %s, %v, want one error with %q", text, out, problems, want)
		}
	}
}

// FuzzConvert checks that any bytes give readable YAML or an error, and the same result
// twice.
func FuzzConvert(f *testing.F) {
	for _, file := range transfer(f) {
		f.Add(file.Data)
	}
	for _, s := range []string{
		"", "flows: {a: {steps: [{noop: true, next: [{if: x, then: [{noop: true}]}, {else: END}]}]}}",
		"flows: {a: {if: 'slots.b is null', steps: [{collect: b, utter: utter_x}]}}\nresponses: {utter_x: [{text: '{'}]}",
		"flows: {null: {steps: [{set_slots: [{a: =b}]}]}}", "flows: {a: 1, a: []}", "&a flows: {b: *a}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		files := []agent.File{{Name: "fuzz.yml", Data: data}}
		out, problems := Convert(files)
		if out == nil {
			if !agent.HasErrors(problems) {
				t.Fatal("neither an agent nor an error")
			}
			return
		}
		if again, _ := Convert(files); !bytes.Equal(out, again) {
			t.Fatalf("%s\nand then\n%s", out, again)
		}
		if len(out) > 256<<10 {
			return
		}
		if _, wrong := agent.ReadYAML(agent.File{Name: "out.yaml", Data: out}); len(wrong) > 0 {
			t.Fatalf("%v\n%s", wrong, out)
		}
	})
}
