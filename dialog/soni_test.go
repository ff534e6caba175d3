package dialog

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/dialog/agent"
)

// soniFiles are agents in the form in which Soni's are published, one in each file.
var soniFiles = []string{"soni/flight_booking.yaml", "soni/support.yaml", "soni/older.yaml"}

// TestSoniFiles checks that published files load unchanged. What has no effect is a warning
// with its position, and nothing is an error.
func TestSoniFiles(t *testing.T) {
	want := map[string][]string{
		"soni/flight_booking.yaml": {
			"6:3: warning: settings.models has no effect here", "9:3: warning: settings.persistence", "12:3: warning: settings.logging",
			`33:16: warning: validator "positive_integer" is not declared`,
		},
		"soni/support.yaml": {
			"6:3: warning: settings.llm", "7:3: warning: settings.persistence", `26:20: warning: validator "order_number_format" is not declared`,
		},
		"soni/older.yaml": {
			"7:3: warning: settings.models", `8:3: warning: settings: unknown field "security" is ignored`,
			`14:3: warning: messages: unknown field "farewell_note" is ignored`, `21:5: warning: flow find_room: unknown field "priority" is ignored`,
			`23:45: warning: step people: slot "people_count" is not defined and taken as text`,
			`26:15: warning: action "find_room_for" is not declared`, `28:9: warning: flow find_room, step room (action): unknown field "timeout" is ignored`,
		},
	}
	for _, name := range soniFiles {
		a, problems := Parse(testFiles(t, name))
		if a == nil || len(problems) != len(want[name]) {
			t.Errorf("%s: %d problems, want %d: %v", name, len(problems), len(want[name]), problems)
			continue
		}
		for i, p := range problems {
			if !strings.HasPrefix(p.String(), name+":"+want[name][i]) {
				t.Errorf("got  %s\nwant %s:%s", p, name, want[name][i])
			}
		}
	}
}

// TestSoniMistakes makes one mistake at a time in a published file and expects an error
// with its position and a suggestion.
func TestSoniMistakes(t *testing.T) {
	for _, c := range []struct{ file, right, wrong, want string }{
		{"soni/flight_booking.yaml", "slot: departure_date}", "slot: departure_dat}", `unknown slot "departure_dat" (did you mean "departure_date"?)`},
		{"soni/flight_booking.yaml", "exit_to: confirm_booking", "exit_to: confirm_bookings", `unknown step "confirm_bookings" (did you mean "confirm_booking"?)`},
		{"soni/flight_booking.yaml", "on_deny: not_booked", "on_deny: not_boked", `unknown step "not_boked" (did you mean "not_booked"?)`},
		{"soni/flight_booking.yaml", "ask_date, type: collect", "ask_date, type: colect", `unknown type of step "colect"`},
		{"soni/flight_booking.yaml", `condition: "has_more == 'yes' AND cheaper"`, `condition: "has_more == 'yes AND cheaper"`, "step offers.condition"},
		{"soni/flight_booking.yaml", "type: number", "type: nummber", `slot passengers: unknown type "nummber" (did you mean "number"?)`},
		{"soni/flight_booking.yaml", "{step: begin, type: set, slots: {cheaper: true}}", "{step: begin, type: set}", "step begin: expected {name: value} in the field slots"},
		{"soni/support.yaml", "target: refund}", "target: refunds}", `unknown flow "refunds" (did you mean "refund"?)`},
		{"soni/support.yaml", "lost: jump_to_apologise", "lost: jump_to_apologize", `unknown step "apologize" (did you mean "apologise"?)`},
		{"soni/support.yaml", "order {order_number}", "order {order_numbr}", `unknown slot "order_numbr" (did you mean "order_number"?)`},
		{"soni/support.yaml", "step: pay, type: action", "step: sure, type: action", `step "sure" is defined twice`},
		{"soni/older.yaml", "cases: {none: sorry, default: continue}", "cases: none", "step found.cases is a single value: expected {value: target}"},
		{"soni/older.yaml", "process:", "process: []\n    steps:", "expected steps or process, not both"},
	} {
		f := testFiles(t, c.file)[0]
		text := string(f.Data)
		at := strings.Index(text, c.right)
		if at < 0 {
			t.Fatalf("%s: there is no %q", c.file, c.right)
		}
		line := 1 + strings.Count(text[:at], "\n")
		if strings.Contains(c.wrong, "\n") {
			line++
		}
		f.Data = []byte(strings.Replace(text, c.right, c.wrong, 1))
		a, problems := Parse([]agent.File{f})
		at = slices.IndexFunc(problems, func(p agent.Problem) bool {
			return p.Severity == agent.SeverityError && p.File == c.file && p.Line == line && strings.Contains(p.String(), c.want)
		})
		if a != nil || at < 0 {
			t.Errorf("%s\nwant an error %s\n%s", c.wrong, fmt.Sprintf("%s:%d: %s", c.file, line, c.want), lineOf(problems))
		}
	}
}

func lineOf(problems []agent.Problem) string {
	var lines []string
	for _, p := range problems {
		lines = append(lines, " got "+p.String())
	}
	return strings.Join(lines, "\n")
}
