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

// Options are the parts of a [Session]. Only Leg is required.
type Options struct {
	ID   string // the id of the conversation
	Conv conv.Options
	// AgentFiles are the files from which Conv.Agent was made. A trace contains them.
	AgentFiles []agent.File

	Leg         port.Leg
	Recognizer  port.Recognizer  // if nil, speech is not transcribed
	Synthesizer port.Synthesizer // if nil, each attempt of the agent to speak is a fault
	Detector    port.Detector    // if nil, voices are detected by their energy
	EndOfTurn   port.EndOfTurn   // if nil, nothing hears whether the user has finished
	Voice       string           // the voice of the synthesizer; its default if empty

	// Upstream, if not nil, is a service that hears the user, answers and speaks. It takes the
	// place of Recognizer and Detector, and of Turn: the service detects turns. Model then
	// answers only what flows ask it, and Synthesizer speaks only when the service cannot.
	Upstream port.Upstream

	// Text says that the person reads, and types ([Machine.SendText]). What the agent says
	// counts as read at once. The session uses no speech service, no Write and no Clear of the
	// leg, and does nothing between events and deadlines. Package leg/text has a leg for it,
	// and options for the machine.
	Text bool

	// Model answers what the flows do not cover. If it is nil, each request to it fails.
	Model port.Model
	// Tools runs the calls of the flows and, without ModelTools, those of the model. If it is
	// nil, the calls fail.
	Tools port.Tool
	// ModelTools, if not nil, runs the calls of the model.
	ModelTools port.Tool
	// Instructions are given to the model before the history.
	Instructions string

	Turn      turn.Options
	Onset     turn.OnsetOptions
	Stability turn.StabilityOptions
	// Echo says what is known of the agent's own voice in the leg's microphone. By default its
	// level and delay are estimated while the agent speaks.
	Echo audio.EchoOptions

	// Heard, if not nil, is called with each event of the uplink, at the frame that causes it
	// and before the event is posted. It must not block.
	Heard func(conv.Event)

	// Trace, if not nil, gets the trace. TraceFeatures adds the input and the decision of the
	// turn controller for every frame. TraceLive writes each step at once, on the loop's
	// goroutine; Trace must then not block.
	Trace         io.Writer
	TraceFeatures bool
	TraceLive     bool

	// Late, if not nil, is called with the delay of each frame of the agent's audio, in real
	// time. It runs on the pacer's goroutine and must not block.
	Late func(by time.Duration)
	// Hearing, if not nil, is called with the time that the uplink took for each frame of the
	// person's audio, in real time. It runs on the uplink's goroutine and must not block.
	Hearing func(took time.Duration)

	// Retried, if not nil, is called when a tool tries again within a call, see
	// [port.NoteRetry]. It runs on the goroutines of the calls.
	Retried func(port.Retry)

	// Delegation says where delegated work runs that outlives the session.
	Delegation Delegation

	// Checkpoints say where the state is stored during the call.
	Checkpoints Checkpoints
	// Recording says where the sound of the conversation is stored.
	Recording Recording
	// Restore, if not nil, is a snapshot ([conv.Conversation.Snapshot], also in a
	// [journal.Checkpoint]) from which the call continues. A tool that ran at that time runs
	// again with the same idempotency key. If that could do harm, its call fails, because it
	// is not known whether the tool has done its work.
	Restore []byte
	// Location is the time zone of the conversation, which defines its days ("tomorrow"). A
	// restored conversation must get that of its checkpoint. The default is the time zone of
	// the clock at the start; the process's own time zone then counts as its offset from UTC.
	Location *time.Location
	// Keys is the prefix of the idempotency keys of calls; the default is ID. No two
	// conversations may share it, and a restored conversation must have the same one as
	// before.
	Keys string

	// Idle says that [Session.Run] does not start the conversation: a [conv.UserStart] does,
	// while Run runs. A [conv.UserStop] before that ends the session. It does not apply to a
	// restored conversation.
	Idle bool

	// Owner and Owners are those of [MachineOptions].
	Owner  string
	Owners *Owners
}

// Session is one call: a [Machine] with a leg, speech services, a model and tools. The methods
// of the Machine may be used as soon as [New] has returned, so that observers can subscribe
// before the call runs.
type Session struct {
	*Machine

	o        Options
	clock    func() time.Time // real time
	medium   medium
	sound    *sound // the medium of a spoken conversation; nil in a conversation by text
	mind     *mind
	tools    *tools
	toolbox  toolbox
	keeper   *keeper // nil: no checkpoints
	recorder *recorder

	// spawn runs a job of the loop in a goroutine of its own. The context of the job ends when
	// stop is called, and at the latest when Run ends, which waits for the job.
	spawn func(job func(context.Context)) (stop func())

	// Only the loop's goroutine uses this field.
	legLost bool // the leg was reported as lost and not as restored

	mu     sync.Mutex   // guards all below
	posted []conv.Event // in virtual time: the events that other goroutines have posted

	// These fields are for virtual time. They are set before the loop runs.
	work       *work          // counts the busy goroutines; nil in real time
	virtualNow time.Time      // only the loop's goroutine uses it
	location   *time.Location // the time zone of virtualNow
}

// New returns a session. [Session.Run] or [Session.RunVirtual] then holds the call, once. It
// returns an error if an option is invalid.
func New(o Options) (*Session, error) {
	if o.Leg == nil {
		return nil, errors.New("session: no leg")
	}
	if err := o.checkRates(); err != nil {
		return nil, err
	}
	if o.Upstream != nil {
		if err := o.forUpstream(); err != nil {
			return nil, err
		}
	}
	if o.Turn.Policy == "" {
		o.Turn.Policy = o.Conv.Endpoint
	}
	if o.Conv.Endpoint == "" {
		o.Conv.Endpoint = o.Turn.Policy
	}
	if o.Conv.Privacy == conv.PrivacyNone {
		o.Delegation = Delegation{} // tasks would store arguments, progress and results
	}
	o.Conv.TasksOutlive = o.Delegation.Tasks != nil
	o.Conv.Announced = announcedTools(o.Tools, o.ModelTools)
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

// forUpstream adapts the options to a speech-to-speech service.
func (o *Options) forUpstream() error {
	if o.Text {
		return errors.New("session: a conversation by text has no use for a speech-to-speech service")
	}
	o.Conv.SpeechToSpeech = true
	// The service reports the ends of turns; its transcripts end none.
	o.Conv.Endpoint, o.Turn.Policy = turn.PolicySilence, turn.PolicySilence
	if o.Model == nil {
		o.Conv.SummaryTurns = -1 // nobody could summarize
	}
	return nil
}

// checkRates returns an error if the sample rate of the leg or of a speech service is invalid.
func (o *Options) checkRates() error {
	rates := map[string]int{"Leg": o.Leg.Rate()}
	if o.Synthesizer != nil {
		rates["Synthesizer"] = o.Synthesizer.Rate()
	}
	if o.Upstream != nil {
		rates["Upstream"] = o.Upstream.Rate()
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

// now returns the time of the call, which may be virtual.
func (s *Session) now() time.Time {
	if s.work != nil {
		return s.virtualNow
	}
	return s.clock()
}

// begin starts virtual time at start. It sets the time zone to that of start if the options have
// none.
func (s *Session) begin(start time.Time) {
	s.work, s.location = newWork(), s.o.Location
	if s.location == nil {
		s.location = timezone.Of(start)
	}
	s.set(start)
}

// set sets virtual time.
func (s *Session) set(now time.Time) { s.virtualNow = now.In(s.location) }

// open makes the parts of the session that last as long as the call. If it fails, close closes
// those that it has made.
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

// openMedium makes the medium of the conversation. If it fails, close closes what it has made.
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

// openTrace begins the trace, if the options ask for it or there is a journal.
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

// Kept waits until the state of the conversation is stored for the first time, so that another
// process could continue it. It returns false if the store fails, or if ctx ends before. Without
// a store it returns true at once. It may be called from any goroutine after the call has begun.
func (s *Session) Kept(ctx context.Context) bool { return s.keeper.begun(ctx) }

// Saved waits until the last state of the conversation is stored. It returns false if ctx ends
// before. Without a store it returns true at once. It may be called from any goroutine after the
// call has begun.
func (s *Session) Saved(ctx context.Context) bool { return s.keeper.saved(ctx, s.keeper.position()) }

// WhenKept calls f when the state after the last step is stored, or when the store fails. f tells
// the person what follows from the step, so that the person is not told what a process that dies
// would forget. It runs during WhenKept or later, on any goroutine, in the order of the calls of
// WhenKept. It must not block or call the session. It does not run if another process has taken
// over the conversation by then. WhenKept may be called from any goroutine.
func (s *Session) WhenKept(f func()) { s.keeper.whenKept(f) }

// Configure changes the options that detect speech and the end of the user's turn while the call
// runs. It does not change the machine's own rules, for which the caller posts a
// [conv.SessionConfigured]. It may be called from any goroutine after the call has begun (an
// observer has seen a step), and does not wait. In a conversation by text it does nothing. It
// returns an error if an option is invalid.
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

// DiscardInput drops the audio of the user's turn so far. To give up a turn that has begun, the
// caller also posts a [conv.UserCancel]. It may be called from any goroutine after the call has
// begun.
func (s *Session) DiscardInput() {
	if s.sound != nil {
		s.sound.up.Discard()
	}
}

// spawner returns a function for s.spawn that runs jobs among the workers of a call.
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

// close closes what open has made. It is called when no goroutine of the call runs any more.
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

// record records a step and hands the state to the keeper. It also notes whether the leg is
// lost. The state of the machine does not say that: it treats a pause that does not end as a
// lost connection, although the leg is still there.
func (s *Session) record(now time.Time, c *conv.Conversation, shown conv.Shown) error {
	switch shown.Event.(type) {
	case conv.ConnectionLost:
		s.legLost = true
	case conv.ConnectionRestored:
		s.legLost = false
	case conv.UserStop:
		s.declined = s.declined || s.o.Idle && c.Phase() == conv.Idle // the conversation will not begin
	default:
	}
	if s.recorder != nil {
		if err := s.recorder.step(now, shown); err != nil {
			return err
		}
	}
	if s.sound != nil {
		s.sound.tape.step(now, c, shown)
	}
	if s.keeper != nil && c.Last().Keep {
		if !s.o.Checkpoints.Sealed {
			c = shown.Conversation
		}
		s.keeper.note(now, c) // after the recorder, so that the journal is never shorter than the checkpoint
	}
	return nil
}

// heed follows a step after its effects: it tells the medium whether the agent is heard, and the
// leg what to show. In virtual time it then waits for the work that the step has started.
func (s *Session) heed() {
	if s.work != nil {
		defer s.work.settle()
	}
	s.medium.heed(s.conv.State())
	out := s.conv.Last()
	// Only the last phase of the step is shown, because the others lasted for no time.
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
