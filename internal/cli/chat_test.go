package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/dialog"
)

const flights = "../../examples/flights"

// TestChatJSON checks the lines for the greeting and for each turn: they contain the
// state of the dialogue with the slots filled so far, and show that the understanding
// was asked only when necessary.
func TestChatJSON(t *testing.T) {
	in := "I want to book a flight\n\nfrom Boston\nto Denver\nactually, change the origin to Chicago\nnext friday\nyes\n"
	out := output(t, in, "chat", "--agent", flights, "--json", "--today", "2026-11-20")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	want := []struct {
		state dialog.ConversationState
		slot  string
		slots string
	}{
		{dialog.Idle, "", `{}`},
		{dialog.WaitingForSlot, "origin", `{}`},
		{dialog.WaitingForSlot, "destination", `{"origin":"Boston"}`},
		{dialog.WaitingForSlot, "departure_date", `{"destination":"Denver","origin":"Boston"}`},
		{dialog.WaitingForSlot, "departure_date", `{"destination":"Denver","origin":"Chicago"}`},
		{dialog.Confirming, "", `{"departure_date":"2026-11-27","destination":"Denver","origin":"Chicago"}`},
		{dialog.Completed, "", `{"booking_ref":"BK-40001","departure_date":"2026-11-27","destination":"Denver","origin":"Chicago"}`},
	}
	if len(lines) != len(want) {
		t.Fatalf("%d lines, expected %d:\n%s", len(lines), len(want), out)
	}
	var last dialog.State
	for i, w := range want {
		last = dialog.State{}
		if err := json.Unmarshal([]byte(lines[i]), &last); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"flights_found", "flight_number", "departure_time", "price"} { // the names of the airline's slots
			delete(last.Slots, name)
		}
		slots, err := json.Marshal(last.Slots)
		if err != nil {
			t.Fatal(err)
		}
		if string(slots) == "null" {
			slots = []byte("{}")
		}
		if last.ConversationState != w.state || last.WaitingForSlot != w.slot || string(slots) != w.slots {
			t.Errorf("line %d: %s, waits for %q, slots %s; expected %s, %q, %s", i+1,
				last.ConversationState, last.WaitingForSlot, slots, w.state, w.slot, w.slots)
		}
	}
	if last.NLUCalls > 2 {
		t.Errorf("%d calls of the understanding, expected at most 2: the intent and the correction", last.NLUCalls)
	}
	if again := output(t, in, "chat", "--agent", flights, "--json", "--today", "2026-11-20"); again != out {
		t.Error("the same lines gave another conversation")
	}
}

// TestChatText checks that the agent's answer to each turn is one line.
func TestChatText(t *testing.T) {
	out := output(t, "book a flight from Boston to Denver\nwhat do you mean?\n", "chat", "--agent", flights)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "Welcome") || !strings.HasSuffix(lines[1], "?") {
		t.Errorf("%q", lines)
	}
}

// TestChatBadInput checks that bad input is reported with one line and its exit status.
func TestChatBadInput(t *testing.T) {
	for name, c := range map[string]struct {
		args  []string
		stdin string
		want  string
	}{
		"no agent":  {[]string{"chat"}, "", "--agent"},
		"nothing":   {[]string{"chat", "--agent", "absent.yaml"}, "", "absent.yaml"},
		"a date":    {[]string{"chat", "--agent", flights, "--today", "soon"}, "", "expected a date such as"},
		"too long":  {[]string{"chat", "--agent", flights}, strings.Repeat("x", longestLine+1), "the line is too long: at most 65536 bytes"},
		"the agent": {[]string{"chat", "--agent", write(t, "bad.yaml", "version: \"1.0\"\nflows: 7\n")}, "", "bad.yaml:2"},
		"secrets": {[]string{"chat", "--agent", write(t, "act.yaml", `version: "1.0"
actions: {a: {http: {url: "${HOCKET_TEST_ABSENT}/x"}}}
flows: {f: {description: d, trigger: {intents: [go]}, steps: [{step: s, type: action, call: a}]}}
`)}, "", "the environment variable HOCKET_TEST_ABSENT is not set"},
	} {
		t.Run(name, func(t *testing.T) {
			_, stderr, status := run(t, c.stdin, c.args...)
			if status != statusInput || !strings.Contains(stderr, c.want) {
				t.Errorf("exit status %d: %s\nexpected 2 and %q", status, stderr, c.want)
			}
		})
	}
}
