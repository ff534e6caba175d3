package session

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

const safe = `
version: "1.0"
slots:
  pin: {type: digits, length: 4, secret: true, prompt: "What is your PIN?"}
  city: {type: city, prompt: "Which city?", values: [Denver, Boston]}
actions:
  open: {inputs: [pin, city], outputs: [found]}
flows:
  open:
    description: open the safe
    trigger: {intents: ["open the safe"]}
    steps:
      - {step: ask, type: collect, slot: pin}
      - {step: where, type: collect, slot: city}
      - {step: run, type: action, call: open}
      - {step: empty, type: set, slots: {pin: null}}
      - {step: told, type: say, message: "There is {found} in it."}
`

func safeAgent(t testing.TB, source string) (*dialog.Agent, []agent.File) {
	t.Helper()
	files := []agent.File{{Name: "safe.yaml", Data: []byte(source)}}
	made, problems := dialog.Parse(files)
	if agent.HasErrors(problems) {
		t.Fatal(problems)
	}
	return made, files
}

// locksmith opens the safe, and says the PIN in its progress and its result.
func locksmith(long bool) *porttest.Tool {
	return &porttest.Tool{
		Known: []port.ToolSpec{{Name: "open", Long: long}},
		Run: func(_ context.Context, call port.ToolCall, progress func(string)) (string, error) {
			progress("trying " + call.Arguments)
			return `{"found": "gold", "pin": 4711, "code": "4711"}`, nil
		},
	}
}

// spelt are the forms in which the PIN is given.
var spelt = []string{"4711", "47 11", "four seven one one", "four seven"}

func wantNone(t *testing.T, what string, b []byte) {
	t.Helper()
	for _, form := range spelt {
		if i := bytes.Index(bytes.ToLower(b), []byte(form)); i >= 0 {
			t.Errorf("%s has %q: ... %s", what, form, b[max(0, i-200):min(len(b), i+100)])
		}
	}
}

// TestSecretIsNotKeptByText holds a conversation by text and goes on from each of its
// checkpoints. Where the store does not encrypt none has the secret: it is asked for
// again, and the tool gets it. Where it does, nothing is asked twice.
func TestSecretIsNotKeptByText(t *testing.T) {
	agent, _ := safeAgent(t, safe)
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	lines := []string{"open the safe", "47 11", "Denver"}
	for _, sealed := range []bool{false, true} {
		store, tool := &history{}, locksmith(false)
		options := func(tool port.Tool, store port.Store, restore []byte) TextOptions {
			return TextOptions{Conv: conv.Options{Agent: agent}, Tools: tool, ID: "c", Restore: restore, Checkpoints: Checkpoints{Store: store, Sealed: sealed}}
		}
		tx, err := NewText(options(tool, store, nil))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Start(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		for i, line := range lines {
			if _, err := tx.Say(t.Context(), now.Add(time.Duration(i+1)*time.Second), line); err != nil {
				t.Fatal(err)
			}
		}
		if calls := tool.Calls(); len(calls) != 1 || calls[0].Arguments != `{"city":"Denver","pin":"4711"}` {
			t.Fatalf("sealed %v: the tool got %+v", sealed, calls)
		}
		asked := 0
		for i, save := range store.all() {
			name := fmt.Sprintf("sealed %v, %d %s", sealed, i, save.Phase)
			if !sealed {
				wantNone(t, name, save.Snapshot)
			}
			if strings.Contains(string(save.Snapshot), "There is gold") {
				continue
			}
			again := locksmith(false)
			tx, err := NewText(options(again, &history{}, save.Snapshot))
			if err != nil {
				t.Fatal(err)
			}
			r, err := tx.Resume(t.Context(), now.Add(time.Minute))
			for n := 0; n < 6 && err == nil && !strings.Contains(strings.Join(r.Said, " "), "There is gold"); n++ {
				say := "open the safe"
				switch said := strings.Join(r.Said, " "); {
				case strings.Contains(said, "PIN"):
					say = "4711"
					asked++
				case strings.Contains(said, "city"):
					say = "Denver"
				}
				r, err = tx.Say(t.Context(), now.Add(time.Minute+time.Duration(n)*time.Second), say)
			}
			if err != nil || !strings.Contains(strings.Join(r.Said, " "), "There is gold") {
				t.Errorf("%s: ends with %q, error %v", name, r.Said, err)
			}
			for _, call := range again.Calls() {
				if call.Arguments != `{"city":"Denver","pin":"4711"}` {
					t.Errorf("%s: the tool got %s", name, call.Arguments)
				}
			}
		}
		if asked == 0 {
			t.Errorf("sealed %v: nobody was asked for the PIN", sealed)
		}
	}
}

// TestSecretIsNotRecordedByVoice: a secret that is spoken, misheard, and spoken again is
// not in the trace, with the frames or without, not in the journal, the checkpoints, and
// not with those who watch.
func TestSecretIsNotRecordedByVoice(t *testing.T) {
	agent, files := safeAgent(t, safe)
	store, tool := &history{}, locksmith(false)
	if err := store.Beat(t.Context(), port.Node{ID: "a"}, time.Hour); err != nil {
		t.Fatal(err)
	}
	held, err := store.Claim(t.Context(), "test", "a")
	if err != nil {
		t.Fatal(err)
	}
	var watched bytes.Buffer
	p := thinking(plan{
		conv: conv.Options{Agent: agent}, watch: true,
		texts: []string{"open the safe", "four seven one", "it is four seven one one", "Denver"},
		lines: []line{{answers, 1200 * ms}, {answers, 1500 * ms}, {answers, 2000 * ms}, {answers, 1200 * ms}},
	}, nil, tool)
	p.parts = func(o *Options) {
		o.AgentFiles, o.Tools = files, tool
		o.Checkpoints = Checkpoints{Store: store, Journal: store, Token: held.Token}
	}
	setup := p.setup
	p.setup = func(c *call) {
		setup(c)
		c.s.OnStep(func(s Step) { fmt.Fprintf(&watched, "%+v %+v %+v\n", s.Event, s.Output, s.State) })
	}
	c := hold(t, p)
	if calls := tool.Calls(); len(calls) != 1 || calls[0].Arguments != `{"city":"Denver","pin":"4711"}` {
		t.Fatalf("the tool got %+v; said %q", calls, c.said(conv.RoleAgent))
	}
	_, trace, _ := bytes.Cut(c.trace.Bytes(), []byte("\n")) // the first line has the agent
	wantNone(t, "the trace", trace)
	wantNone(t, "an observer's view", watched.Bytes())
	for _, save := range store.all() {
		wantNone(t, "a checkpoint", save.Snapshot)
	}
	pieces := 0
	err = store.Read(t.Context(), "test", func(_ int, records []byte) error {
		pieces++
		wantNone(t, "the journal", records)
		return nil
	})
	if err != nil || pieces == 0 {
		t.Errorf("%d pieces of the journal, error %v", pieces, err)
	}
}

// ledger notes the work that is written to the tasks, and does it at once.
type ledger struct {
	port.Tasks
	mu    sync.Mutex
	wrote []string
}

func (l *ledger) Start(_ context.Context, t port.Task) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wrote = append(l.wrote, t.Call.Arguments)
	return nil
}

func (*ledger) Follow(context.Context, string, func(string)) (string, error) {
	return `{"found": "gold"}`, nil
}
func (*ledger) Cancel(context.Context, string) error { return nil }
func (*ledger) Settle(context.Context, string) error { return nil }
func (*ledger) Leave(context.Context, string) error  { return nil }

// TestWhatTasksKeep: long work is written to the tasks, but not with privacy none, and not
// with a secret in it where they do not encrypt: then it is done within the session.
func TestWhatTasksKeep(t *testing.T) {
	long := strings.Replace(safe, "outputs: [found]", "outputs: [found], long: true", 1)
	plain := strings.Replace(long, "secret: true, ", "", 1)
	for _, c := range []struct {
		name, source string
		privacy      conv.Privacy
		sealed       bool
		wrote        int
	}{
		{"no secret", plain, conv.PrivacyKeep, false, 1},
		{"a secret", long, conv.PrivacyKeep, false, 0},
		{"a secret, encrypted", long, conv.PrivacyKeep, true, 1},
		{"privacy none", plain, conv.PrivacyNone, false, 0},
		{"privacy none, encrypted", long, conv.PrivacyNone, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			inOffice(t, func(o *office) {
				agent, files := safeAgent(t, c.source)
				tasks, tool := &ledger{}, locksmith(true)
				held := o.holds("test", func(o *Options) {
					o.Conv.Agent, o.Conv.Privacy, o.AgentFiles, o.Tools, o.Model = agent, c.privacy, files, tool, nil
					o.Delegation = Delegation{Tasks: tasks, Sealed: c.sealed}
				})
				for _, line := range []string{"open the safe", "it is four seven one one", "Denver"} {
					held.says(line)
					pass(20 * time.Second)
				}
				tasks.mu.Lock()
				defer tasks.mu.Unlock()
				if len(tasks.wrote) != c.wrote || len(tool.Calls()) != 1-c.wrote {
					t.Errorf("written to the tasks: %q, done within the session: %+v", tasks.wrote, tool.Calls())
				}
			})
		})
	}
}

// TestSecretOfAToolIsNotShownToAModel: what a tool returns may have the secret in it, whether the
// user said it or the tool made it. No model is shown it, neither for an answer nor for a
// summary, also when its slot has been emptied.
func TestSecretOfAToolIsNotShownToAModel(t *testing.T) {
	answering := strings.Replace(safe, "slots:", "instructions: You open safes.\nsettings: {model: {answers: true}}\nslots:", 1)
	for name, source := range map[string]string{
		"said and emptied": answering,
		"said":             strings.Replace(answering, "      - {step: empty, type: set, slots: {pin: null}}\n", "", 1),
		"made by the tool": strings.NewReplacer("inputs: [pin, city], outputs: [found]", "inputs: [city], outputs: [found, pin]",
			"      - {step: ask, type: collect, slot: pin}\n", "", "{step: empty,", "{step: empty, condition: false,").Replace(answering),
		"made by the tool and emptied": strings.NewReplacer("inputs: [pin, city], outputs: [found]", "inputs: [city], outputs: [found, pin]",
			"      - {step: ask, type: collect, slot: pin}\n", "").Replace(answering),
	} {
		t.Run(name, func(t *testing.T) {
			agent, _ := safeAgent(t, source)
			var requests []port.Request
			model := &porttest.Model{Answer: func(r port.Request) []port.Delta {
				requests = append(requests, r)
				return []port.Delta{{Text: "I do not know."}}
			}}
			store := &history{}
			tx, err := NewText(TextOptions{
				Conv: conv.Options{Agent: agent, SummaryTurns: 1}, Tools: locksmith(false), Model: model, ID: "c", Checkpoints: Checkpoints{Store: store},
			})
			if err != nil {
				t.Fatal(err)
			}
			now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
			if _, err := tx.Start(t.Context(), now); err != nil {
				t.Fatal(err)
			}
			lines := []string{"open the safe", "4711", "Denver", "what is the moon made of", "and the sun", "and the stars"}
			if !strings.Contains(source, "slot: pin") {
				lines = slices.Delete(lines, 1, 2)
			}
			for i, line := range lines {
				if _, err := tx.Say(t.Context(), now.Add(time.Duration(i+1)*time.Second), line); err != nil {
					t.Fatal(err)
				}
			}
			shown, summaries := 0, 0
			for _, r := range requests {
				b, err := json.Marshal(r)
				if err != nil {
					t.Fatal(err)
				}
				wantNone(t, "a request", b)
				if bytes.Contains(b, []byte("gold")) {
					shown++
				}
				if r.Instructions == summaryInstructions {
					summaries++
				}
			}
			if shown == 0 || summaries == 0 {
				t.Errorf("%d requests with the result, %d for summaries, expected some: %+v", shown, summaries, requests)
			}
			for _, save := range store.all() {
				wantNone(t, "a checkpoint", save.Snapshot)
			}
		})
	}
}
