//go:build flite && pocketsphinx && cgo

package app

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/leg/file"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/session"
)

// errand is an agent with a slow delegate, which it announces.
const errand = `version: "1.0"
settings:
  language: en
  greeting: "Good morning."
actions:
  research:
    description: looks at the timetable
    outputs: [summary]
    command: {name: researcher, outputs: {summary: summary}}
flows:
  look_up:
    description: look at the timetable
    trigger:
      intents: ["find a train", "find me a train", "I need a train"]
    steps:
      - {step: announce, type: say, message: "One moment. I will look at the timetable for you, and that may take a little while."}
      - {step: read, type: action, call: research}
      - {step: tell, type: say, message: "{summary}"}
  hours:
    description: when the office is open
    trigger:
      intents: ["are you open", "are you open today", "when are you open"]
    steps:
      - {step: tell, type: say, message: "The office is open from nine to five."}
`

const (
	announced = "One moment. I will look at the timetable for you, and that may take a little while."
	found     = "Your train leaves at noon."
	hours     = "The office is open from nine to five."
	calledOff = "All right, I've stopped that."
)

// cue is what the caller says when a condition holds; without a text the caller hangs up.
type cue struct {
	when func(porttest.Moment) bool
	text string
}

// frames returns a time in frames.
func frames(d time.Duration) int { return int(d / audio.FrameDuration) }

// answering reports whether the agent has finished and listens.
func answering(m porttest.Moment) bool {
	return m.State == "listening.ready" && m.Quiet > frames(800*time.Millisecond)
}

// working returns the condition that the delegate works and the announcement ended some time
// ago.
func working(after time.Duration) func(porttest.Moment) bool {
	announced := false
	return func(m porttest.Moment) bool {
		works := m.State == "processing.delegated"
		announced = announced || works && m.Agent > 0
		return works && announced && m.Quiet > frames(after)
	}
}

// over returns the condition that the announcement of the delegate's work has been heard for some
// time.
func over(after time.Duration) func(porttest.Moment) bool {
	n := 0
	return func(m porttest.Moment) bool {
		if m.State == "processing.delegated" && m.Agent > 0 {
			n++
		}
		return n > frames(after)
	}
}

// errandCall is a call with the agent and its result.
type errandCall struct {
	options session.Options
	cues    []cue

	mu    sync.Mutex // guards shown
	shown []string   // to the caller, beside the sound

	settled atomic.Bool // a task: its result was told

	// Of the session's loop.
	items   []conv.Item
	effects []conv.Effect
	phases  []string
}

// hold holds the call, at the pace of the clock.
func (c *errandCall) hold(t *testing.T, tool port.Tool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "errand.yaml")
	if err := os.WriteFile(path, []byte(errand), 0o600); err != nil {
		t.Fatal(err)
	}
	agent, err := settings.LoadAgent(path)
	if err != nil {
		t.Fatal(err)
	}
	opts, err := agentOptions(agent, "")
	if err != nil {
		t.Fatal(err)
	}
	speech, err := NewSpeech(opts.Speech)
	if err != nil {
		t.Skip(err)
	}
	defer func() {
		if err := speech.Close(); err != nil {
			t.Error(err)
		}
	}()
	o := &c.options
	o.Conv, o.AgentFiles, o.Tools = opts.Conversation, agent.Files, tool
	o.Conv.Agent = agent.Agent
	o.Recognizer, o.Synthesizer, o.Detector = speech.Recognizer, speech.Synthesizer, speech.Detector
	o.Turn, o.Onset, o.Stability = opts.Turn, opts.Onset, opts.Stability
	o.Leg = c.leg(t, speech.Synthesizer)
	s, err := session.New(*o)
	if err != nil {
		t.Fatal(err)
	}
	s.OnStep(c.watch)
	if err := s.Run(t.Context()); err != nil {
		t.Errorf("the call ended with: %v", err)
	}
	if len(c.cues) > 0 {
		t.Errorf("the moment never came for %q", c.cues[0].text)
	}
}

// leg returns the caller's end of the call.
func (c *errandCall) leg(t *testing.T, voice port.Synthesizer) port.Leg {
	t.Helper()
	sounds := make(map[string][]int16)
	for _, cue := range c.cues {
		if cue.text == "" {
			continue
		}
		spoken, err := file.Say(t.Context(), voice, callerVoice, cue.text)
		if err != nil {
			t.Fatal(err)
		}
		sounds[cue.text] = spoken[0].PCM
	}
	var left []int16
	return porttest.NewLeg(porttest.LegOptions{
		Rate: callRate, Live: true,
		Person: func(m porttest.Moment) porttest.Sound {
			if len(left) == 0 && len(c.cues) > 0 && c.cues[0].when(m) {
				left = sounds[c.cues[0].text]
				c.cues = c.cues[1:]
				if len(left) == 0 {
					return porttest.Sound{Err: io.EOF}
				}
			}
			n := min(len(left), audio.FrameSamples(callRate))
			sound := left[:n]
			left = left[n:]
			return porttest.Sound{PCM: sound}
		},
		OnNotice: func(n port.Notice) {
			if n.Type == "cue" {
				c.mu.Lock()
				c.shown = append(c.shown, n.Code)
				c.mu.Unlock()
			}
		},
	})
}

// watch records what the test checks, on the session's loop.
func (c *errandCall) watch(s session.Step) {
	for _, tr := range s.Output.Transitions {
		c.phases = append(c.phases, tr.To.String())
	}
	c.effects = append(c.effects, s.Output.Effects...)
	if c.count("settle_task") > 0 {
		c.settled.Store(true)
	}
	for _, it := range s.State.History {
		i := slices.IndexFunc(c.items, func(o conv.Item) bool {
			return o.Turn == it.Turn && o.Role == it.Role && o.Part == it.Part && o.CallID == it.CallID
		})
		if i < 0 {
			c.items = append(c.items, it)
			continue
		}
		c.items[i] = it
	}
}

// told returns the conversation: what the caller has heard, and what the agent has
// understood.
func (c *errandCall) told() string {
	var b strings.Builder
	for _, it := range c.items {
		if it.Role != conv.RoleTool {
			fmt.Fprintf(&b, "%s: %s\n", it.Role, it.Text)
		}
	}
	return b.String()
}

// wantInOrder checks that texts were said in this order.
func (c *errandCall) wantInOrder(t *testing.T, texts ...string) {
	t.Helper()
	rest := c.told()
	for _, text := range texts {
		_, after, ok := strings.Cut(rest, text)
		if !ok {
			t.Errorf("%q was not said, or not in its place:\n%s%v", text, c.told(), c.phases)
			return
		}
		rest = after
	}
}

// never checks that a text was not said.
func (c *errandCall) never(t *testing.T, text string) {
	t.Helper()
	if strings.Contains(c.told(), text) {
		t.Errorf("%q was said:\n%s", text, c.told())
	}
}

// count returns the number of effects of a type.
func (c *errandCall) count(kind string) int {
	n := 0
	for _, e := range c.effects {
		if conv.EffectType(e) == kind {
			n++
		}
	}
	return n
}
