package convtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/conv/view"
	"github.com/hocketvoice/hocket/internal/timers"
)

// expectation checks one assertion line. from is the first step since the last
// assertions, start the phase before it.
func (r *Run) expectation(line string, from int, start conv.Phase) error {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "phase":
		if got := r.Conv.Phase().String(); got != rest {
			return fmt.Errorf("phase is %s: expected %s", got, rest)
		}
	case "view":
		return r.expectView(rest)
	case "path":
		path := []string{start.String()}
		for _, s := range r.Steps[from:] {
			for _, t := range s.Transitions {
				path = append(path, t.To.String())
			}
		}
		if got := strings.Join(path, " > "); got != squeezed(rest) {
			return fmt.Errorf("path is\n  %s\nexpected\n  %s", got, squeezed(rest))
		}
	case "within":
		return r.expectWithin(rest)
	case "leads":
		return r.expectLeads(rest, from)
	case "entered":
		return r.expectEntered(rest)
	case "effect", "no":
		return r.expectEffect(word == "no", rest, from)
	case "turn":
		return r.expectTurn(rest)
	case "late":
		n := 0
		for _, s := range r.Steps[from:] {
			if s.Late {
				n++
			}
		}
		if strconv.Itoa(n) != rest {
			return fmt.Errorf("%d events were late: expected %s", n, rest)
		}
	case "said", "never":
		return r.expectHistory(word, rest)
	case "calls":
		if n := len(r.Conv.State().Calls); strconv.Itoa(n) != rest {
			return fmt.Errorf("%d calls are open: expected %s", n, rest)
		}
	case "armed", "idle":
		return r.expectTimer(word == "armed", rest)
	case "context":
		got, err := json.Marshal(r.Conv.State().Context)
		if err != nil {
			return err
		}
		if string(got) != rest {
			return fmt.Errorf("the context is %s: expected %s", got, rest)
		}
	case "words":
		return compareQuoted("the user's words are", r.Conv.State().User.Words(), rest)
	default:
		return fmt.Errorf("unknown assertion %q", word)
	}
	return nil
}

func squeezed(s string) string { return strings.Join(strings.Fields(s), " ") }

func compareQuoted(what, got, quoted string) error {
	want, err := strconv.Unquote(quoted)
	if err != nil {
		return fmt.Errorf("%s: expected a quoted text", quoted)
	}
	if got != want {
		return fmt.Errorf("%s %q: expected %q", what, got, want)
	}
	return nil
}

func (r *Run) expectView(rest string) error {
	name, want, _ := strings.Cut(rest, " ")
	view := view.Name(name)
	if _, err := view.States(); err != nil {
		return err
	}
	if got := view.Of(r.Conv.State().Views()); got != want {
		return fmt.Errorf("view %s is %s: expected %s", name, got, want)
	}
	return nil
}

// expectEntered checks the last entry of a phase, its cause and its turn:
// "interrupted on stt.partial turn 2".
func (r *Run) expectEntered(rest string) error {
	phase, _, _ := strings.Cut(rest, " ")
	for _, s := range slices.Backward(r.Steps) {
		for _, t := range slices.Backward(s.Transitions) {
			if t.To.String() != phase {
				continue
			}
			if got := fmt.Sprintf("%s on %s turn %d", phase, t.Cause, t.Turn); got != squeezed(rest) {
				return fmt.Errorf("it was %s", got)
			}
			return nil
		}
	}
	return fmt.Errorf("%s was not entered", phase)
}

// expectWithin checks the time from the last entry of one phase before the last
// entry of the other: "150ms speaking > interrupted".
func (r *Run) expectWithin(rest string) error {
	limit, phases, _ := strings.Cut(rest, " ")
	most, err := time.ParseDuration(limit)
	if err != nil {
		return err
	}
	a, b, ok := strings.Cut(squeezed(phases), " > ")
	if !ok {
		return fmt.Errorf("%q: expected TIME PHASE > PHASE", rest)
	}
	var left, entered time.Time
	for _, s := range r.Steps {
		for _, t := range s.Transitions {
			if t.To.String() == b && !left.IsZero() {
				entered = t.At
			} else if t.To.String() == a {
				left, entered = t.At, time.Time{}
			}
		}
	}
	if entered.IsZero() {
		return fmt.Errorf("no transition from %s to %s was found", a, b)
	}
	if took := entered.Sub(left); took > most {
		return fmt.Errorf("from %s to %s it took %s, expected at most %s", a, b, took, most)
	}
	return nil
}

// expectLeads checks that an event entered a phase in its own step: "stt.final >
// processing.understanding".
func (r *Run) expectLeads(rest string, from int) error {
	event, phase, ok := strings.Cut(squeezed(rest), " > ")
	if !ok {
		return fmt.Errorf("%q: expected EVENT > PHASE", rest)
	}
	for _, s := range r.Steps[from:] {
		for _, t := range s.Transitions {
			if conv.EventType(s.Event) == event && t.To.String() == phase {
				return nil
			}
		}
	}
	return fmt.Errorf("no %s led to %s", event, phase)
}

// expectEffect checks the number of effects of a type with the given fields:
// `request_reply =1 attempt=1`.
func (r *Run) expectEffect(none bool, rest string, from int) error {
	kind, rest, _ := strings.Cut(rest, " ")
	want, exact := 0, none
	if s := strings.TrimSpace(rest); strings.HasPrefix(s, "=") {
		number, more, _ := strings.Cut(s[1:], " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			return fmt.Errorf("effect %s %s: expected a number behind =", kind, s)
		}
		want, exact, rest = n, true, more
	}
	fields, err := parseFields(rest)
	if err != nil {
		return err
	}
	n := 0
	for _, s := range r.Steps[from:] {
		for _, e := range s.Effects {
			if conv.EffectType(e) == kind && matches(e, fields) {
				n++
			}
		}
	}
	switch {
	case exact && n != want:
		return fmt.Errorf("%d effects %s %s: expected %d", n, kind, rest, want)
	case !exact && n == 0:
		return fmt.Errorf("no effect %s %s, expected one", kind, rest)
	}
	return nil
}

func matches(e conv.Effect, want map[string]any) bool {
	b, err := conv.MarshalEffect(e)
	if err != nil {
		return false
	}
	have := map[string]json.RawMessage{}
	if json.Unmarshal(b, &have) != nil {
		return false
	}
	for name, value := range want {
		if raw, ok := have[name]; !ok || asText(raw) != asText(value) {
			return false
		}
	}
	return true
}

func (r *Run) expectTurn(rest string) error {
	number, want, _ := strings.Cut(rest, " ")
	got := "absent"
	for _, s := range r.Steps {
		for _, t := range s.Turns {
			if strconv.Itoa(t.Turn) == number {
				got = strings.TrimPrefix(string(t.Type), "turn-")
			}
		}
	}
	if got != want {
		return fmt.Errorf("turn %s is %s: expected %s", number, got, want)
	}
	return nil
}

func (r *Run) expectHistory(word, rest string) error {
	items := r.Conv.History()
	if word == "never" {
		text, err := strconv.Unquote(rest)
		if err != nil {
			return fmt.Errorf("%s: expected a quoted text", rest)
		}
		for _, it := range items {
			if strings.Contains(it.Text, text) {
				return fmt.Errorf("the history has %q for turn %d, expected no item with %q", it.Text, it.Turn, text)
			}
		}
		return nil
	}
	role, quoted, _ := strings.Cut(rest, " ")
	for _, it := range slices.Backward(items) {
		if string(it.Role) == role {
			return compareQuoted("the last words of the "+role+" are", it.Text, quoted)
		}
	}
	return fmt.Errorf("the history has no item of the %s", role)
}

func (r *Run) expectTimer(armed bool, name string) error {
	known := false
	for t, at := range r.Conv.State().Timers {
		if timers.Timer(t).String() != name {
			continue
		}
		known = true
		if at.IsZero() == armed {
			return fmt.Errorf("deadline %s is armed: %v: expected %v", name, !at.IsZero(), armed)
		}
	}
	if !known {
		return fmt.Errorf("unknown deadline %q", name)
	}
	return nil
}
