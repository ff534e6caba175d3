package hub

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/conv/view"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/session"
)

// transitionsKept is required by CON-003 of seed 000.
const transitionsKept = 20

// Conversation is a session run by the hub. It is safe for concurrent use.
type Conversation struct {
	id, agent, transport, owner string
	started                     time.Time

	hub      *Hub
	feed     *feed
	trace    *traceLog // nil if privacy forbids a trace
	cancel   context.CancelFunc
	shown    bool              // the conversation runs and has a session; guarded by the hub's mu
	begun    chan struct{}     // closed with the first step
	done     chan struct{}     // closed after the last step
	err      error             // the reason of the end; set before done is closed
	size     int               // bytes of its trace and messages; set before done is closed
	caller   string            // the person, if known
	location *time.Location    // theirs, if known
	served   map[string]string // names of the services
	over     func(id string, ended bool)
	wait     time.Duration // for a client that is gone
	lost     atomic.Bool   // another process has taken it over
	taken    atomic.Bool   // of a prepared conversation: Hold or Forgo was called
	rest     atomic.Bool   // the last step has left it at rest

	// Used by the loop's goroutine only.
	failures    journal.Failures
	captions    captions
	transcripts transcripts
	tasks       tasks
	reason      string
	stepped     bool
	late        bool      // the person was told that sound is late
	since       time.Time // when the view amplifier entered its state; zero if not known

	looking sync.Mutex // serializes the calls of Presence.Present

	// The session and its cancel function. Both are nil after the end: they use
	// most of the memory and are not needed for the list.
	session atomic.Pointer[session.Session]
	leg     atomic.Pointer[port.Leg]

	mu          sync.Mutex       // guards the fields below
	last        session.Snapshot // set at the end
	figures     figures
	transitions []Past
	info        Info
}

func newConversation(h *Hub, id string, call Call) *Conversation {
	c := &Conversation{
		id: id, agent: call.Agent, transport: call.Transport, owner: call.Owner, started: time.Now(),
		caller: call.Caller, location: call.Location, served: call.Services, over: call.Over, wait: call.Wait, hub: h, feed: newFeed(h.o.Events, h.o.Steps),
		begun: make(chan struct{}), done: make(chan struct{}),
	}
	c.leg.Store(&call.Leg)
	c.feed.whole = true
	c.feed.discreet, c.feed.streamed = call.Privacy == conv.PrivacyNone, c.look
	if !call.Started.IsZero() {
		c.started = call.Started
	}
	if call.Privacy != conv.PrivacyNone {
		c.trace = &traceLog{bound: h.o.TraceBytes, each: c.stepLine}
	}
	c.info = Info{
		ID: c.id, Agent: c.agent, Version: call.Version, Transport: c.transport, Owner: c.owner, Started: c.started, Recording: call.Recording,
		State: view.AgentVoiceIdle.String(),
	}
	return c
}

// Recorder returns a writer for the trace, for [session.Options].Trace with
// TraceLive. It is nil if privacy forbids a trace.
func (c *Conversation) Recorder() io.Writer {
	if c.trace == nil {
		return nil
	}
	return c.trace
}

// attach sets the session and announces the conversation.
func (c *Conversation) attach(s *session.Session, cancel context.CancelFunc) {
	c.session.Store(s)
	c.cancel = cancel
	c.mu.Lock()
	c.info.Label = s.State().Label
	info := c.info
	c.mu.Unlock()
	c.tellAgain(s)
	s.OnStateChanged(c.changed)
	s.OnTurnEvent(c.turn)
	s.OnStep(c.step)
	h := c.hub
	h.show(c)
	h.o.Log.Info("conversation started", "conversation", c.id, "agent", c.agent, "version", info.Version, "transport", c.transport, "owner", c.owner)
	if h.o.Watch != nil {
		h.o.Watch.Started(info)
	}
	h.tell(TypeStarted, info)
}

// tellAgain publishes what the agent said last in a conversation by text that
// continues here. It was saved as read, but the process that saved it may have been
// killed before it told the client. A client that has read it recognizes it by its
// time.
func (c *Conversation) tellAgain(s *session.Session) {
	turn, text, at, err := s.Said()
	if err == nil && turn != 0 && c.transport == transportText {
		c.feed.publish(Message{
			Type: TypeCaption, At: c.at(at), words: true, Payload: encode(Caption{Turn: turn, Text: text, Heard: text, Final: true}),
		})
	}
}

// run runs the conversation to its end.
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
	c.info.Phase, c.info.State, c.info.Label = conv.Idle, view.AgentVoiceIdle.String(), c.last.Label
	c.info.Reason = c.reason
	switch {
	case errors.Is(err, context.Canceled) && c.hub.o.HandOver:
		c.info.Reason = ReasonHandedOver
	case errors.Is(err, context.Canceled):
		c.info.Reason = "shutdown"
	case errors.Is(err, port.ErrFenced):
		c.info.Reason = ReasonMoved
	case err != nil:
		c.info.Reason = "error"
	}
	info := c.info
	c.mu.Unlock()
	log := c.hub.o.Log.With("conversation", c.id, "agent", c.agent, "transport", c.transport)
	if err != nil && !errors.Is(err, context.Canceled) {
		log.Error("conversation failed", "error", err)
	}
	if line, ok := leg.(slog.LogValuer); ok { // the network statistics
		log = log.With("line", line)
	}
	what := "conversation ended"
	if !info.Over() {
		what = "conversation handed over"
	}
	log.Info(what, "reason", info.Reason, "turns", info.Turns, "seconds", info.Ended.Sub(info.Started).Seconds())
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

// Kept waits until the conversation is saved so that another process can continue
// it. It returns false if the conversation has ended or could not be saved.
func (c *Conversation) Kept(ctx context.Context) bool {
	s := c.session.Load()
	return s != nil && s.Kept(ctx)
}

// ID returns the conversation's id.
func (c *Conversation) ID() string { return c.id }

// Owner returns the owner, as given in [Call].
func (c *Conversation) Owner() string { return c.owner }

// Caller returns the person's name, if known.
func (c *Conversation) Caller() string { return c.caller }

// Location returns the person's time zone, nil if not known.
func (c *Conversation) Location() *time.Location { return c.location }

// Agent returns the name of the agent.
func (c *Conversation) Agent() string { return c.agent }

// Transport returns how the person is connected.
func (c *Conversation) Transport() string { return c.transport }

// Started returns the time of the start.
func (c *Conversation) Started() time.Time { return c.started }

// Leg returns the connection to the person. It is nil after the end.
func (c *Conversation) Leg() port.Leg {
	if leg := c.leg.Load(); leg != nil {
		return *leg
	}
	return nil
}

// Done returns a channel that is closed when the conversation has ended.
func (c *Conversation) Done() <-chan struct{} { return c.done }

// Over reports whether the conversation has ended.
func (c *Conversation) Over() bool { return !c.endedAt().IsZero() }

func (c *Conversation) endedAt() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.info.Ended
}

// Info returns the conversation's entry in the list.
func (c *Conversation) Info() Info {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.info
}

// Details returns the current state and its history.
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

// Stream opens a stream of the messages.
func (c *Conversation) Stream(o StreamOptions) (*Stream, error) {
	return c.feed.stream(o, c.hub.o.Streams)
}

// Trace returns the trace so far. ok is false if privacy forbids a trace.
func (c *Conversation) Trace() (t Trace, ok bool) {
	if c.trace == nil {
		return Trace{}, false
	}
	return c.trace.trace(), true
}

// at converts a time to milliseconds since the start, as in messages.
func (c *Conversation) at(t time.Time) float64 {
	return max(0, float64(t.Sub(c.started).Microseconds())/1000)
}

func (c *Conversation) say(at time.Time, what string, payload any) {
	c.tell(Message{
		Type: what, At: c.at(at), Payload: encode(payload), words: what == TypeTranscript || what == TypeCaption || what == TypeTask,
	})
}

// changed publishes a change of phase or of a view.
func (c *Conversation) changed(s session.StateChanged) {
	t := s.Transition
	if t.From == t.To {
		c.tellChange(s)
		return
	}
	if t.To == conv.Terminating {
		c.reason = string(t.Cause)
	}
	c.mu.Lock()
	if len(c.transitions) == transitionsKept {
		c.transitions = append(c.transitions[:0], c.transitions[1:]...)
	}
	c.transitions = append(c.transitions, Past{Transition: t, DurationMS: journal.Millis(s.In)})
	c.info.Phase, c.info.State, c.info.Label = t.To, t.Views.AgentVoice.String(), s.Label
	if c.info.WaitsUntil = (time.Time{}); t.To == conv.Reconnecting && c.wait > 0 {
		c.info.WaitsUntil = t.At.Add(c.wait).Round(time.Second)
	}
	info := c.info
	c.mu.Unlock()
	c.tellChange(s)
	c.hub.tell(TypeUpdated, info)
}

// tellChange publishes the messages that the seeds define for a change of phase or
// view.
func (c *Conversation) tellChange(s session.StateChanged) {
	t, now := s.Transition, c.session.Load().State()
	from, to := s.From.Amplifier.String(), s.To.Amplifier.String()
	if c.since.IsZero() {
		c.since = t.At.Add(-s.In)
	}
	in := t.At.Sub(c.since) // duration of the seed's state, which may have covered several phases
	if from != to {
		c.since = t.At
		c.say(t.At, TypeExit, Exit{State: from, Duration: journal.Millis(in)})
	}
	m := Transition{
		From: from, To: to, Event: t.Event, Cause: string(t.Cause), Label: s.Label, Turn: t.Turn,
		DurationMS: journal.Millis(s.In), Views: t.Views,
	}
	m.Phase.From, m.Phase.To = t.From, t.To
	c.say(t.At, TypeTransition, m)
	if t.Cause.TimedOut() {
		c.say(t.At, TypeTimeout, Timeout{State: from, Duration: journal.Millis(in), Limit: string(t.Cause)})
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
				CopilotRequestID: named("request-", now.Request), InterruptionCount: s.Turn.Interruptions, Reason: string(t.Cause),
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

// step publishes the messages of a step other than phase changes and turns.
func (c *Conversation) step(s session.Step) {
	if !c.stepped {
		c.stepped = true
		close(c.begun)
	}
	if e, ok := s.Event.(conv.UserStop); ok && e.Reason == session.NeverConnected && c.reason == "user.stop" {
		c.reason = session.NeverConnected
	}
	for _, f := range c.failures.Step(s.Now, s.Event, s.Output, s.State) {
		c.failed(f)
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
			// These concern only the driver.
		}
	}
	c.keepsPace(s)
	if c.hub.o.Watch != nil {
		c.hub.o.Watch.Stepped(c, s, answer)
	}
	c.rest.Store(s.State.AtRest())
	c.rested()
}

func (c *Conversation) notify(s session.Step, code string, level conv.NotifyLevel) {
	message := c.session.Load().Words(code)
	c.say(s.Now, TypeNotification, Notification{Message: message, Code: code, Level: level})
	if level == conv.LevelError {
		views := s.State.Views()
		c.say(s.Now, TypeError, Problem{State: views.Amplifier.String(), Error: ProblemError{Code: code, Message: message}})
	}
}
