package dialog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// TestSecretIsNotKept checks that the bank's code, right or wrong, in digits or words,
// asked for or not, is only in its slot and in the call that takes it, that it is not said,
// and that it is gone after use.
func TestSecretIsNotKept(t *testing.T) {
	a := exampleAgent(t, "bank", false)
	begin := func() (State, Output) {
		var st State
		a.Start(&st, tuesday)
		a.Handle(&st, tuesday, Message{Text: "send twelve hundred euros to Peter Jones"})
		out := a.Handle(&st, tuesday, Message{Text: "DE89 3704 0044 0532 0130 00"})
		for _, outputs := range []map[string]any{{"left_today": 3000, "wants_code": true}, {"sent": true}} {
			out = a.Handle(&st, tuesday, ActionEnded{ID: out.Act.ID, Outputs: outputs})
		}
		return st, out
	}
	forms := []string{"424242", "four two four two", "42 42", "4 2 4 2"}
	check := func(what string, st State, out Output) {
		t.Helper()
		shown := a.Masked(st)
		kept := st.Clone()
		delete(kept.Slots, "code")
		kept.Action = nil
		for _, l := range out.Say {
			for _, f := range forms {
				if strings.Contains(strings.ToLower(l.Text), f) {
					t.Errorf("%s: the agent says %q", what, l.Text)
				}
			}
		}
		for name, s := range map[string]State{"the state to show": shown, "the state without the slot": kept} {
			data, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range forms {
				if strings.Contains(strings.ToLower(string(data)), f) {
					t.Errorf("%s: %s has %q in it: %s", what, name, f, data)
				}
			}
		}
		checkRoundTrip(t, st)
	}
	for _, said := range []string{
		"424242", "four two four two four two", "the code is 42 42 42 thank you", "it's 4 2 4 2", "well I think it says 424242 if I read that right",
		"what is it for, is 424242 the code?",
	} {
		st, out := begin()
		if e := out.Expect; e.Slot != "code" || !e.Secret {
			t.Fatalf("%+v is expected", e)
		}
		out = a.Handle(&st, tuesday, Message{Text: said})
		check(said, st, out)
		if out.Act != nil {
			if out.Act.Inputs["code"] != "424242" || !slices.Equal(out.Act.Secrets, []string{"code"}) {
				t.Errorf("%s: the call is %+v", said, out.Act)
			}
			if got := a.Masked(st).Slots["code"]; got != value.Hidden {
				t.Errorf("%s: shown as %v", said, got)
			}
			out = a.Handle(&st, tuesday, ActionEnded{ID: out.Act.ID, Outputs: map[string]any{"code_right": true, "tries_left": 2}})
			check(said+", after the call", st, out)
			if st.Slots["code"] != nil {
				t.Errorf("%s: the code is still there", said)
			}
		}
		out = a.Handle(&st, tuesday, Message{Text: "what is the security code?"})
		check(said+", asked for it", st, out)
	}
	// Given before the question, and changed.
	st, _ := begin()
	out := a.Handle(&st, tuesday, Message{Text: "actually, the security code is 424242"})
	check("volunteered", st, out)
	out = a.Repeat(&st, tuesday)
	check("repeated", st, out)
	// A message that is not an answer stays in the history.
	st, _ = begin()
	a.Handle(&st, tuesday, Message{Text: "help"})
	if last := st.Messages[len(st.Messages)-2]; last.Content != "help" {
		t.Errorf("the history has %+v", last)
	}
}

// TestSecretGoesToNoModel checks that messages are understood by their words while a secret
// is awaited, and that no prompt contains a secret.
func TestSecretGoesToNoModel(t *testing.T) {
	a, problems := Parse([]agent.File{{Name: "a.yaml", Data: []byte(`
settings: {model: {understanding: true}}
slots:
  pin: {type: digits, length: 4, secret: true, prompt: "Your PIN?"}
  topic: {type: string, prompt: "What is it about?"}
actions: {log_in: {inputs: [pin], outputs: [user]}}
flows:
  login: {description: log in, trigger: {intents: [log me in]}, steps: [{step: a, type: collect, slot: pin}, {step: t, type: collect, slot: topic}, {step: b, type: action, call: log_in}]}
`)}})
	if a == nil {
		t.Fatal(problems)
	}
	var st State
	a.Start(&st, tuesday)
	a.Handle(&st, tuesday, Message{Text: "log me in"})
	out := a.Handle(&st, tuesday, Message{Text: "hm let me see, I believe it may be 4711 or so"})
	if out.Understand != nil || st.Pending != "" {
		t.Errorf("a model was asked: %+v", out.Understand)
	}
	if st.Slots["pin"] != "4711" {
		t.Fatalf("slots %v", st.Slots)
	}
	p := UnderstandingRequest(a, &st, "what could it be about", tuesday)
	if strings.Contains(p.User, "4711") || !strings.Contains(p.User, `"pin":"•••"`) {
		t.Errorf("the prompt is %s", p.User)
	}
	if out := a.Handle(&st, tuesday, Message{Text: "hm what could it be about, let me see"}); out.Understand != nil && out.Understand.Slots["pin"] == "4711" {
		t.Errorf("the request has %v", out.Understand.Slots)
	}
}

// TestSecretInMessages checks that a message that would say a secret is an error with its
// position.
func TestSecretInMessages(t *testing.T) {
	const head = "slots:\n  pin: {type: digits, secret: true, prompt: \"PIN?\"}\nflows:\n  f:\n    trigger: {intents: [go]}\n    steps:\n      - {step: a, type: collect, slot: pin}\n"
	for line, want := range map[string]string{
		`      - {step: b, type: say, message: "It is {pin}."}`:             `a.yaml:8:39: error: step b.message: the slot "pin" is secret`,
		`      - {step: b, type: confirm, message: "{pin:spell}, right?"}`:  `a.yaml:8:43: error: step b.message: the slot "pin" is secret`,
		`      - {step: b, type: set, slots: {copy: "= pin"}}`:              `the slot "pin" is secret`,
		`      - {step: b, type: set, slots: {copy: "PIN {pin}"}}`:          `the slot "pin" is secret`,
		`      - {step: b, type: set, slots: {long: "= len(pin) > 3"}}`:     "",
		`      - {step: b, type: branch, slot: pin, cases: {"1": __end__}}`: "",
	} {
		got := problemText(head + line + "\n")
		if want == "" && strings.Contains(got, "secret") || !strings.Contains(got, want) {
			t.Errorf("%s\n got  %s\n want %s", line, got, want)
		}
	}
}

// problemText returns the problems of a file as text.
func problemText(yaml string) string {
	_, problems := Parse([]agent.File{{Name: "a.yaml", Data: []byte(yaml)}})
	return fmt.Sprint(problems)
}
