package realtime_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/nettest"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/provider/realtime"
	"github.com/hocketvoice/hocket/provider/realtime/fake"
	"github.com/hocketvoice/hocket/session"
	"github.com/hocketvoice/hocket/turn"
)

// call is a conversation over the fake, in the time of a bubble.
type call struct {
	t       *testing.T
	leg     *porttest.Leg
	session *session.Session
	server  *fake.Server
	network *nettest.Memory
	trace   bytes.Buffer
	ended   chan error

	mu     sync.Mutex
	steps  []string // "event" and "from>to" of each step
	times  []time.Time
	spoken []string // the finished turns
}

// newCall begins a call.
func newCall(t *testing.T, server *fake.Server, change func(*session.Options, *realtime.Options)) *call {
	t.Helper()
	c := &call{t: t, server: server, ended: make(chan error, 1)}
	c.leg = porttest.NewLeg(porttest.LegOptions{Live: true, Keep: true})
	o := session.Options{ID: "call", Leg: c.leg, Instructions: "Be kind.", Trace: &c.trace}
	o.Conv.DeadAir = turn.DeadAirOptions{Off: true}
	var service *realtime.Service
	service, c.network = serve(t, server, func(r *realtime.Options) {
		if change != nil {
			change(&o, r)
		}
	})
	o.Upstream = service
	s, err := session.New(o)
	if err != nil {
		t.Fatal(err)
	}
	c.session = s
	s.OnStep(func(step session.Step) {
		c.mu.Lock()
		defer c.mu.Unlock()
		words := []string{conv.EventType(step.Event)}
		if step.Output.Late {
			words[0] += " late"
		}
		for _, tr := range step.Output.Transitions {
			words = append(words, tr.From.String()+">"+tr.To.String())
		}
		for _, e := range step.Output.Effects {
			words = append(words, fmt.Sprintf("%T", e))
		}
		c.steps, c.times = append(c.steps, strings.Join(words, " ")), append(c.times, time.Now())
	})
	s.OnSpoken(func(sp session.Spoken) {
		c.mu.Lock()
		defer c.mu.Unlock()
		line := fmt.Sprintf("%s: %s", sp.Role, sp.Text)
		if sp.Unheard != "" {
			line += " [" + sp.Unheard + "]"
		}
		c.spoken = append(c.spoken, line)
	})
	go func() { c.ended <- s.Run(t.Context()) }()
	return c
}

// pass lets time pass.
func (c *call) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// says has the person speak.
func (c *call) says(d time.Duration) { c.leg.Say(porttest.Tone(16000, d)) }

// end ends the call, checks it and replays its trace.
func (c *call) end() {
	c.t.Helper()
	c.leg.HangUp()
	if err := <-c.ended; err != nil {
		c.t.Errorf("Run: %v", err)
	}
	for _, refused := range c.server.Refused() {
		c.t.Errorf("the service was asked for what the protocol does not allow: %s", refused)
	}
	steps, err := journal.Replay(&c.trace, nil)
	if err != nil || steps < 10 {
		c.t.Errorf("the trace replays %d steps, error %v", steps, err)
	}
}

// said fails the test unless the turns were these.
func (c *call) said(want ...string) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !slices.Equal(c.spoken, want) {
		c.t.Errorf("said\n\t%s\nexpected\n\t%s", strings.Join(c.spoken, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// when returns when a step with these words happened first after a time.
func (c *call) when(words string, after time.Time) time.Time {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, s := range c.steps {
		if strings.Contains(s, words) && !c.times[i].Before(after) {
			return c.times[i]
		}
	}
	c.t.Errorf("no step %q", words)
	return time.Time{}
}

// dump shows the steps.
func (c *call) dump() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, s := range c.steps {
		c.t.Logf("%v %s", c.times[i].Format("05.000"), s)
	}
}

// heardWithin reports whether the agent was heard within a time before now.
func (c *call) heardWithin(d time.Duration) bool {
	pcm := c.leg.Heard()
	n := int(audio.PosOf(d, 16000))
	return audio.Peak(pcm[max(0, len(pcm)-n):]) > 0
}

// clock and research are tools, of which the second takes a while.
func tools() *porttest.Tool {
	return &porttest.Tool{
		Known: []port.ToolSpec{
			{Name: "clock", Description: "the time", Schema: []byte(`{"type":"object","properties":{}}`)},
			{Name: "research", Description: "finds out", Long: true, Schema: []byte(`{"type":"object","properties":{}}`)},
		},
		Run: func(ctx context.Context, call port.ToolCall, _ func(string)) (string, error) {
			if call.Name == "research" {
				select {
				case <-time.After(6 * time.Second):
				case <-ctx.Done():
					return "", ctx.Err()
				}
				return "forty two", nil
			}
			return "noon", nil
		},
	}
}

// TestCall holds a conversation over a speech-to-speech service with a tool, delegated work, a
// barge-in, a cut connection and a renewal, and replays it without the service.
func TestCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const story = "Once upon a time there was a king who had three sons and a very large garden with a wall around it."
		server := &fake.Server{
			Key: key, Late: 300 * time.Millisecond, Limit: 4 * time.Minute,
			Heard: []string{"what time is it", "find it out", "tell me a story", "no a short one", "are you there", "and now", "thank you"},
		}
		server.Answer = func(r fake.Request) fake.Answer {
			a := fake.Answer{First: 200 * time.Millisecond, Gap: 30 * time.Millisecond}
			switch last := r.Last(); {
			case r.Aside:
				a.Text = fake.Said(r)
			case last.Output == "noon":
				a.Text = "It is noon."
			case last.Output == "forty two":
				a.Text = "It is forty two."
			case r.Number == 1:
				a.Text, a.Calls = "One moment.", []fake.Call{{ID: "call_clock", Name: "clock", Arguments: "{}"}}
			case r.Number == 3:
				a.Calls = []fake.Call{{ID: "call_research", Name: "research", Arguments: "{}"}}
			case r.Number == 5:
				a.Text = story
			default:
				a.Text = fmt.Sprintf("Answer %d in session %d.", r.Number, r.Session)
			}
			return a
		}
		c := newCall(t, server, func(o *session.Options, _ *realtime.Options) { o.Tools = tools() })
		c.pass(time.Second)

		c.says(time.Second) // what time is it
		c.pass(6 * time.Second)
		c.said("user: what time is it", "agent: One moment. It is noon.")

		c.says(time.Second) // find it out
		c.pass(16 * time.Second)

		c.says(time.Second) // tell me a story
		c.pass(4 * time.Second)
		began := time.Now()
		c.says(time.Second) // no, a short one: over the agent
		c.pass(300 * time.Millisecond)
		c.pass(6 * time.Second)
		interrupted := c.when("speaking>interrupted", began)
		if took := interrupted.Sub(began); took > 800*time.Millisecond {
			t.Errorf("the voice interrupts after %v: expected the 700 ms of sustained speech, and at most 100 ms to notice it", took)
		}
		var kept []string
		for _, it := range server.Items(1) {
			if it.Type == wire.Message && it.Role == "assistant" {
				kept = append(kept, it.Content[0].Words())
			}
		}
		if slices.Contains(kept, story) {
			t.Errorf("the service remembers %q: expected it to forget what was not heard", kept)
		}

		cut := time.Now()
		c.network.Cut()
		c.pass(2 * time.Second)
		if !c.heardWithin(2 * time.Second) {
			t.Error("nothing is heard within 2 s of the cut")
		}
		restored := c.when("reconnecting>listening.ready", cut)
		if took := restored.Sub(cut); took > 2*time.Second {
			t.Errorf("the conversation goes on after %v: expected at most 2 s", took)
		}
		known := known(server.Items(2))
		if len(known) < 6 || known[0] != "what time is it" || !slices.Contains(known, "forty two") {
			t.Errorf("the second session begins with %q: expected what was said before", known)
		}
		c.says(time.Second) // are you there
		c.pass(5 * time.Second)

		// The second session ends 4 minutes after it began. The third takes its place before.
		c.pass(3*time.Minute + 30*time.Second)
		renewed := time.Now()
		c.says(time.Second) // and now
		c.pass(5 * time.Second)
		if n := server.Sessions(); n != 3 {
			t.Errorf("%d sessions: expected 3", n)
		}
		c.pass(30 * time.Second)
		c.says(time.Second) // thank you
		c.pass(5 * time.Second)
		c.mu.Lock()
		for i, s := range c.steps {
			if c.times[i].After(renewed) && (strings.Contains(s, "reconnecting") || strings.Contains(s, "suspended")) {
				t.Errorf("the renewal is noticed: %s", s)
			}
		}
		c.mu.Unlock()
		if t.Failed() {
			c.dump()
		}
		c.said(
			"user: what time is it", "agent: One moment. It is noon.",
			"user: find it out", "agent: It is forty two.",
			"user: tell me a story", "agent: Once upon a time there was a king [who had three sons and a very large garden with a wall around it.]",
			"user: no a short one", "agent: Answer 6 in session 1.",
			"user: are you there", "agent: Answer 7 in session 2.",
			"user: and now", "agent: Answer 8 in session 3.",
			"user: thank you", "agent: Answer 9 in session 3.",
		)
		c.end()
	})
}
