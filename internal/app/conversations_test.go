package app

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/internal/toolset"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/session"
)

// The conversations of examples/testdata/conversations, held with the agents of
// examples through the whole machine. README.md there has the format.

// A talk is an entry of a file.
type talk struct {
	Name  string   `yaml:"name"`
	Today string   `yaml:"today"`
	Say   []string `yaml:"say"`
	Want  struct {
		Actions []wantedCall   `yaml:"actions"`
		Reads   []wantedCall   `yaml:"reads"`
		Said    []string       `yaml:"said"`
		Slots   map[string]any `yaml:"slots"`
		Done    bool           `yaml:"done"`
	} `yaml:"want"`
	Never []string `yaml:"never"`
	Why   string   `yaml:"why"`
}

type wantedCall struct {
	Call string         `yaml:"call"`
	With map[string]any `yaml:"with"`
}

// madeCall is a run of an action.
type madeCall struct {
	name string
	with map[string]any
	line int // from 0; -1: before the first
}

func (c madeCall) String() string {
	var b strings.Builder
	for i, k := range slices.Sorted(maps.Keys(c.with)) {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s=%v", k, c.with[k])
	}
	return c.name + "(" + b.String() + ")"
}

// is reports whether the run is the expected one.
func (c madeCall) is(w wantedCall) bool {
	if c.name != w.Call {
		return false
	}
	for k, v := range w.With {
		if !sameValue(c.with[k], v) {
			return false
		}
	}
	return true
}

// sameValue compares values as README.md describes: texts without regard to case, amounts as
// numbers, account numbers without spaces.
func sameValue(got, want any) bool {
	if got == nil || want == nil {
		return got == want
	}
	g, w := fmt.Sprint(got), fmt.Sprint(want)
	x, errX := strconv.ParseFloat(g, 64)
	y, errY := strconv.ParseFloat(w, 64)
	if errX == nil && errY == nil {
		return x == y
	}
	return strings.EqualFold(strings.Join(strings.Fields(g), ""), strings.Join(strings.Fields(w), ""))
}

// mocks are the results of the actions of bank and clinic, as in their files. The test
// carries the actions out as a program with services would, so that it sees their arguments.
var mocks = map[string]func(in map[string]any) map[string]any{
	"check_limit": func(in map[string]any) map[string]any {
		amount, _ := in["amount"].(float64)
		return map[string]any{"left_today": 3000, "wants_code": amount > 500}
	},
	"send_code": func(map[string]any) map[string]any { return map[string]any{"sent": true} },
	"check_code": func(in map[string]any) map[string]any {
		return map[string]any{"code_right": in["code"] != "000000", "tries_left": 2}
	},
	"transfer":    func(map[string]any) map[string]any { return map[string]any{"reference": "HB4711"} },
	"get_balance": func(map[string]any) map[string]any { return map[string]any{"balance": 1240.5} },
	"check_time": func(in map[string]any) map[string]any {
		return map[string]any{"is_free": in["visit_time"] != "12:00", "nearest_time": "12:30"}
	},
	"book_appointment": func(map[string]any) map[string]any { return map[string]any{"booking_number": "RC2041"} },
	"find_appointment": func(map[string]any) map[string]any {
		return map[string]any{
			"found": true, "appointment": "RC-1988", "old_time": "Thursday at ten in the morning", "with_doctor": "Doctor Chen",
			"first_offer": "Friday at nine", "second_offer": "Monday at half past two", "third_offer": "Tuesday at eleven",
		}
	},
	"move_appointment":   func(map[string]any) map[string]any { return map[string]any{"moved": true} },
	"move_to":            func(map[string]any) map[string]any { return map[string]any{"moved": true} },
	"cancel_appointment": func(map[string]any) map[string]any { return map[string]any{"struck": true} },
}

// watched are tools whose calls are recorded.
type watched struct {
	port.Tool

	line  int
	calls []madeCall
}

func (w *watched) Call(ctx context.Context, call port.ToolCall, progress func(string)) (string, error) {
	with := make(map[string]any)
	if err := json.Unmarshal([]byte(call.Arguments), &with); err != nil {
		return "", err
	}
	w.calls = append(w.calls, madeCall{call.Name, with, w.line})
	return w.Tool.Call(ctx, call, progress)
}

// mocked are the tools of mocks that an agent needs.
type mocked []port.ToolSpec

func (m mocked) Specs() []port.ToolSpec { return m }

func (m mocked) Call(_ context.Context, call port.ToolCall, _ func(string)) (string, error) {
	in := make(map[string]any)
	if err := json.Unmarshal([]byte(call.Arguments), &in); err != nil {
		return "", err
	}
	out, err := json.Marshal(mocks[call.Name](in))
	return string(out), err
}

// talker is an agent of examples with which conversations are held.
type talker struct {
	agent *settings.Agent
	tools mocked
}

// newTalker reads an agent. If model is true, its file asks for a model's understanding.
func newTalker(t *testing.T, name string, model bool) *talker {
	t.Helper()
	files, err := settings.ReadAgent(filepath.Join("..", "..", "examples", name))
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		if head, tail, ok := strings.Cut(string(files[i].Data), "\nsettings:\n"); ok && model {
			files[i].Data = []byte(head + "\nsettings:\n  model: {understanding: true}\n" + tail)
		}
	}
	plain, problems := dialog.Parse(files)
	if plain == nil {
		t.Fatal(problems)
	}
	var o agent.Options
	tk := &talker{}
	for _, a := range plain.Actions() {
		if !a.Mocked {
			continue
		}
		if mocks[a.Name] == nil {
			t.Fatalf("examples/%s: the test has no mock of %s", name, a.Name)
		}
		o.Actions = append(o.Actions, a.Name)
		tk.tools = append(tk.tools, port.ToolSpec{Name: a.Name})
	}
	programmed, problems := dialog.New(o.Parse(files))
	if programmed == nil {
		t.Fatal(problems)
	}
	tk.agent = &settings.Agent{Agent: programmed, Files: files}
	return tk
}

// lineTaken is the result of one line.
type lineTaken struct {
	said  string
	state dialog.State // after it
	flows []string     // started by it
	was   dialog.State // before it
}

// held is the record of a conversation.
type held struct {
	c       *talk
	agent   *dialog.Agent
	lines   []lineTaken // of those that were said: the agent may have ended before
	handoff bool
	calls   []madeCall
}

// hold holds a conversation. A model may be nil.
func (tk *talker) hold(t *testing.T, c *talk, model func(*session.Text) port.Model) *held {
	t.Helper()
	ctx := t.Context()
	opts, err := agentOptions(tk.agent, "")
	if err != nil {
		t.Fatal(err)
	}
	tools, err := OpenTools(ctx, opts.Tools)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := tools.Close(); err != nil {
			t.Error(err)
		}
	}()
	web, _, err := tools.For(ctx, tk.agent)
	if err != nil {
		t.Fatal(err)
	}
	all, err := toolset.Combine(toolset.Part{From: "the agent", Tool: web}, toolset.Part{From: "the test", Tool: tk.tools})
	if err != nil {
		t.Fatal(err)
	}
	seen := &watched{Tool: all, line: -1}
	o := session.TextOptions{Conv: opts.Conversation, Tools: seen}
	o.Conv.Agent = tk.agent.Agent
	var text *session.Text
	if model != nil { // the config has none
		o.Conv.NoModel = false
		o.Model = modelOf(func(ctx context.Context, r port.Request, emit func(port.Delta) error) error {
			return model(text).Reply(ctx, r, emit)
		})
	}
	if text, err = session.NewText(o); err != nil {
		t.Fatal(err)
	}
	day, err := time.Parse(time.DateOnly, c.Today)
	if err != nil {
		t.Fatal(err)
	}
	now := day.Add(12 * time.Hour)
	if _, err := text.Start(ctx, now); err != nil {
		t.Fatal(err)
	}
	h := &held{c: c, agent: tk.agent.Agent}
	for i, line := range c.Say {
		if text.Over() || h.handoff {
			break
		}
		now = now.Add(5 * time.Second)
		seen.line = i
		was := text.State().Dialogue.Clone()
		r, err := text.Say(ctx, now, line)
		if err != nil {
			t.Fatalf("%s: %q: %v", c.Name, line, err)
		}
		after := text.State().Dialogue.Clone()
		taken := lineTaken{said: strings.Join(r.Said, " "), state: after, was: was}
		for _, e := range eventsOf(after) {
			if e.Event == "flow_started" {
				taken.flows = append(taken.flows, e.Data.Flow)
			}
		}
		h.lines = append(h.lines, taken)
		h.handoff = r.Handoff
	}
	h.calls = seen.calls
	return h
}

// modelOf is a function that serves as a model.
type modelOf func(context.Context, port.Request, func(port.Delta) error) error

func (f modelOf) Reply(ctx context.Context, r port.Request, emit func(port.Delta) error) error {
	return f(ctx, r, emit)
}

// eventsOf returns the events since the user's last message.
func eventsOf(st dialog.State) []dialog.TraceEvent {
	for i, e := range slices.Backward(st.Trace) {
		if e.Event == "user_message" {
			return st.Trace[i:]
		}
	}
	return st.Trace
}

// hasEffect reports whether an action does something, rather than look something up
// or prepare it.
func (h *held) hasEffect(name string) bool {
	a, ok := h.agent.Action(name)
	return ok && a.RequiresConfirmation
}

// effects returns the runs of actions with an effect.
func (h *held) effects() []madeCall {
	return slices.DeleteFunc(slices.Clone(h.calls), func(c madeCall) bool { return !h.hasEffect(c.name) })
}

// harm lists the actions and values that must not be there.
func (h *held) harm() (found []string) {
	effects := h.effects()
	for i, made := range effects {
		if i >= len(h.c.Want.Actions) {
			found = append(found, fmt.Sprintf("line %d runs %v, which nobody wanted", made.line+1, made))
		} else if want := h.c.Want.Actions[i]; !made.is(want) {
			found = append(found, fmt.Sprintf("line %d runs %v, wanted %v", made.line+1, made, madeCall{name: want.Call, with: want.With}))
		}
		if why := h.unasked(made); why != "" {
			found = append(found, fmt.Sprintf("line %d runs %v %s", made.line+1, made, why))
		}
	}
	for _, never := range h.c.Never {
		slot, value, isValue := strings.Cut(never, "=")
		for i, l := range h.lines {
			if isValue && l.had(slot, value) {
				found = append(found, fmt.Sprintf("line %d sets %s", i+1, never))
				break
			}
		}
		if i := slices.IndexFunc(h.calls, func(c madeCall) bool { return c.name == never }); !isValue && i >= 0 && !h.hasEffect(never) {
			found = append(found, fmt.Sprintf("line %d runs %v, which must never run", h.calls[i].line+1, h.calls[i]))
		}
	}
	return found
}

// had reports whether a slot had a value at any time during the line.
func (l *lineTaken) had(slot, value string) bool {
	return sameValue(l.state.Slots[slot], value) || slices.ContainsFunc(eventsOf(l.state), func(e dialog.TraceEvent) bool {
		return e.Event == "slot_set" && e.Data.Slot == slot && sameValue(e.Data.Value, value)
	})
}

// unasked returns why an action must not run after its line: nobody asked, other values were
// read back, or the line is not an unconditional yes.
func (h *held) unasked(made madeCall) string {
	if made.line < 0 {
		return "before the user said a word"
	}
	was, line := h.lines[made.line].was, h.c.Say[made.line]
	if was.Confirmation == nil {
		return fmt.Sprintf("upon %q, and nothing was to be confirmed", line)
	}
	a, _ := h.agent.Action(made.name)
	for _, in := range a.Inputs {
		if v := was.Slots[in.From]; !sameValue(made.with[in.Name], v) {
			return fmt.Sprintf("upon %q; read back was %s=%v", line, in.Name, v)
		}
	}
	if !unconditional(line) {
		return fmt.Sprintf("upon %q, which is not an unconditional yes", line)
	}
	return ""
}

// The words of an answer, judged without knowledge of the engine.
var (
	yesWords = []string{
		"yes", "yeah", "yep", "yup", "ok", "okay", "sure", "right", "alright", "correct", "fine", "please", "go", "do", "book", "send",
		"perfect", "absolutely", "definitely",
	}
	conditions = []string{
		"if", "unless", "only", "except", "provided", "providing", "assuming", "until", "otherwise", "wait", "hold", "stop", "don't", "not", "no", "but",
		"instead", "rather", "maybe", "perhaps", "depends", "cancel", "change", "earlier", "later", "keep",
	}
)

// unconditional reports whether a line is a yes without a condition, a change or a doubt.
// "never mind the wifi, just book it" is one: it drops a condition.
func unconditional(line string) bool {
	words := strings.FieldsFunc(strings.ToLower(line), func(r rune) bool { return strings.ContainsRune(" ,.!?;:", r) })
	yes := slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains(yesWords, w) || slices.Contains([]string{"yse", "eys", "ye", "yess", "yea"}, w)
	})
	return yes && !strings.Contains(line, "?") && !slices.ContainsFunc(words, func(w string) bool { return slices.Contains(conditions, w) })
}

// done reports whether the conversation reached its end.
func (h *held) done() bool {
	w := &h.c.Want
	effects := h.effects()
	if len(h.harm()) > 0 || len(effects) != len(w.Actions) {
		return false
	}
	for _, read := range w.Reads {
		if !slices.ContainsFunc(h.calls, func(c madeCall) bool { return c.is(read) }) {
			return false
		}
	}
	said := ""
	for _, l := range h.lines {
		said += l.said + "\n"
	}
	for _, part := range w.Said {
		if !strings.Contains(strings.ToLower(said), strings.ToLower(part)) {
			return false
		}
	}
	last := h.lines[len(h.lines)-1].state
	for slot, v := range w.Slots {
		if !sameValue(last.Slots[slot], v) {
			return false
		}
	}
	if len(w.Actions) == 0 && len(w.Slots) == 0 && last.CurrentFlow != "none" { // what was refused is not asked for any more
		return false
	}
	return true
}

// asks reports whether the last line ended in a question, an offer or a person.
func (h *held) asks() bool {
	last := h.lines[len(h.lines)-1]
	return h.handoff || last.state.ConversationState == dialog.WaitingForSlot || last.state.ConversationState == dialog.Confirming ||
		last.state.Proposed != "" || last.state.Suggested != nil || strings.Contains(last.said, "?")
}

// transcript returns the conversation in a few lines.
func (h *held) transcript() string {
	var b strings.Builder
	for i, l := range h.lines {
		fmt.Fprintf(&b, "    > %s\n", h.c.Say[i])
		if len(l.flows) > 0 {
			fmt.Fprintf(&b, "      flows %v\n", l.flows)
		}
		for _, c := range h.calls {
			if c.line == i {
				fmt.Fprintf(&b, "      runs %v\n", c)
			}
		}
		if d := difference(l.was.Slots, l.state.Slots); d != "" {
			fmt.Fprintf(&b, "      slots %s\n", d)
		}
		fmt.Fprintf(&b, "    < %s\n", l.said)
	}
	return b.String()
}

// difference returns the slots whose value has changed.
func difference(was, now map[string]any) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(now)) {
		if fmt.Sprint(was[k]) != fmt.Sprint(now[k]) {
			out = append(out, fmt.Sprintf("%s=%v", k, now[k]))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(was)) {
		if _, ok := now[k]; !ok {
			out = append(out, k+" emptied")
		}
	}
	return strings.Join(out, ", ")
}

// readConversations reads the files of a kind, "unseen", "seen" or "later", by agent.
func readConversations(t *testing.T, kind, agent string) []*talk {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "examples", "testdata", "conversations", kind+"-"+agent+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var all []*talk
	if err := yaml.UnmarshalWithOptions(data, &all, yaml.Strict()); err != nil {
		t.Fatalf("%s-%s: %v", kind, agent, err)
	}
	names := make(map[string]bool)
	for _, c := range all {
		if c.Name == "" || c.Today == "" || len(c.Say) == 0 || c.Why == "" || names[c.Name] {
			t.Fatalf("%s-%s: %q: expected name, today, say and why, each name once", kind, agent, c.Name)
		}
		names[c.Name] = true
	}
	return all
}

// talkers are the agents of the conversations.
var talkers = []string{"flights", "bank", "clinic"}

// tally counts how conversations ended.
type tally struct{ all, done, asked, neither, harmful int }

func (c *tally) count(h *held) (ended string) {
	c.all++
	switch {
	case len(h.harm()) > 0:
		c.harmful++
		return "HARMFUL"
	case h.done():
		c.done++
		return "done"
	case h.asks():
		c.asked++
		return "asks"
	default:
		c.neither++
		return "neither"
	}
}

func (c *tally) add(o tally) {
	c.all += o.all
	c.done += o.done
	c.asked += o.asked
	c.neither += o.neither
	c.harmful += o.harmful
}

func (c *tally) row(name string) string {
	return fmt.Sprintf("| %s | %d | %d (%.0f %%) | %d | %d | %d |", name, c.all, c.done, 100*float64(c.done)/float64(max(1, c.all)), c.asked, c.neither, c.harmful)
}

const tallyHead = "| | conversations | done | ended in a question or an offer | in neither | harmful |\n|---|---|---|---|---|---|"

// ratchet is the number of conversations that may be harmful (none), and that must be done at
// least. The second numbers may only rise.
var ratchet = map[string]struct{ harmful, done int }{
	"unseen": {0, 144},
	"seen":   {0, 52},
	"later":  {0, 26},
}

// TestConversations holds all conversations with local understanding alone. With -v
// it shows those that were not done.
func TestConversations(t *testing.T) {
	if raceDetector {
		t.Skip("it talks by text, and computes: several times as slow with the race detector")
	}
	for _, kind := range []string{"unseen", "seen", "later"} {
		t.Run(kind, func(t *testing.T) {
			rows := []string{tallyHead}
			var total tally
			for _, name := range talkers {
				tk := newTalker(t, name, false)
				var sum tally
				for _, c := range readConversations(t, kind, name) {
					h := tk.hold(t, c, nil)
					if ended := sum.count(h); ended != "done" {
						t.Logf("%s: %s-%s: %s (%s)\n      %s\n%s", ended, kind, name, c.Name, c.Why, strings.Join(h.harm(), "\n      "), h.transcript())
					}
				}
				rows = append(rows, sum.row(kind+"-"+name))
				total.add(sum)
			}
			rows = append(rows, total.row("all"))
			t.Logf("\n%s", strings.Join(rows, "\n"))
			if limit := ratchet[kind]; total.harmful > limit.harmful || total.done < limit.done {
				t.Errorf("%d harmful and %d done, expected at most %d and at least %d", total.harmful, total.done, limit.harmful, limit.done)
			} else if total.harmful < limit.harmful || total.done > limit.done {
				t.Logf("better than the ratchet (%d harmful, %d done): move it", limit.harmful, limit.done)
			}
		})
	}
}

// sentences once made the engine do harm or say something false. Each is part of a
// conversation, word for word.
var sentences = []string{
	"I want to book a flight from Boston to Denver tomorrow", "hold on a second", "ok but only if it is refundable", "yes if it has wifi",
	"yes unless it is full", "sure but wait", "yes but from my savings", "no, keep it", "never mind, cancel that", "never mind then", "no",
	"Monday or Tuesday", "12 12 1990", "Tuesday instead", "no, the 4th of May", "thirty one february 1980", "half past nine",
	"wrong person, it's Peter Miller", "make it to Peter instead", "100 no 200", "not Monday, Tuesday", "Friday the 13th",
	"dermatologist next week", "Wednesday", "it's my first flight", "ah one moment, show transactions", "Jan 1st, 2050",
	"I'll tell you in 5 minutes", "100 EUR", "$100", "fifty quid", "send $100 to John", "from Jan 10 to Jan 15", "from Boston to Boston",
	"send 9000 euros to Maria Lopez, DE89", "next week", "flihgt from Bostn to Denvr", "how much does a visit cost?", "round trip",
	"two tickets", "from my savings",
}

// TestConversationsHaveTheSentences checks that no sentence is lost when the files change.
func TestConversationsHaveTheSentences(t *testing.T) {
	var lines []string
	for _, name := range talkers {
		for _, c := range readConversations(t, "seen", name) {
			lines = append(lines, c.Say...)
		}
	}
	for _, s := range sentences {
		if !slices.ContainsFunc(lines, func(l string) bool { return l == s || len(s) > 3 && strings.Contains(l, s) }) {
			t.Errorf("no conversation of seen-*.yaml has %q", s)
		}
	}
}
