package dialog

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// exampleAgent returns an agent of examples/. If it does not run alone on its mocks, the
// test answers its actions, as a program with services would.
func exampleAgent(t testing.TB, name string, alone bool) *Agent {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "examples", name, "*.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("examples/%s: no files: %v", name, err)
	}
	var files []agent.File
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, agent.File{Name: filepath.Base(path), Data: data})
	}
	parse := func(o agent.Options) *Agent {
		a, problems := New(o.Parse(files))
		for _, p := range problems {
			t.Error(p)
		}
		if a == nil {
			t.FailNow()
		}
		return a
	}
	a := parse(agent.Options{})
	if alone {
		return a
	}
	var actions []string
	for _, act := range a.Actions() {
		actions = append(actions, act.Name)
	}
	return parse(agent.Options{Actions: actions})
}

// guard checks every step of a conversation: an action that requires confirmation runs only
// after a yes to its own question, with the values that were read back, and no run is
// repeated.
type guard struct {
	a    *Agent
	ids  map[string]bool
	keys map[string]bool
}

func newGuard(a *Agent) *guard {
	return &guard{a: a, ids: make(map[string]bool), keys: make(map[string]bool)}
}

// check checks one step: the state before it, what the user said, and the resulting action.
func (g *guard) check(before State, said string, act *ActionCall) error {
	if act == nil {
		return nil
	}
	if g.ids[act.ID] {
		return fmt.Errorf("the call %s is made twice", act.ID)
	}
	g.ids[act.ID] = true
	if act.Attempt > 1 {
		if before.ConversationState != Error || !g.keys[act.Key] {
			return fmt.Errorf("%s is attempted again without an error", act.ID)
		}
		return nil
	}
	if g.keys[act.Key] {
		return fmt.Errorf("the key %s is used for two runs", act.Key)
	}
	g.keys[act.Key] = true
	declared := g.a.def.ActionIndex[act.Name]
	if !declared.RequiresConfirmation {
		return nil
	}
	toks := value.Tokenize(said, nil)
	answer, _ := g.a.def.Lang.LeadingAnswer(toks)
	switch {
	case before.ConversationState != Confirming && before.ConversationState != Understanding || before.Confirmation == nil || !before.Confirmation.Action:
		return fmt.Errorf("%s runs without a confirmation", act.Name)
	case answer != value.Yes:
		return fmt.Errorf("%s runs after %q, expected a yes", act.Name, said)
	}
	for _, in := range declared.Inputs {
		if !value.Equal(before.Slots[in.From], act.Inputs[in.Name]) {
			return fmt.Errorf("%s runs with %s = %v; confirmed was %v", act.Name, in.Name, act.Inputs[in.Name], before.Slots[in.From])
		}
	}
	return nil
}

// TestExamples runs the conversations with the agents of examples/. The files are scenarios
// as in TestScenarios, with "agent: NAME" for an agent of examples/ whose actions the
// scenario answers, and "alone: NAME" for one that runs on its mocks. Each step must pass
// the guard.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("testdata/examples/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			s := &scenario{t: t, now: tuesday}
			var g *guard
			for _, line := range strings.Split(strings.TrimRight(string(data), "\n"), "\n") {
				if line != "" && strings.ContainsRune("<!~=", rune(line[0])) {
					continue
				}
				s.out.WriteString(line + "\n")
				if line == "" || line[0] == '#' {
					continue
				}
				cmd, arg, _ := strings.Cut(line, ":")
				if cmd == "agent" || cmd == "alone" {
					s.agent = exampleAgent(t, strings.TrimSpace(arg), cmd == "alone")
					g = newGuard(s.agent)
					continue
				}
				if cmd == "start" {
					g = newGuard(s.agent)
					s.st = State{}
				}
				before, last := s.st.Clone(), s.act
				s.run(line)
				if s.act != last {
					if err := g.check(before, strings.TrimSpace(arg), s.act); err != nil {
						t.Errorf("%s: %v", line, err)
					}
				}
			}
			if *rewrite {
				if err := os.WriteFile(file, s.out.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got, want := s.out.String(), string(data); got != want {
				t.Errorf("%s differs (run with -rewrite to take it over):\n%s", file, firstDifference(got, want))
			}
		})
	}
}

// TestMocks checks what a mock may be, and that it asks for confirmation like the real
// action.
func TestMocks(t *testing.T) {
	const file = `
slots: {amount: {type: money, prompt: How much?}}
actions:
  pay:
    inputs: [amount]
    outputs: [ref, twice, text]
    requires_confirmation: true
    mock: {ref: R1, twice: "= amount * 2", text: "{amount} paid"}
flows:
  f:
    trigger: {intents: [pay it]}
    steps:
      - {step: ask, type: collect, slot: amount}
      - {step: do, type: action, call: pay}
      - {step: told, type: say, message: "{ref}, {twice:raw}, {text}"}
`
	a, problems := Parse([]agent.File{{Name: "a.yaml", Data: []byte(file)}})
	if a == nil || len(problems) > 0 {
		t.Fatal(problems)
	}
	var st State
	a.Start(&st, tuesday)
	said := ""
	for _, text := range []string{"pay it", "40 dollars", "yes"} {
		if st.Calls > 0 {
			t.Fatalf("the mock ran before the yes: %+v", st)
		}
		out := a.Handle(&st, tuesday, Message{Text: text})
		if out.Act != nil {
			t.Fatalf("%q: the caller is asked to run a mock: %+v", text, out.Act)
		}
		said = joinLines(out.Say)
	}
	if said != "R1, 80, 40 paid" || st.Calls != 1 || st.ConversationState != Completed {
		t.Errorf("said %q after %d calls in state %s", said, st.Calls, st.ConversationState)
	}
	if act, _ := a.Action("pay"); !act.Mocked {
		t.Error("the action is not marked as mocked")
	}
	for _, c := range []struct{ mock, want string }{
		{"mock: 3", "is a single value: expected {output: value}"},
		{"mock: {reff: 1}", `declares no output "reff" (did you mean "ref"?)`},
		{`mock: {ref: "= amont"}`, `unknown slot "amont" (did you mean "amount"?)`},
		{"mock: {ref: 1}\n    http: {url: x}", "expected one of http, mcp, mock"},
	} {
		bad := strings.Replace(file, `mock: {ref: R1, twice: "= amount * 2", text: "{amount} paid"}`, c.mock, 1)
		_, problems := Parse([]agent.File{{Name: "a.yaml", Data: []byte(bad)}})
		if !slices.ContainsFunc(problems, func(p agent.Problem) bool {
			return p.Severity == agent.SeverityError && strings.Contains(p.String(), c.want)
		}) {
			t.Errorf("%s: %v, want %q", c.mock, problems, c.want)
		}
	}
}

// TestPlacesByCapitals checks that a place that is on no list is found within a sentence
// if, and only if, it is capitalized.
func TestPlacesByCapitals(t *testing.T) {
	a, problems := Parse([]agent.File{{Name: "a.yaml", Data: []byte(`
slots: {origin: {type: city, prompt: From where?}, destination: {type: city, prompt: Where to?}, seats: {type: integer, prompt: How many?}}
flows:
  f:
    trigger: {intents: [book a bus, I need a bus]}
    steps: [{step: a, type: collect, slot: origin}, {step: b, type: collect, slot: destination}, {step: c, type: collect, slot: seats}]
`)}})
	if a == nil {
		t.Fatal(problems)
	}
	for text, want := range map[string]map[string]any{
		"I need a bus from Half Moon Bay to St. Helena":       {"origin": "Half Moon Bay", "destination": "St. Helena"},
		"I need a bus to San Jose. Thank you":                 {"destination": "San Jose"},
		"I need a bus to san jose":                            {},
		"book a bus for four people":                          {"seats": int64(4)},
		"I need a bus from Boston on Friday for two of us":    {"origin": "Boston", "seats": int64(2)},
		"I need a bus to March":                               {},
		"I need a bus to London, UK, for a party of 3 please": {"destination": "London, UK", "seats": int64(3)},
	} {
		var st State
		a.Start(&st, tuesday)
		a.Handle(&st, tuesday, Message{Text: text})
		if st.CurrentFlow != "f" || !maps.Equal(st.Slots, want) {
			t.Errorf("%q: flow %s, slots %v, want %v", text, st.CurrentFlow, st.Slots, want)
		}
	}
}

// randomTurns returns the number of turns that random users take with each example: few in
// a normal test run, ten thousand and more with HOCKET_LONG (`make soak`).
func randomTurns() int {
	long := os.Getenv("HOCKET_LONG")
	if n, err := strconv.Atoi(long); err == nil && n > 1 {
		return n
	}
	if long != "" {
		return 10_000
	}
	return 2_000
}

// TestRandomUsers lets random users talk to each example, with services that succeed, fail,
// are late or need more. Nothing may panic, no transition may leave the matrix, the guard
// must find nothing, and what the user has given or confirmed must not be lost.
func TestRandomUsers(t *testing.T) {
	for i, name := range []string{"flights", "bank", "clinic", "research"} {
		t.Run(name, func(t *testing.T) {
			a := exampleAgent(t, name, false)
			asked := make(map[string]int) // number of runs of each action and of other events
			for turns, call := 0, uint64(0); turns < randomTurns(); call++ {
				u := &randomUser{t: t, a: a, g: newGuard(a), now: tuesday, rnd: rand.New(rand.NewPCG(uint64(i), call)), asked: asked}
				u.name = fmt.Sprintf("%s, call %d", name, call)
				u.check("start", func() Output { return a.Start(&u.st, u.now) })
				for range 5 + u.rnd.IntN(40) {
					u.turn()
					turns++
				}
			}
			t.Logf("%d turns: %v", randomTurns(), asked)
			for _, act := range a.Actions() {
				if asked[act.Name] == 0 {
					t.Errorf("%s never ran: the users are too random", act.Name)
				}
			}
		})
	}
}

// randomUser is a user who sometimes has a goal.
type randomUser struct {
	t     *testing.T
	name  string
	a     *Agent
	g     *guard
	rnd   *rand.Rand
	st    State
	now   time.Time
	out   Output
	said  []string
	asked map[string]int

	confirmed map[string]any   // slots that the last confirmed action took
	waiting   []map[string]any // slots of the flows that wait, the most recently interrupted one last
}

func (u *randomUser) pick(texts ...string) string { return texts[u.rnd.IntN(len(texts))] }

func (u *randomUser) turn() {
	u.now = u.now.Add(time.Duration(u.rnd.IntN(9000)) * time.Millisecond)
	chance := u.rnd.IntN(60)
	switch {
	case u.out.Act != nil && u.rnd.IntN(12) > 0:
		in := u.result(*u.out.Act)
		u.check(fmt.Sprintf("%+v", in), func() Output { return u.a.Handle(&u.st, u.now, in) })
	case chance == 0:
		u.check("repeat", func() Output { return u.a.Repeat(&u.st, u.now) })
	case chance == 1:
		u.check("recover", func() Output { return u.a.RecoverFromError(&u.st, u.now) })
	case chance == 2:
		u.check("late", func() Output {
			return u.a.Handle(&u.st, u.now, ActionEnded{ID: "nobody", Outputs: map[string]any{"amount": 1}})
		})
	default:
		m := Message{Text: u.text(), Confidence: 1}
		if u.rnd.IntN(8) == 0 {
			m.Confidence = u.rnd.Float64()
		}
		u.check(m.Text, func() Output { return u.a.Handle(&u.st, u.now, m) })
	}
}

// result returns a service's result of a call.
func (u *randomUser) result(act ActionCall) ActionEnded {
	in := ActionEnded{ID: act.ID, Outputs: map[string]any{
		"left_today": []any{int64(3000), int64(100), 0.5}[u.rnd.IntN(3)], "wants_code": u.rnd.IntN(2) == 0, "sent": true,
		"code_right": u.rnd.IntN(3) > 0, "tries_left": int64(u.rnd.IntN(3)), "reference": "R1", "balance": 12.5,
		"is_free": u.rnd.IntN(4) > 0, "nearest_time": "12:30", "booking_number": "B1", "found": u.rnd.IntN(4) > 0,
		"appointment": "A1", "old_time": "today", "with_doctor": "Doctor Lind", "first_offer": "one", "second_offer": "two",
		"third_offer": "three", "moved": true, "struck": true, "valid": u.rnd.IntN(5) > 0,
		"flights_found": int64(u.rnd.IntN(4)), "flight_number": "Hocket 7", "departure_time": "noon", "price": int64(120),
		"booking_ref": "BK-40001", "itinerary": "a flight", "status": u.pick("confirmed", "confirmed", "cancelled"),
	}}
	switch u.rnd.IntN(14) {
	case 0:
		in.Failed, in.Code, in.Message = true, "TIMEOUT", "no answer"
	case 1:
		in.Missing = []string{u.slot().Name}
	case 2:
		in.Outputs = nil
	}
	return in
}

func (u *randomUser) slot() *agent.Slot { return u.a.def.Slots[u.rnd.IntN(len(u.a.def.Slots))] }

// text returns what the user says: usually something that fits, sometimes anything.
func (u *randomUser) text() string {
	switch n := u.rnd.IntN(20); {
	case n == 0:
		return u.noise()
	case n == 1:
		return u.command()
	case n == 2:
		f := u.a.def.Flows[u.rnd.IntN(len(u.a.def.Flows))]
		return u.fill(f.Triggers[u.rnd.IntN(len(f.Triggers))])
	case n == 3:
		return u.text() + " " + u.text()
	case n < 7 && u.st.CurrentFlow != agent.NoFlow:
		return u.correction()
	}
	switch u.st.ConversationState {
	case Confirming:
		return u.pick("yes", "yes", "yes please", "go ahead", "that's correct", "no", "no thanks", "yes but no", "no wait yes", "maybe", u.correction(), u.noise())
	case Error:
		return u.pick("try again", "cancel", "yes", "no", "help", u.noise())
	case WaitingForSlot:
		s := u.a.def.SlotIndex[u.st.WaitingForSlot]
		v := u.value(s)
		return u.pick(v, v, v, v, "it's "+v, "um "+v+" please", "I'd say "+v, "the "+s.Label+" is "+v, v+" thanks", "no "+v)
	default:
		f := u.a.def.Flows[u.rnd.IntN(len(u.a.def.Flows))]
		return u.fill(f.Triggers[u.rnd.IntN(len(f.Triggers))])
	}
}

func (u *randomUser) fill(t agent.Trigger) string {
	text := t.Text
	for _, p := range t.Parts {
		if p.Slot != nil {
			text = strings.Replace(text, "{"+p.Slot.Name+"}", u.value(p.Slot), 1)
		}
	}
	return text
}

func (u *randomUser) correction() string {
	s := u.slot()
	if f := u.a.def.FlowIndex[u.st.CurrentFlow]; f != nil && len(f.Slots) > 0 {
		s = f.Slots[u.rnd.IntN(len(f.Slots))]
	}
	v := u.value(s)
	return u.pick("change the "+s.Label+" to "+v, "actually make it "+v, "no, "+v, "sorry, I meant "+v, "the "+s.Label+" should be "+v,
		"the "+s.Label+" is wrong", "not "+v, "change the "+s.Label, "not "+v+", "+u.value(s), "yes but make it "+v)
}

func (u *randomUser) command() string {
	return u.pick("cancel", "help", "start over", "repeat that", "what do you mean?", "a person please", "skip", "what are my options",
		"thank you", "hello", "goodbye", "wait a moment", "try again", "never mind", "change it", "is that right", "yes", "no")
}

func (u *randomUser) noise() string {
	return u.pick("", "purple monkey dishwasher", "42", "-1", "the the the", "from to from to", "((((", "{amount}", "\x00\xff", "half", "double",
		"twelve thirty four five", "what is love", "one two three four five six seven", "not not not", strings.Repeat("very ", 200)+"long")
}

// value returns a value for a slot as people say it, sometimes an invalid one.
func (u *randomUser) value(s *agent.Slot) string {
	if u.rnd.IntN(10) == 0 {
		return u.pick(u.noise(), "yesterday", "minus five", "eleven at night", "DE12 3456", "nine nine nine", "a million euros")
	}
	if s.Closed() {
		v := s.Values[u.rnd.IntN(len(s.Values))]
		return u.pick(append([]string{v.Value, strings.ToLower(v.Value)}, v.Synonyms...)...)
	}
	switch s.Type {
	case value.TypeDate:
		if s.Past {
			return u.pick("the third of may nineteen eighty", "July 7th 1990", "1/2/1955", "second of march 2020")
		}
		return u.pick("tomorrow", "next friday", "on monday", "in two weeks", "the third of may", "2026-03-04")
	case value.TypeTime:
		return u.pick("half past three", "at ten", "9:30", "noon", "quarter to eleven", "two in the afternoon")
	case value.TypeMoney:
		return u.pick("fifty euros", "two hundred and ten euros", "900 euros", "€12.50", "a thousand", "40")
	case value.TypeCode:
		if s.Kind != "iban" {
			return u.pick("BK98765", "BK-12345", "bk40001", "B K nine eight seven six five", "XYZ")
		}
		return u.pick("DE89370400440532013000", "GB29 NWBK 6016 1331 9268 19", "D E eight nine three seven zero four double zero four four zero five three two zero one three triple zero")
	case value.TypeDigits:
		return u.pick("123456", "one two three four five six", "double four double five double six")
	default:
		return u.pick("Anna Schmidt", "Jane Doe", "my brother Tom", "Yes Limited")
	}
}

// lost returns a slot whose value is gone although the user confirmed it or its flow only
// waited for another one.
func (u *randomUser) lost(before State) (string, bool) {
	set := func(name string) bool {
		return slices.ContainsFunc(u.st.Trace, func(e TraceEvent) bool { return e.Event == "slot_set" && e.Data.Slot == name })
	}
	differs := func(kept map[string]any) (string, bool) {
		for _, name := range slices.Sorted(maps.Keys(kept)) {
			if !set(name) && u.st.WaitingForSlot != name && !value.Equal(kept[name], u.st.Slots[name]) {
				return name, true
			}
		}
		return "", false
	}
	started := slices.ContainsFunc(u.st.Trace, func(e TraceEvent) bool { return e.Event == "flow_started" })
	if started || u.st.CurrentFlow != before.CurrentFlow && u.st.CurrentFlow != agent.NoFlow || slices.ContainsFunc(slices.Sorted(maps.Keys(u.confirmed)), set) {
		u.confirmed = nil // another run
	}
	if name, is := differs(u.confirmed); is {
		return name, true
	}
	if act := u.out.Act; act != nil && u.a.def.ActionIndex[act.Name].RequiresConfirmation {
		u.confirmed = make(map[string]any)
		for _, in := range u.a.def.ActionIndex[act.Name].Inputs {
			u.confirmed[in.From] = before.Slots[in.From]
		}
	}
	switch grown := len(u.st.Stack) - len(before.Stack); {
	case grown == 1 && started:
		kept := make(map[string]any)
		for _, s := range u.a.def.FlowIndex[before.CurrentFlow].Slots {
			if v := before.Slots[s.Name]; v != nil {
				kept[s.Name] = v
			}
		}
		u.waiting = append(u.waiting[:len(before.Stack)], kept)
	case grown == -1 && !started && u.st.CurrentFlow == before.Stack[len(u.st.Stack)].Flow:
		u.asked["a way back"]++
		if name, is := differs(u.waiting[len(u.st.Stack)]); is {
			return name, true
		}
	}
	u.waiting = u.waiting[:min(len(u.waiting), len(u.st.Stack))]
	for _, kept := range u.waiting {
		for name := range kept {
			if set(name) { // the user gave another value meanwhile
				delete(kept, name)
			}
		}
	}
	return "", false
}

// seen returns a secret whose value is in the messages, in the trace or in what is said.
func (u *randomUser) seen() (where string, is bool) {
	for _, s := range u.a.def.Slots {
		value, _ := u.st.Slots[s.Name].(string)
		if !s.Secret || len(value) < 4 {
			continue
		}
		kept, err := json.Marshal([]any{u.st.Messages, u.st.Trace, u.st.Cache, u.st.LastResponse, u.st.Pending, u.st.Suggested, u.out.Say})
		if err != nil || strings.Contains(string(kept), value) {
			return s.Name + " in " + string(kept), true
		}
	}
	return "", false
}

// check runs a step and checks the invariants.
func (u *randomUser) check(what string, step func() Output) {
	u.t.Helper()
	u.said = append(u.said, what)
	before := u.st.Clone()
	u.st.Trace = []TraceEvent{} // to see what this step adds
	u.out = step()
	fail := func(format string, args ...any) {
		u.t.Helper()
		u.t.Fatalf("%s: %s\n%s", u.name, fmt.Sprintf(format, args...), strings.Join(u.said, "\n"))
	}
	from := before.ConversationState
	reason := what == "start"
	for _, e := range u.st.Trace {
		switch e.Event {
		case "state_changed":
			if e.Data.From != from || !allowed(e.Data.From, e.Data.To) {
				fail("from %s to %s by way of %s", from, e.Data.To, e.Data.From)
			}
			from = e.Data.To
		case "error":
			if strings.Contains(e.Data.Detail, "TransitionError") {
				fail("%s", e.Data.Detail)
			}
		case "flow_started", "flow_resumed", "flow_reopened", "action_completed", "slot_skipped", "flow_cancelled":
			reason = true
		}
	}
	if what != "start" && from != u.st.ConversationState {
		fail("the trace ends in %s, the dialogue in %s", from, u.st.ConversationState)
	}
	if act := u.out.Act; act != nil {
		u.asked[act.Name]++
		if err := u.g.check(before, what, act); err != nil {
			fail("%v", err)
		}
		if u.st.ConversationState != ExecutingAction {
			fail("an action runs in state %s", u.st.ConversationState)
		}
	}
	if u.out.Handoff {
		u.asked["a person"]++
	}
	if u.st.ConversationState == Error {
		u.asked["an error"]++
	}
	if len(u.st.Stack) > 0 {
		u.asked["a digression"]++
	}
	checkRoundTrip(u.t, u.st)
	if name, seen := u.seen(); seen {
		fail("%q: a secret is in what is kept or said: %s", what, name)
	}
	if name, lost := u.lost(before); lost {
		fail("%q: slot %s, which was confirmed or waits, is %v", what, name, u.st.Slots[name])
	}
	if reason || u.st.ConversationState == Error || u.st.CurrentFlow != before.CurrentFlow {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(before.Slots)) { // what was given stays, unless it was changed or is asked for anew
		old := before.Slots[name]
		if old == nil || u.a.def.SlotIndex[name] == nil || value.Equal(old, u.st.Slots[name]) || u.st.WaitingForSlot == name {
			continue
		}
		if !slices.ContainsFunc(u.st.Trace, func(e TraceEvent) bool { return e.Event == "slot_set" && e.Data.Slot == name }) {
			fail("%q: slot %s lost its value %v, now %v", what, name, old, u.st.Slots[name])
		}
	}
}
