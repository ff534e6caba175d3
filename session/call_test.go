package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ms = time.Millisecond

var start = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// pass lets time go by on the fake clock of a bubble of testing/synctest: outside
// one it would wait.
func pass(d time.Duration) { <-time.After(d) }

// plan is a call to be held: the agent, the person, and what goes wrong.
type plan struct {
	conv    conv.Options
	texts   []string // what the person's utterances say
	lines   []line   // when the person speaks, in order
	replies []string // the mind's answers, in order; the last one for all further
	think   int      // frames before each answer; 25 if zero

	leg   porttest.LegOptions
	ack   bool // the carrier reports what it has played
	rec   func(*porttest.Recognizer)
	synth func(*porttest.Synthesizer)
	parts func(*Options) // before the session is made
	setup func(*call)    // before the call runs
	each  func(c *call, frame int)
	trace io.Writer // beside the call's own
	watch bool      // the trace has the turn controller's frames too
	stay  bool      // the person does not hang up
}

// line is one thing that the person says: for so long, when its moment has come.
type line struct {
	when func(porttest.Moment) bool
	for_ time.Duration
}

// answers: the agent waits, and has been silent for 600 ms.
func answers(m porttest.Moment) bool { return m.State == "listening.ready" && m.Quiet >= 30 }

// over: the agent has been heard for so many frames.
func over(frames int) func(porttest.Moment) bool {
	return func(m porttest.Moment) bool { return m.Agent >= frames }
}

// in: the call is in a phase.
func in(phase string) func(porttest.Moment) bool {
	return func(m porttest.Moment) bool { return m.State == phase }
}

// call is a plan carried out.
type call struct {
	t     testing.TB
	p     plan
	s     *Session
	leg   *porttest.Leg
	rec   *porttest.Recognizer
	trace bytes.Buffer
	live  bool // on the clock, with the goroutines of Run
	err   error

	mu sync.Mutex // guards all below

	// The person.
	next  int
	left  int // frames of the line being said
	sound []int16

	// The mind.
	frame    int
	due      []dueFact
	requests int
	asked    []string // their texts
	cancels  []int    // turns

	// What happened.
	now      time.Time // of the last step
	log      []string  // phases entered, with their causes
	late     int
	effects  []string
	events   []string
	problems []string
	turns    map[string]int
	history  []conv.Item
	flushed  []conv.PlayoutFlushed
	spoke    []bool // frame by frame: the agent was heard
	marks    []mark
}

// mark is a step's fact at a frame.
type mark struct {
	frame int
	what  string
}

type dueFact struct {
	frame  int
	events []conv.Event
}

// hold carries a plan out in virtual time and checks what holds for every call.
func hold(t testing.TB, p plan) *call {
	t.Helper()
	return holdFor(t.Context(), t, p)
}

func holdFor(ctx context.Context, t testing.TB, p plan) *call {
	t.Helper()
	c := newCall(t, p)
	c.err = c.s.RunVirtual(ctx, start)
	c.check()
	return c
}

// newCall wires a plan.
func newCall(t testing.TB, p plan) *call {
	t.Helper()
	c := &call{t: t, p: p, sound: porttest.Tone(16000, 20*ms), turns: make(map[string]int)}
	lo := p.leg
	if lo.Person == nil {
		lo.Person = c.person
	}
	onWrite := lo.OnWrite
	lo.OnWrite = func(ctx context.Context, n int, f audio.Frame) error {
		if onWrite != nil {
			if err := onWrite(ctx, n, f); err != nil {
				return err
			}
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.spoke = append(c.spoke, audio.Peak(f.PCM) > 0)
		return nil
	}
	lo.OnNotice = func(n port.Notice) { // on the loop's goroutine
		if now := c.s.conv.Phase().String(); n.Type == "state" && n.State != now {
			t.Errorf("the leg is told %s in %s", n.State, now)
		}
	}
	c.leg = porttest.NewLeg(lo)
	c.rec = &porttest.Recognizer{Texts: p.texts}
	if p.rec != nil {
		p.rec(c.rec)
	}
	synth := &porttest.Synthesizer{}
	if p.synth != nil {
		p.synth(synth)
	}
	o := Options{ID: "test", Conv: p.conv, Leg: c.leg, Recognizer: c.rec, Synthesizer: synth, Trace: &c.trace}
	o.TraceFeatures = p.watch
	if p.trace != nil {
		o.Trace = io.MultiWriter(&c.trace, p.trace)
	}
	if p.ack {
		o.Leg = &porttest.AckLeg{Leg: c.leg, Behind: 3200}
	}
	if p.parts != nil {
		p.parts(&o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	c.s = s
	perform := s.Machine.o.Perform
	s.Machine.o.Perform = func(l *Loop, e conv.Effect) {
		if !c.mind(e) {
			perform(l, e)
		}
	}
	s.OnStep(c.note)
	s.OnError(func(p Problem) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.problems = append(c.problems, p.Code)
	})
	if p.setup != nil {
		p.setup(c)
	}
	// Whatever becomes of the call: its trace replays.
	t.Cleanup(c.replay)
	return c
}

// person is the leg's far end.
func (c *call) person(m porttest.Moment) porttest.Sound {
	c.rec.Tick()
	c.mu.Lock()
	c.frame = m.N
	events := c.dueNow()
	c.mu.Unlock()
	for _, ev := range events {
		c.s.postFact(ev)
	}
	if c.p.each != nil {
		c.p.each(c, m.N)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left == 0 && c.next < len(c.p.lines) && c.p.lines[c.next].when(m) {
		c.left = int(c.p.lines[c.next].for_ / audio.FrameDuration)
		c.next++
		c.marks = append(c.marks, mark{len(c.spoke), "says"})
	}
	if c.left > 0 {
		c.left--
		return porttest.Sound{PCM: c.sound}
	}
	if !c.p.stay && c.next == len(c.p.lines) && m.State == "listening.ready" && m.Quiet >= 75 {
		return porttest.Sound{Err: io.EOF}
	}
	return porttest.Sound{}
}

// mind answers requests, after a while.
func (c *call) mind(e conv.Effect) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e := e.(type) {
	case conv.RequestReply:
		n := min(c.requests, len(c.p.replies)-1)
		c.requests++
		c.asked = append(c.asked, e.Text)
		think := c.p.think
		if think == 0 {
			think = 25
		}
		if n >= 0 {
			c.later(think, conv.ReplyDone{Turn: e.Turn, Request: e.Request, Text: c.p.replies[n]})
		}
		return true
	case conv.CancelTurn:
		c.cancels = append(c.cancels, e.Turn)
	}
	return false
}

// after posts facts so many frames from now.
func (c *call) after(frames int, events ...conv.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.later(frames, events...)
}

func (c *call) later(frames int, events ...conv.Event) {
	c.due = append(c.due, dueFact{c.frame + frames, events})
}

// dueNow takes the facts whose frame has come.
func (c *call) dueNow() (events []conv.Event) {
	c.due = slices.DeleteFunc(c.due, func(d dueFact) bool {
		if d.frame > c.frame {
			return false
		}
		events = append(events, d.events...)
		return true
	})
	return events
}

// note keeps what a step did.
func (c *call) note(s Step) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.Now.Before(c.now) {
		c.t.Errorf("%s is stepped at %v, after %v", conv.EventType(s.Event), s.Now, c.now)
	}
	c.now = s.Now
	c.events = append(c.events, conv.EventType(s.Event))
	for _, t := range s.Output.Transitions {
		c.log = append(c.log, t.To.String()+" "+string(t.Cause))
		c.marks = append(c.marks, mark{len(c.spoke), t.To.String()})
	}
	for _, e := range s.Output.Effects {
		c.effects = append(c.effects, conv.EffectType(e))
	}
	for _, t := range s.Output.Turns {
		c.turns[fmt.Sprintf("%d %s", t.Turn, t.Type)]++
	}
	if s.Output.Late {
		c.late++
	}
	if f, ok := s.Event.(conv.PlayoutFlushed); ok {
		c.flushed = append(c.flushed, f)
	}
	if conv.EventType(s.Event) == "playout.started" {
		c.marks = append(c.marks, mark{len(c.spoke) - 1, "playout.started"}) // told behind its first frame
	}
	if s.State.Phase != conv.Idle {
		c.history = append([]conv.Item(nil), s.State.History...)
	}
}

// check are the rules that hold for every call, whatever happened in it.
func (c *call) check() {
	c.t.Helper()
	if n := c.rec.OpenStreams(); n != 0 {
		c.t.Errorf("%d recognizer streams were never closed", n)
	}
	for number := 1; ; number++ {
		if c.turns[fmt.Sprintf("%d turn-started", number)] == 0 {
			break
		}
		ends := 0
		for _, how := range []conv.TurnEventType{conv.TurnCompleted, conv.TurnInterrupted, conv.TurnAbandoned, conv.TurnFailed} {
			ends += c.turns[fmt.Sprintf("%d %s", number, how)]
		}
		if ends != 1 && (c.err == nil || ends > 1) {
			c.t.Errorf("turn %d has %d ends: %v", number, ends, c.turns)
		}
	}
	c.checkSilence()
}

// checkSilence: after an interruption nothing but the fade-out is heard until
// the next playout begins.
func (c *call) checkSilence() {
	c.t.Helper()
	for i, m := range c.marks {
		if m.what != "interrupted" {
			continue
		}
		until := len(c.spoke)
		for _, n := range c.marks[i:] {
			if n.what == "playout.started" {
				until = n.frame
				break
			}
		}
		heard := 0
		for _, spoke := range c.spoke[min(m.frame, until):until] {
			if spoke {
				heard++
			}
		}
		most := 1 // the fade-out
		if c.live {
			most = 2 // and one that the pacer has in its hands
		}
		if heard > most {
			c.t.Errorf("%d frames of the agent leave after the interruption in frame %d", heard, m.frame)
		}
	}
}

// replay steps the trace again: it does the same, bit for bit.
func (c *call) replay() {
	c.t.Helper()
	if c.trace.Len() == 0 || errors.Is(c.err, errTrace) {
		return // it was never opened, or breaks off where the disk was full
	}
	if n, err := journal.Replay(bytes.NewReader(c.trace.Bytes()), nil); err != nil || n != len(c.events) {
		c.t.Errorf("the replay of %d steps made %d: %v", len(c.events), n, err)
	}
}

// wantPhases checks that the phases were entered in this order; others may lie
// between. A name may be followed by its cause.
func (c *call) wantPhases(phases ...string) {
	c.t.Helper()
	i := 0
	for _, want := range phases {
		for i < len(c.log) && c.log[i] != want && strings.Fields(c.log[i])[0] != want {
			i++
		}
		if i == len(c.log) {
			c.t.Errorf("%q does not come in its place; want %q in\n%s", want, phases, strings.Join(c.log, "\n"))
			return
		}
		i++
	}
}

// never checks that a phase was not entered.
func (c *call) never(phase string) {
	c.t.Helper()
	if c.count(phase) > 0 {
		c.t.Errorf("%s was entered:\n%s", phase, strings.Join(c.log, "\n"))
	}
}

// count is how often a phase was entered.
func (c *call) count(phase string) (n int) {
	for _, l := range c.log {
		if strings.Fields(l)[0] == phase {
			n++
		}
	}
	return n
}

// effectCount is how often an effect was carried out.
func (c *call) effectCount(name string) (n int) {
	for _, e := range c.effects {
		if e == name {
			n++
		}
	}
	return n
}

// said are the words of one side in the history.
func (c *call) said(role conv.Role) (texts []string) {
	for _, it := range c.history {
		if it.Role == role {
			texts = append(texts, it.Text)
		}
	}
	return texts
}

func (c *call) wantSaid(role conv.Role, texts ...string) {
	c.t.Helper()
	if got := c.said(role); !slices.Equal(got, texts) {
		c.t.Errorf("the %s said %q, want %q\n%s", role, got, texts, strings.Join(c.log, "\n"))
	}
}

// ok checks that the call came to its end.
func (c *call) ok() {
	c.t.Helper()
	if c.err != nil {
		c.t.Errorf("the call ended with %v", c.err)
	}
	c.wantPhases("terminating", "idle")
}

var errTrace = errors.New("the disk is full")
