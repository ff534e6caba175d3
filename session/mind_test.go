package session

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// thinking has requests go to a model, which may call tools.
func thinking(p plan, model port.Model, tools port.Tool) plan {
	p.setup = func(c *call) {
		c.s.o.Model, c.s.o.Tools = model, tools
		c.s.o.Instructions = "You sell flights."
		c.s.Machine.o.Perform = c.s.perform
	}
	return p
}

// seller calls its tool for the first question, tells the result, and answers
// what else is asked.
func seller(requests *[]port.Request) *porttest.Model {
	return &porttest.Model{Answer: func(r port.Request) []port.Delta {
		*requests = append(*requests, r)
		switch last := r.Messages[len(r.Messages)-1]; {
		case last.Role == "tool":
			return []port.Delta{{Text: "There are " + last.Content + ". Shall I look for a flight in the morning or in the evening? "}, {Text: "I can hold it for a day, or for two."}}
		case strings.HasPrefix(last.Content, "book"):
			return []port.Delta{{Text: "One moment. "}, {Call: &port.ToolCall{ID: "c1", Name: "search", Arguments: `{"to":"boston"}`}}}
		default:
			return []port.Delta{{Text: "In the evening, "}, {Text: "then."}}
		}
	}}
}

// TestModelAndTool: a spoken call with a model, a tool and a barge-in in the middle
// of the answer. What the model is told next is what was heard; the trace replays
// without either (newCall looks after that).
func TestModelAndTool(t *testing.T) {
	var requests []port.Request
	tool := &porttest.Tool{
		Known: []port.ToolSpec{{Name: "search"}},
		Run: func(context.Context, port.ToolCall, func(string)) (string, error) {
			return "3 flights", nil
		},
	}
	// The second utterance breaks in when the answer has been heard for two seconds.
	during := func(m porttest.Moment) bool { return m.State == "speaking" && m.Agent >= 100 }
	c := hold(t, thinking(plan{
		texts: []string{"book a flight to boston", "no in the evening"},
		lines: []line{{answers, 1200 * ms}, {during, 1200 * ms}},
	}, seller(&requests), tool))
	if c.err != nil {
		t.Fatal(c.err)
	}
	if len(requests) != 3 {
		t.Fatalf("%d requests, expected one for each question and one for the result", len(requests))
	}
	calls := tool.Calls()
	if len(calls) != 1 || calls[0].ID != "test/c1" || calls[0].Arguments != `{"to":"boston"}` {
		t.Errorf("calls %+v", calls)
	}
	if r := requests[0]; r.Instructions != "You sell flights." || len(r.Tools) != 1 || r.Tools[0].Name != "search" {
		t.Errorf("the model is told %+v", r)
	}
	c.wantPhases("processing.tool", "speaking", "interrupted stt.partial", "speaking", "listening.ready")
	c.wantSaid(conv.RoleUser, "book a flight to boston", "no in the evening")
	// The third request holds the answer as far as it was heard.
	heard := ""
	for _, m := range requests[2].Messages {
		if m.Role == "agent" && strings.HasPrefix(m.Content, "There are") {
			heard = m.Content
		}
	}
	const answer = "There are 3 flights. Shall I look for a flight in the morning or in the evening?"
	if heard == "" || !strings.HasPrefix(answer, heard) {
		t.Errorf("the model is told that %q was heard", heard)
	}
	if n := slices.IndexFunc(requests[2].Messages, func(m port.Message) bool {
		return m.Role == "tool" && m.CallID == "c1" && m.Content == "3 flights"
	}); n < 0 {
		t.Errorf("the tool's result is not in %+v", requests[2].Messages)
	}
}

// TestToolsInOrder: two calls of one reply run one after the other in virtual
// time, so that the same call gives the same trace.
func TestToolsInOrder(t *testing.T) {
	model := func() port.Model {
		return &porttest.Model{Answer: func(r port.Request) []port.Delta {
			if r.Messages[len(r.Messages)-1].Role == "tool" {
				return []port.Delta{{Text: "Done."}}
			}
			return []port.Delta{
				{Call: &port.ToolCall{ID: "a", Name: "slow", Arguments: "{}"}},
				{Call: &port.ToolCall{ID: "b", Name: "quick", Arguments: "{}"}},
			}
		}}
	}
	var first []byte
	for range 5 {
		var running atomic.Int32
		tool := &porttest.Tool{
			Known: []port.ToolSpec{{Name: "slow"}, {Name: "quick"}},
			Run: func(context.Context, port.ToolCall, func(string)) (string, error) {
				if running.Add(1) > 1 {
					t.Error("two calls run at once")
				}
				defer running.Add(-1)
				return "ok", nil
			},
		}
		c := hold(t, thinking(plan{texts: []string{"do it"}, lines: []line{{answers, 800 * ms}}}, model(), tool))
		c.wantSaid(conv.RoleAgent, "Done.")
		if first == nil {
			first = c.trace.Bytes()
		} else if string(first) != c.trace.String() {
			t.Fatal("the same call gave another trace")
		}
	}
}

// TestTaskTellsItsProgress: a delegated agent's word comes while it works.
func TestTaskTellsItsProgress(t *testing.T) {
	tool := &porttest.Tool{
		Known: []port.ToolSpec{{Name: "research", Long: true}},
		Run: func(_ context.Context, _ port.ToolCall, progress func(string)) (string, error) {
			progress("half way")
			return "found", nil
		},
	}
	model := &porttest.Model{Answer: func(r port.Request) []port.Delta {
		if r.Messages[len(r.Messages)-1].Role == "tool" {
			return []port.Delta{{Text: "It is found."}}
		}
		return []port.Delta{{Call: &port.ToolCall{ID: "r", Name: "research", Arguments: "{}"}}}
	}}
	c := hold(t, thinking(plan{texts: []string{"find it"}, lines: []line{{answers, 800 * ms}}}, model, tool))
	c.wantPhases("processing.delegated", "speaking", "listening.ready")
	c.wantSaid(conv.RoleAgent, "It is found.")
	if !slices.Contains(c.events, "task.progress") {
		t.Errorf("no progress among %v", c.events)
	}
}

// TestRequestIsGivenUp: in real time the user goes on while the model thinks: its
// context ends, and nothing of it is left at the end of the call.
func TestRequestIsGivenUp(t *testing.T) {
	var ended atomic.Int32
	waits := modelFunc(func(ctx context.Context, r port.Request, emit func(port.Delta) error) error {
		if len(r.Messages) > 1 {
			return emit(port.Delta{Text: "As you like."})
		}
		<-ctx.Done()
		ended.Add(1)
		return ctx.Err()
	})
	p := thinking(plan{
		texts: []string{"book a flight", "no stop that"},
		lines: []line{{answers, 1200 * ms}, {in("processing.waiting"), 1200 * ms}},
	}, waits, nil)
	live(t, p, func(c *call) {
		c.ok()
		if ended.Load() != 1 {
			t.Errorf("%d requests ended with their context, expected the first", ended.Load())
		}
		c.wantSaid(conv.RoleAgent, "As you like.")
	})
}

// modelFunc is a model of one function.
type modelFunc func(context.Context, port.Request, func(port.Delta) error) error

func (f modelFunc) Reply(ctx context.Context, r port.Request, emit func(port.Delta) error) error {
	return f(ctx, r, emit)
}

// TestActionInACall: a flow's action is carried out in a spoken call, once, with
// its key.
func TestActionInACall(t *testing.T) {
	files := []agent.File{{Name: "table.yaml", Data: []byte(booking)}}
	a, problems := dialog.Parse(files)
	if agent.HasErrors(problems) {
		t.Fatal(problems)
	}
	tools := &reservations{}
	p := thinking(plan{
		conv:  conv.Options{Agent: a},
		texts: []string{"reserve a table", "four", "yes"},
		lines: []line{{answers, 1200 * ms}, {answers, 800 * ms}, {answers, 800 * ms}},
	}, nil, tools)
	setup := p.setup
	p.setup = func(c *call) {
		setup(c)
		c.s.o.AgentFiles = files // the trace carries them
	}
	c := hold(t, p)
	if len(tools.calls) != 1 || tools.calls[0].Arguments != `{"guests":4}` {
		t.Errorf("calls %+v", tools.calls)
	}
	c.wantSaid(conv.RoleUser, "reserve a table", "four", "yes")
}

// TestRequestCarriesItsContext: a program that carries out the effects itself has from the
// request what the reply is to be made of; one for advice, and what is recorded, has none.
func TestRequestCarriesItsContext(t *testing.T) {
	bubble(t, MachineOptions{}, func(t *testing.T, p *program) {
		var asked []conv.Item
		var shown []conv.RequestReply
		perform := p.m.o.Perform
		p.m.o.Perform = func(l *Loop, e conv.Effect) {
			if r, ok := e.(conv.RequestReply); ok {
				asked = append(asked, slices.Clone(r.Context.History)...)
			}
			perform(l, e)
		}
		p.m.OnStep(func(s Step) {
			for _, e := range s.Output.Effects {
				if r, ok := e.(conv.RequestReply); ok {
					shown = append(shown, r)
				}
			}
		})
		p.answer = "It rains."
		p.run(t.Context())
		p.must(p.m.StartConversation())
		for _, line := range []string{"how is the weather?", "and tomorrow?"} {
			p.in(conv.ListeningReady)
			p.must(p.m.SendText(line))
			synctest.Wait()
			p.must(p.m.Post(conv.PlayoutFinished{}))
		}
		p.in(conv.ListeningReady)
		var texts []string
		for _, it := range asked {
			texts = append(texts, string(it.Role)+": "+it.Text)
		}
		want := []string{
			"user: how is the weather?", // and the same again, with what came of it
			"user: how is the weather?", "agent: It rains.", "user: and tomorrow?",
		}
		if !slices.Equal(texts, want) {
			t.Errorf("the contexts have %q, expected %q", texts, want)
		}
		for _, r := range shown {
			if b, err := conv.MarshalEffect(r); err != nil || bytes.Contains(b, []byte("rains")) {
				t.Errorf("recorded is %s, error %v", b, err)
			}
		}
		p.must(p.m.EndConversation(""))
		p.ended(nil)
	})
}
