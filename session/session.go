package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/internal/timezone"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/turn"
)

// Options are the parts of a [Session].
type Options struct {
	ID   string // of the conversation
	Conv conv.Options
	// AgentFiles are the files that Conv.Agent was made of: a trace carries them.
	AgentFiles []agent.File

	Leg         port.Leg
	Recognizer  port.Recognizer  // nil: nothing that is spoken is understood
	Synthesizer port.Synthesizer // nil: the agent has no voice; each attempt is a fault
	Detector    port.Detector    // nil: speech is found by energy alone
	Voice       string           // of the synthesizer; its default if empty

	// Text: the person reads, and types ([Machine.SendText]); what the agent says counts
	// as read when it is said. Nothing sounds: the speech services are not used, nor the
	// leg's Write and Clear. Between two facts and deadlines such a conversation does
	// nothing. Package leg/text has a leg for it, and the machine's options that fit.
	Text bool

	// Model answers what the flows do not, Tools run what it and the flows call;
	// nil: there is none, and a request or a call fails.
	Model port.Model
	Tools port.Tool
	// ModelTools are those that the model may call, if not all of Tools.
	ModelTools port.Tool
	// Instructions are what the model is told before the history.
	Instructions string

	Turn      turn.Options
	Onset     turn.OnsetOptions
	Stability turn.StabilityOptions
	// EchoCoupling is how much of the agent's own level comes back on the leg's
	// path, 0 to 1; 0 where the far end cancels echo.
	EchoCoupling float64

	// Heard, if set, sees each fact of the uplink's in the moment of the frame that
	// shows it, before it is posted. It must not block.
	Heard func(conv.Event)

	// Trace, if set, takes the trace; TraceFeatures adds what the turn controller
	// sees on every frame. With TraceLive each step is written at once, on the
	// loop's goroutine, and Trace must not block.
	Trace         io.Writer
	TraceFeatures bool
	TraceLive     bool

	// Late, if set, is told how late each frame of the agent's sound is written, in
	// real time. It runs on the pacer's goroutine and must not block.
	Late func(by time.Duration)
	// Hearing, if set, is told how long each 20 ms of the person's sound took to be heard, in
	// real time. It runs on the uplink's goroutine and must not block.
	Hearing func(took time.Duration)

	// Retried, if set, is told of each attempt within a call of a tool that is followed by
	// another: see [port.NoteRetry]. It is called by the calls' goroutines.
	Retried func(port.Retry)

	// Delegation says where delegated work runs that outlives the session.
	Delegation Delegation

	// Checkpoints say where the state is kept while the call goes on.
	Checkpoints Checkpoints
	// Restore, if set, is a snapshot (conv.Conversation.Snapshot, of a
	// [journal.Checkpoint]): the call goes on where it was taken. A tool that ran
	// then runs again under its key if that does no harm; else its call has failed,
	// and nobody knows whether it was done.
	Restore []byte
	// Location is the time zone of the conversation: what "tomorrow" is. One that goes on is
	// given that of its checkpoint. If nil it is the offset that the clock has at the start.
	Location *time.Location
	// Keys go before the idempotency keys of calls; ID if empty. Two conversations
	// never share them, and one that is restored keeps its own.
	Keys string

	// Idle leaves it to others to begin the conversation while [Session.Run] runs, with a
	// [conv.UserStart]; a [conv.UserStop] before that ends the session. One that is
	// restored has begun.
	Idle bool

	// Owner and Owners: see [MachineOptions].
	Owner  string
	Owners *Owners
}

// Session is one call: a leg, speech services and a mind around a [Machine],
// whose methods are there from the start: who wants to observe the call
// subscribes before it runs.
type Session struct {
	*Machine

	o        Options
	clock    func() time.Time // of real time
	medium   medium
	sound    *sound // the medium of a call; nil: the conversation is by text
	mind     *mind
	tools    *tools
	toolbox  toolbox
	keeper   *keeper // nil: no checkpoints
	recorder *recorder

	// spawn runs a job of the loop's in a goroutine of its own, which Run waits for
	// at its end, with a context that ends then at the latest; what it returns ends
	// the job before.
	spawn func(job func(context.Context)) (stop func())

	// Of the loop's goroutine.
	legLost bool // it was told, and not that it is back

	mu     sync.Mutex   // guards all below
	posted []conv.Event // virtual time: facts of other goroutines

	// Virtual time; set before the loop runs.
	work       *work     // who is busy; nil in real time
	virtualNow time.Time // of the loop's goroutine
	location   *time.Location
}

// New wires a session. Run or RunVirtual holds the call, once.
func New(o Options) (*Session, error) {
	if o.Leg == nil {
		return nil, errors.New("session: no leg")
	}
	if err := o.checkRates(); err != nil {
		return nil, err
	}
	if o.Turn.Policy == "" {
		o.Turn.Policy = o.Conv.Endpoint
	}
	if o.Conv.Endpoint == "" {
		o.Conv.Endpoint = o.Turn.Policy
	}
	if o.Conv.Privacy == conv.PrivacyNone {
		o.Delegation = Delegation{} // arguments, progress and results would be written
	}
	o.Conv.TasksOutlive = o.Delegation.Tasks != nil
	o.Conv.SessionRenews = true
	s := &Session{o: o, clock: steadyClock(o.Location)}
	m, err := NewMachine(MachineOptions{
		ID: o.ID, Conv: o.Conv, Now: s.now, Perform: s.perform, Record: s.record, After: s.heed,
		Owner: o.Owner, Owners: o.Owners, Restore: o.Restore,
	})
	if err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	m.once = true
	s.Machine = m
	s.keeper = newKeeper(o.Checkpoints, o.ID, m.conv.Options().Privacy, time.Time{}, s.busy)
	return s, nil
}

// checkRates holds the rates of the leg and of the speech services against those that
// sound can have.
func (o *Options) checkRates() error {
	rates := map[string]int{"Leg": o.Leg.Rate()}
	if o.Synthesizer != nil {
		rates["Synthesizer"] = o.Synthesizer.Rate()
	}
	if o.Detector != nil {
		rates["Detector"] = o.Detector.Rate()
	}
	for _, part := range slices.Sorted(maps.Keys(rates)) {
		if rate := rates[part]; !o.Text && (rate < audio.MinRate || rate > audio.MaxRate) {
			return fmt.Errorf("session: the rate of %s is %d Hz: expected %d to %d", part, rate, audio.MinRate, audio.MaxRate)
		}
	}
	return nil
}

// now is the clock of the call.
func (s *Session) now() time.Time {
	if s.work != nil {
		return s.virtualNow
	}
	return s.clock()
}

// begin starts virtual time, and with it the time zone if none is set.
func (s *Session) begin(start time.Time) {
	s.work, s.location = newWork(), s.o.Location
	if s.location == nil {
		s.location = timezone.Of(start)
	}
	s.set(start)
}

// set moves virtual time.
func (s *Session) set(now time.Time) { s.virtualNow = now.In(s.location) }

// open makes the parts that live as long as the call. What it made before it
// failed, close ends.
func (s *Session) open(ctx context.Context, start time.Time, post func(...conv.Event)) error {
	o := &s.o
	if o.Checkpoints.Claim != nil {
		token, err := o.Checkpoints.Claim(ctx, o.ID)
		if err != nil {
			return fmt.Errorf("session: %w", err)
		}
		o.Checkpoints.Token = token
	}
	if s.keeper != nil {
		s.keeper.begin(o.Checkpoints.Token, start)
	}
	if err := s.openTrace(start); err != nil {
		return fmt.Errorf("session: %w", err)
	}
	if err := s.openMedium(ctx, post); err != nil {
		return fmt.Errorf("session: %w", err)
	}
	s.mind, s.tools, s.toolbox = &mind{s: s}, newTools(s), newToolbox(o.Tools, o.ModelTools)
	return nil
}

// openMedium makes what carries the words. What it made before it failed, close ends.
func (s *Session) openMedium(ctx context.Context, post func(...conv.Event)) error {
	if s.o.Text {
		s.medium = &written{s: s}
		return nil
	}
	var err error
	s.sound, err = openSound(ctx, s, post)
	s.medium = s.sound
	return err
}

// openTrace begins the trace, for who asked for it and for the journal.
func (s *Session) openTrace(start time.Time) error {
	w, live := s.o.Trace, s.o.TraceLive
	if s.keeper != nil && s.keeper.log != nil {
		if w = io.Writer(s.keeper.log); s.o.Trace != nil {
			w = io.MultiWriter(s.o.Trace, s.keeper.log)
		}
		live = true
	}
	if w == nil {
		return nil
	}
	h, err := journal.NewHeader(start, s.conv.Options(), s.o.AgentFiles)
	if err != nil {
		return err
	}
	h.Restored = s.o.Restore
	if shown := s.veil.Shown(); s.o.Restore != nil && shown != s.conv {
		if h.Restored, err = shown.Snapshot(); err != nil {
			return err
		}
	}
	if s.recorder, err = newRecorder(w, h, live); err != nil {
		return err
	}
	agent := s.conv.Options().Agent
	s.recorder.quiet = agent != nil && agent.HasSecrets()
	return nil
}

// Kept waits until the conversation is kept for the first time, so that it can go on
// in another process, and reports whether it is: not when ctx ends before, or when the
// store could not keep it. Where nothing is kept it is true at once. It is for a call that
// has begun, from any goroutine.
func (s *Session) Kept(ctx context.Context) bool { return s.keeper.begun(ctx) }

// Saved waits until the last state of the conversation is kept, and reports false when ctx
// ends before. Where nothing is kept it is true at once. It is for a call that has begun,
// from any goroutine.
func (s *Session) Saved(ctx context.Context) bool { return s.keeper.saved(ctx, s.keeper.position()) }

// WhenKept has f tell the person what follows from the last step: when the state behind it
// is kept, so that nothing is told that a process which dies would forget, or when the
// store could not keep it. f runs now or later, in the order of the
// calls, on any goroutine; it must not wait, nor call the session. It does not run where
// another process holds the conversation by then. WhenKept may be called from any
// goroutine.
func (s *Session) WhenKept(f func()) { s.keeper.whenKept(f) }

// Configure changes, while the call runs, what ends the user's turn and what
// speech is. The machine's part of the rules is a fact, [conv.SessionConfigured],
// which is not posted here. It is for a call that has begun (an observer has seen a
// step), from any goroutine, and does not wait. In a conversation by text it does
// nothing.
func (s *Session) Configure(t turn.Options, o turn.OnsetOptions) error {
	switch {
	case s.o.Text:
		return nil
	case s.sound == nil:
		return errors.New("session: configure: the call has not begun")
	}
	if err := s.sound.up.Configure(t, o); err != nil {
		return fmt.Errorf("session: %w", err)
	}
	return nil
}

// DiscardInput drops what was heard of the user's turn so far; a turn that has
// begun is given up by [conv.UserCancel], which is not posted here. It is for a
// call that has begun, from any goroutine.
func (s *Session) DiscardInput() {
	if s.sound != nil {
		s.sound.up.Discard()
	}
}

// spawner starts jobs among the workers of a call.
func (s *Session) spawner(ctx context.Context, workers *sync.WaitGroup) func(func(context.Context)) func() {
	return func(job func(context.Context)) func() {
		ctx, stop := context.WithCancel(ctx)
		s.busy(1)
		workers.Go(func() {
			defer s.busy(-1)
			defer stop()
			job(ctx)
		})
		return stop
	}
}

// close ends what open made. It is called when nothing runs any more.
func (s *Session) close() error {
	var errs []error
	if s.medium != nil {
		errs = append(errs, s.medium.close())
	}
	if s.recorder != nil {
		errs = append(errs, s.recorder.flush())
	}
	return errors.Join(errs...)
}

// record is the machine's recorder. It follows the line on the way: the machine
// takes a pause that nobody ended for a lost connection too, and then the leg is
// there all the same.
func (s *Session) record(now time.Time, c *conv.Conversation, shown conv.Shown) error {
	switch shown.Event.(type) {
	case conv.ConnectionLost:
		s.legLost = true
	case conv.ConnectionRestored:
		s.legLost = false
	case conv.UserStop:
		s.declined = s.declined || s.o.Idle && c.Phase() == conv.Idle // it will not begin
	default:
	}
	if s.recorder != nil {
		if err := s.recorder.step(now, shown); err != nil {
			return err
		}
	}
	if s.keeper != nil && c.Last().Keep {
		if !s.o.Checkpoints.Sealed {
			c = shown.Conversation
		}
		s.keeper.note(now, c) // behind the step: the journal is never shorter than the checkpoint
	}
	return nil
}

// heed follows what a step changed beside its effects: whether the agent is
// heard, and what the person is shown. In virtual time it then waits for the
// work that the step has started.
func (s *Session) heed() {
	if s.work != nil {
		defer s.work.settle()
	}
	s.medium.heed(s.conv.State())
	out := s.conv.Last()
	// A phase that was left in the same step lasted for no time: nobody is told that
	// the agent waits when it has begun to speak.
	if n := len(out.Transitions); n > 0 {
		t := &out.Transitions[n-1]
		s.o.Leg.Notify(port.Notice{
			Type: "state", State: t.To.String(), Text: s.words("state." + t.Views.AgentVoice.String()),
		})
	}
	for i := range out.Turns {
		t := &out.Turns[i]
		s.o.Leg.Notify(port.Notice{Type: "turn", Code: string(t.Type), Turn: t.Turn, Role: string(t.Role)})
	}
}
