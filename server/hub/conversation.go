package hub

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/session"
)

// Info is what the list shows of a conversation.
type Info struct {
	ID        string     `json:"id"`
	Agent     string     `json:"agent"`
	Transport string     `json:"transport"`
	Phase     conv.Phase `json:"phase"`
	State     string     `json:"state"` // of the view agent-voice
	Label     string     `json:"label"` // its name for people
	Started   time.Time  `json:"started"`
	Ended     time.Time  `json:"ended,omitzero"`
	Reason    string     `json:"reason,omitempty"` // why it ended
	Turns     int        `json:"turns"`            // that have ended, of both sides

	Owner string `json:"-"`
}

// Past is a transition that was.
type Past struct {
	conv.Transition
	DurationMS float64 `json:"duration_ms"` // in the phase before
}

// Details is all that there is to know of a conversation, but its words.
type Details struct {
	Info
	Snapshot    session.Snapshot `json:"snapshot"`
	Transitions []Past           `json:"transitions"` // the last 20
	Timings     []Timing         `json:"timings"`     // of the last answers
	Metrics     Metrics          `json:"metrics"`
}

// transitionsKept is CON-003 of seed 000.
const transitionsKept = 20

// Conversation is a session that the hub runs. Its methods may be called from
// any goroutine.
type Conversation struct {
	id, agent, transport, owner string
	started                     time.Time

	hub    *Hub
	feed   *feed
	trace  *traceLog // nil: privacy forbids it
	cancel context.CancelFunc
	shown  bool          // it runs and has a session; guarded by the hub's mu
	begun  chan struct{} // closed with the first step
	done   chan struct{} // closed behind the last
	err    error         // that ended it; set before done is closed
	size   int           // bytes of its trace and messages, likewise
	caller string        // who holds it, if that is known
	over   func(id string, ended bool)
	lost   atomic.Bool // it is another process's
	taken  atomic.Bool // a prepared one is held, or was given up

	// Of the loop's goroutine.
	captions    captions
	transcripts transcripts
	tasks       tasks
	reason      string
	stepped     bool
	since       time.Time // when the state of the view amplifier was entered; zero: not known

	looking sync.Mutex // orders what the leg is told of who is there

	// What runs it. Both are gone when it has ended: they are most of its memory, and
	// what is remembered of it needs neither.
	session atomic.Pointer[session.Session]
	leg     atomic.Pointer[port.Leg]

	mu          sync.Mutex       // guards all below
	last        session.Snapshot // when it ended
	figures     figures
	transitions []Past
	info        Info
}

func newConversation(h *Hub, id string, call Call) *Conversation {
	c := &Conversation{
		id: id, agent: call.Agent, transport: call.Transport, owner: call.Owner, started: time.Now(),
		caller: call.Caller, over: call.Over, hub: h, feed: newFeed(h.o.Events, h.o.Steps),
		begun: make(chan struct{}), done: make(chan struct{}),
	}
	c.leg.Store(&call.Leg)
	c.feed.discreet, c.feed.streamed = call.Privacy == conv.PrivacyNone, c.look
	if !call.Started.IsZero() {
		c.started = call.Started
	}
	if call.Privacy != conv.PrivacyNone {
		c.trace = &traceLog{bound: h.o.TraceBytes, each: c.stepLine}
	}
	c.info = Info{
		ID: c.id, Agent: c.agent, Transport: c.transport, Owner: c.owner, Started: c.started,
		State: conv.AgentVoiceIdle.String(),
	}
	return c
}

// Recorder takes the trace, for [session.Options].Trace with TraceLive. It is nil
// where privacy forbids one.
func (c *Conversation) Recorder() io.Writer {
	if c.trace == nil {
		return nil
	}
	return c.trace
}

// attach takes the session, and tells that there is a conversation.
func (c *Conversation) attach(s *session.Session, cancel context.CancelFunc) {
	c.session.Store(s)
	c.cancel = cancel
	c.mu.Lock()
	c.info.Label = s.State().Label
	info := c.info
	c.mu.Unlock()
	s.OnStateChanged(c.changed)
	s.OnTurnEvent(c.turn)
	s.OnStep(c.step)
	h := c.hub
	h.show(c)
	h.o.Log.Info("conversation started", "conversation", c.id, "agent", c.agent, "transport", c.transport, "owner", c.owner)
	if h.o.Watch != nil {
		h.o.Watch.Started(info)
	}
	h.tell(TypeStarted, info)
}

// run holds the conversation to its end.
func (c *Conversation) run(ctx context.Context) error {
	s, leg := c.session.Load(), c.Leg()
	err := s.Run(ctx)
	if errors.Is(err, context.Canceled) && c.lost.Load() {
		err = port.ErrFenced
	}
	err = errors.Join(err, closeLeg(leg))
	c.mu.Lock()
	c.info.Ended = time.Now()
	c.last = s.State()
	c.info.Phase, c.info.State, c.info.Label = conv.Idle, conv.AgentVoiceIdle.String(), c.last.Label
	c.info.Reason = c.reason
	switch {
	case errors.Is(err, context.Canceled):
		c.info.Reason = "shutdown"
	case errors.Is(err, port.ErrFenced):
		c.info.Reason = "moved"
	case err != nil:
		c.info.Reason = "error"
	}
	info := c.info
	c.mu.Unlock()
	log := c.hub.o.Log.With("conversation", c.id, "agent", c.agent, "transport", c.transport)
	if err != nil && !errors.Is(err, context.Canceled) {
		log.Error("conversation failed", "error", err)
	}
	if line, ok := leg.(slog.LogValuer); ok { // what the network did
		log = log.With("line", line)
	}
	log.Info("conversation ended", "reason", info.Reason, "turns", info.Turns, "seconds", info.Ended.Sub(info.Started).Seconds())
	c.gone(err == nil)
	c.feed.end()
	c.size = c.feed.size()
	if c.trace != nil {
		c.size += c.trace.held()
	}
	c.err = err
	close(c.done)
	c.session.Store(nil)
	c.leg.Store(nil)
	c.captions, c.transcripts, c.tasks = captions{}, transcripts{}, tasks{}
	c.hub.retire(c, info)
	return err
}

// gone tells who asked for the conversation that it does not run here any more.
func (c *Conversation) gone(ended bool) {
	if c.over != nil {
		c.over(c.id, ended)
	}
}

// Behind tells the person that what is said is not kept at the moment, or that it is
// again: for [session.Checkpoints].
func (c *Conversation) Behind(err error) {
	code, level := "store.behind", conv.LevelWarning
	if err == nil {
		code, level = "store.caught_up", conv.LevelInfo
	}
	if s := c.session.Load(); s != nil {
		c.say(time.Now(), TypeNotification, Notification{Message: s.Words(code), Code: code, Level: level})
	}
}

// Kept waits until the conversation can go on in another process; one that has ended
// cannot.
func (c *Conversation) Kept(ctx context.Context) bool {
	s := c.session.Load()
	return s != nil && s.Kept(ctx)
}

// ID is the conversation's id.
func (c *Conversation) ID() string { return c.id }

// Owner is who it belongs to.
func (c *Conversation) Owner() string { return c.owner }

// Caller is who holds it, if that is known.
func (c *Conversation) Caller() string { return c.caller }

// Agent is the name of its agent.
func (c *Conversation) Agent() string { return c.agent }

// Transport is how the person is connected.
func (c *Conversation) Transport() string { return c.transport }

// Started is when it began.
func (c *Conversation) Started() time.Time { return c.started }

// Leg is its connection to the person; nil when it has ended.
func (c *Conversation) Leg() port.Leg {
	if leg := c.leg.Load(); leg != nil {
		return *leg
	}
	return nil
}

// Done is closed when it has ended.
func (c *Conversation) Done() <-chan struct{} { return c.done }

// Over reports whether it has ended.
func (c *Conversation) Over() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

func (c *Conversation) endedAt() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.info.Ended
}

// Info is what the list shows.
func (c *Conversation) Info() Info {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.info
}

// Details is the state at this moment, and what led to it.
func (c *Conversation) Details() Details {
	s := c.session.Load()
	c.mu.Lock()
	defer c.mu.Unlock()
	snapshot := c.last
	if s != nil {
		snapshot = s.State()
	}
	return Details{
		Info: c.info, Snapshot: snapshot, Metrics: c.figures.m,
		Transitions: append([]Past{}, c.transitions...), // never null
		Timings:     append([]Timing{}, c.figures.timings...),
	}
}

// Stream follows the messages.
func (c *Conversation) Stream(o StreamOptions) (*Stream, error) {
	return c.feed.stream(o, c.hub.o.Streams)
}

// Trace is the trace so far; ok is false where privacy forbids one.
func (c *Conversation) Trace() (t Trace, ok bool) {
	if c.trace == nil {
		return Trace{}, false
	}
	return c.trace.trace(), true
}

// at is a time on the conversation's clock, as messages have it.
func (c *Conversation) at(t time.Time) float64 {
	return max(0, float64(t.Sub(c.started).Microseconds())/1000)
}

func (c *Conversation) say(at time.Time, what string, payload any) {
	c.tell(Message{
		Type: what, At: c.at(at), Payload: encode(payload), words: what == TypeTranscript || what == TypeCaption || what == TypeTask,
	})
}

// changed publishes a change of phase, or of a view alone.
func (c *Conversation) changed(s session.StateChanged) {
	t := s.Transition
	if t.From == t.To {
		c.tellChange(s)
		return
	}
	if t.To == conv.Terminating {
		c.reason = t.Cause
	}
	c.mu.Lock()
	if len(c.transitions) == transitionsKept {
		c.transitions = append(c.transitions[:0], c.transitions[1:]...)
	}
	c.transitions = append(c.transitions, Past{Transition: t, DurationMS: journal.Millis(s.In)})
	c.info.Phase, c.info.State, c.info.Label = t.To, t.Views.AgentVoice.String(), s.Label
	info := c.info
	c.mu.Unlock()
	c.tellChange(s)
	c.hub.tell(TypeUpdated, info)
}

// tellChange publishes what the seeds say of a change of phase or of a view.
func (c *Conversation) tellChange(s session.StateChanged) {
	t, now := s.Transition, c.session.Load().State()
	from, to := s.From.Amplifier.String(), s.To.Amplifier.String()
	if c.since.IsZero() {
		c.since = t.At.Add(-s.In)
	}
	in := t.At.Sub(c.since) // the state of the seed, which may have been several phases
	if from != to {
		c.since = t.At
		c.say(t.At, TypeExit, Exit{State: from, Duration: journal.Millis(in)})
	}
	m := Transition{
		From: from, To: to, Event: t.Event, Cause: t.Cause, Label: s.Label, Turn: t.Turn,
		DurationMS: journal.Millis(s.In), Views: t.Views,
	}
	m.Phase.From, m.Phase.To = t.From, t.To
	c.say(t.At, TypeTransition, m)
	if timedOut(t) {
		c.say(t.At, TypeTimeout, Timeout{State: from, Duration: journal.Millis(in), Limit: t.Cause})
	}
	if from != to {
		c.say(t.At, TypeEnter, Enter{State: to, Context: EnterContext{
			Phase: t.To, PreviousState: from, Turn: t.Turn, PendingTools: now.Tools, LastError: now.LastError, RetryCount: now.Retries,
		}})
	}
	if t.From != t.To && (t.From == conv.Faulted || t.From == conv.Reconnecting) {
		c.say(t.At, TypeRecovery, Recovery{From: from, Success: t.To.Active()})
	}
	if s.From.AgentVoice != s.To.AgentVoice {
		c.say(t.At, TypeState, StatePayload{
			State: s.To.AgentVoice.String(), LocalizedLabel: s.Label, TurnID: named("turn-", t.Turn), Since: t.At,
			Metadata: StateMetadata{
				CopilotRequestID: named("request-", now.Request), InterruptionCount: s.Turn.Interruptions, Reason: t.Cause,
				TranscriptID: s.Turn.UserUtteranceID, PendingActions: now.Pending, RetryCount: now.Retries,
			},
		})
	}
}

// turn publishes the beginning or the end of a turn.
func (c *Conversation) turn(t session.TurnEvent) {
	if t.Type != conv.TurnStarted {
		c.mu.Lock()
		c.info.Turns++
		c.mu.Unlock()
	}
	c.say(t.At, TypeTurn, TurnPayload{
		Event: t.Type, TurnID: *named("turn-", t.Turn), Role: role(t.Role), DurationMS: journal.Millis(t.Duration), Confidence: t.Confidence,
	})
}

// step publishes what a step says beside changes of phase and turns.
func (c *Conversation) step(s session.Step) {
	if !c.stepped {
		c.stepped = true
		close(c.begun)
	}
	c.mu.Lock()
	answer := c.figures.step(s)
	c.mu.Unlock()
	for _, t := range c.transcripts.step(s) {
		c.say(s.Now, TypeTranscript, t)
	}
	for _, one := range c.captions.step(s) {
		c.say(s.Now, TypeCaption, one)
	}
	for _, k := range c.tasks.step(s) {
		c.say(s.Now, TypeTask, k)
	}
	for _, e := range s.Output.Effects {
		switch e := e.(type) {
		case conv.Notify:
			c.notify(s, e.Code, e.Level)
		case conv.Reject:
			c.notify(s, e.Code, conv.LevelWarning)
		case conv.Cue:
			c.say(s.Now, TypeNotification, Notification{Message: e.Text, Code: e.Code, Level: conv.LevelInfo})
		default:
			// It concerns the driver alone.
		}
	}
	if c.hub.o.Watch != nil {
		c.hub.o.Watch.Stepped(c, s, answer)
	}
}

func (c *Conversation) notify(s session.Step, code string, level conv.NotifyLevel) {
	message := c.session.Load().Words(code)
	c.say(s.Now, TypeNotification, Notification{Message: message, Code: code, Level: level})
	if level == conv.LevelError {
		views := s.State.Views()
		c.say(s.Now, TypeError, Problem{State: views.Amplifier.String(), Error: ProblemError{Code: code, Message: message}})
	}
}

// timedOut reports whether a limit that passed made a transition.
func timedOut(t conv.Transition) bool {
	switch t.Cause {
	case "max_duration", "no_transcript", "no_endpoint":
		return true
	default:
		return strings.HasSuffix(t.Cause, ".timeout")
	}
}
