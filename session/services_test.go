package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port/errclass"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/turn"
)

// mindful has a mind that does what f says for the n-th request, from 1.
func mindful(p plan, f func(c *call, n int, e conv.RequestReply)) plan {
	setup := p.setup
	p.setup = func(c *call) {
		if setup != nil {
			setup(c)
		}
		perform := c.s.Machine.o.Perform
		c.s.Machine.o.Perform = func(l *Loop, e conv.Effect) {
			if r, ok := e.(conv.RequestReply); ok {
				c.requests++
				f(c, c.requests, r)
				return
			}
			perform(l, e)
		}
	}
	return p
}

// says answers a request after half a second.
func (c *call) says(e conv.RequestReply, text string) {
	c.after(25, conv.ReplyDone{Turn: e.Turn, Request: e.Request, Text: text})
}

// asks is a call with two questions.
func asks() plan {
	return plan{
		texts: []string{"book a flight to boston", "are you there"},
		lines: []line{{answers, 1200 * ms}, {answers, 800 * ms}},
	}
}

var mindScenarios = []scenario{
	{"a mind that never answers the first question", func() plan {
		return mindful(asks(), func(c *call, _ int, e conv.RequestReply) {
			if strings.HasPrefix(e.Text, "are you") {
				c.says(e, "Here I am.")
			}
		})
	}, func(c *call) {
		// It is asked again, twice in its 30 s; then the call goes on without the answer.
		c.wantPhases("processing.understanding", "listening.ready reply.timeout", "listening.capturing", "speaking", "listening.ready")
		c.never("faulted")
		c.wantSaid(conv.RoleUser, "book a flight to boston", "are you there")
		c.wantSaid(conv.RoleAgent, "Here I am.")
		if c.requests != 3+1 {
			c.t.Errorf("%d requests, want 4", c.requests)
		}
	}},
	{"a mind that fails and is asked again", func() plan {
		return mindful(asks(), func(c *call, n int, e conv.RequestReply) {
			if n == 1 {
				c.after(5, conv.ReplyFailed{Turn: e.Turn, Request: e.Request, Code: errclass.ServerError, Message: "502"})
				return
			}
			c.says(e, "Done.")
		})
	}, func(c *call) {
		c.never("faulted")
		c.wantSaid(conv.RoleAgent, "Done.", "Done.")
		if c.requests != 3 {
			c.t.Errorf("%d requests, want the first one twice and another", c.requests)
		}
	}},
	{"a mind that fails in the middle of its answer", func() plan {
		return mindful(asks(), func(c *call, n int, e conv.RequestReply) {
			if n == 1 {
				c.after(10, conv.ReplyDelta{Turn: e.Turn, Request: e.Request, Text: "I can do that for you. And"})
				c.after(40, conv.ReplyFailed{Turn: e.Turn, Request: e.Request, Code: errclass.ServerError})
				return
			}
			c.says(e, "Yes.")
		})
	}, func(c *call) {
		// What was said cannot be taken back and is not said twice.
		c.never("faulted")
		if said := c.said(conv.RoleAgent); len(said) != 2 || !strings.HasPrefix(said[0], "I can do that for you.") || said[1] != "Yes." {
			c.t.Errorf("the agent said %q", said)
		}
	}},
	{"a mind that hangs in the middle of its answer", func() plan {
		return mindful(asks(), func(c *call, n int, e conv.RequestReply) {
			if n == 1 {
				c.after(10, conv.ReplyDelta{Turn: e.Turn, Request: e.Request, Text: "Let me"})
				return
			}
			c.says(e, "Yes.")
		})
	}, func(c *call) {
		c.wantPhases("processing.generating", "faulted reply.stalled", "preparing", "listening.ready", "listening.capturing", "speaking")
	}},
	{"a mind that answers when its turn is over", func() plan {
		p := interrupted(turn.BargeInOptions{Policy: turn.BargeInEnergy}, 50, 900*ms, "no in the evening")
		return mindful(p, func(c *call, n int, e conv.RequestReply) {
			if n == 1 {
				c.after(10, conv.ReplyDelta{Turn: e.Turn, Request: e.Request, Text: answer + " "})
				c.after(110, conv.ReplyDelta{Turn: e.Turn, Request: e.Request, Text: "And the return flight?"},
					conv.ReplyDone{Turn: e.Turn, Request: e.Request})
				return
			}
			c.says(e, "All right.")
		})
	}, func(c *call) {
		if c.late == 0 {
			c.t.Error("the rest of the answer was not late")
		}
		if said := c.said(conv.RoleAgent); len(said) != 2 || strings.Contains(said[0], "return") || said[1] != "All right." {
			c.t.Errorf("the agent said %q", said)
		}
	}},
}

func TestMinds(t *testing.T) {
	for _, sc := range mindScenarios {
		t.Run(sc.name, func(t *testing.T) {
			c := hold(t, sc.plan())
			c.ok()
			sc.want(c)
		})
		t.Run(sc.name+", live", func(t *testing.T) {
			live(t, sc.plan(), func(c *call) { c.ok(); sc.want(c) })
		})
	}
}

// Without a mind the person is told so, in every call.
func TestNoMind(t *testing.T) {
	p := asks()
	p.setup = func(c *call) {
		s := c.s
		s.Machine.o.Perform = s.perform // not the test's
	}
	c := hold(t, p)
	c.wantPhases("processing.understanding", "faulted reply.failed")
	if !slices.Contains(c.problems, "fault.unknown") {
		t.Errorf("problems %q", c.problems)
	}
}

// Tools that nobody has fail, each call with one result.
func TestNoTools(t *testing.T) {
	p := mindful(asks(), func(c *call, n int, e conv.RequestReply) {
		switch n {
		case 1:
			c.after(5, conv.ToolCalled{Turn: e.Turn, Request: e.Request, ID: "a", Name: "weather"},
				conv.ToolCalled{Turn: e.Turn, Request: e.Request, ID: "b", Name: "book"},
				conv.ReplyDone{Turn: e.Turn, Request: e.Request})
		default:
			c.says(e, "I cannot.")
		}
	})
	c := hold(t, p)
	c.ok()
	results := map[string]int{}
	for _, it := range c.history {
		if it.Role == conv.RoleTool {
			results[it.CallID]++
			if !it.Failed || !strings.Contains(it.Text, "there is no tool") {
				t.Errorf("result %+v", it)
			}
		}
	}
	if results["a"] != 1 || results["b"] != 1 || len(results) != 2 {
		t.Errorf("results %v, want one for each call", results)
	}
}

// What cannot be closed is told, and hides neither the call's own error nor the
// trace's.
func TestCloseFails(t *testing.T) {
	stuck := errors.New("the engine does not let go")
	for _, where := range []string{"alone", "with the leg", "with the trace"} {
		p := interrupted(turn.BargeInOptions{}, 50, 900*ms, "no in the evening")
		p.rec = func(r *porttest.Recognizer) {
			r.Fail = func(call string, _ int) error {
				if call == "close" {
					return stuck
				}
				return nil
			}
		}
		broken := errors.New("the socket is closed")
		if where == "with the leg" {
			p.leg.OnClear = func(context.Context) error { return broken }
		}
		if where == "with the trace" {
			p.trace = &fullDisk{room: 6000}
		}
		c := hold(t, p)
		if !errors.Is(c.err, stuck) || errors.Is(c.err, broken) != (where == "with the leg") || errors.Is(c.err, errTrace) != (where == "with the trace") {
			t.Errorf("%s: the call ended with %v", where, c.err)
		}
	}
}

// The trace with the turn controller's frames holds each of them, in its place,
// and replays like any other: see newCall.
func TestTraceWithFeatures(t *testing.T) {
	made := func() *call {
		p := interrupted(turn.BargeInOptions{}, 50, 900*ms, "no in the evening")
		p.watch = true
		return hold(t, p)
	}
	c := made()
	c.ok()
	frames, last, speak := 0, 0.0, 0
	for line := range bytes.Lines(c.trace.Bytes()) {
		var f featureLine
		if !bytes.HasPrefix(line, []byte(`{"timestamp_ms":`)) {
			continue
		}
		if err := json.Unmarshal(line, &f); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if f.Timestamp <= last || f.Energy == nil || f.State == "" {
			t.Fatalf("after %v: %s", last, line)
		}
		if f.State == "SPEAK" {
			speak++
		}
		frames, last = frames+1, f.Timestamp
	}
	if frames < 100 || speak == 0 {
		t.Errorf("%d frames in the trace, the floor was the agent's in %d of them", frames, speak)
	}
	if again := made(); !bytes.Equal(again.trace.Bytes(), c.trace.Bytes()) {
		t.Error(difference(again.trace.Bytes(), c.trace.Bytes()))
	}
}

// outcome is what a call came to, without its times: the beat of the clock may
// fall one frame before or behind.
func (c *call) outcome() string {
	var b strings.Builder
	for _, l := range c.log {
		b.WriteString(l + "\n")
	}
	for _, it := range c.history {
		if it.Role == conv.RoleUser || !it.Interrupted && !it.Cut {
			b.WriteString(string(it.Role) + ": " + it.Text + "\n")
		}
	}
	return b.String()
}

// byAFrame are the calls of which a frame more or less makes another.
var byAFrame = []string{
	"an interruption at the very end",
	"a voice before the held reply has sounded",
}

// On the clock a call comes to the same as in virtual time: the same phases for
// the same reasons, the same words said and heard.
func TestLiveIsVirtual(t *testing.T) {
	for _, sc := range slices.Concat(scenarios, mindScenarios) {
		if slices.Contains(byAFrame, sc.name) {
			continue
		}
		t.Run(sc.name, func(t *testing.T) {
			want := hold(t, sc.plan()).outcome()
			live(t, sc.plan(), func(c *call) {
				if got := c.outcome(); got != want {
					t.Errorf("live\n%s\nvirtual\n%s", got, want)
				}
			})
		})
	}
}
