package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/internal/media"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/turn"
)

// Options are the parts of a [Session].
type Options struct {
	ID   string // of the conversation
	Conv conv.Options
	// AgentFiles are the files that Conv.Agent was made of: a trace carries them.
	AgentFiles []dialog.File

	Leg         port.Leg
	Recognizer  port.Recognizer  // nil: nothing that is spoken is understood
	Synthesizer port.Synthesizer // nil: the agent has no voice; each attempt is a fault
	Detector    port.Detector    // nil: speech is found by energy alone
	Voice       string           // of the synthesizer; its default if empty

	Turn  turn.Options
	Onset turn.OnsetOptions
	// EchoCoupling is how much of the agent's own level comes back on the leg's
	// path, 0 to 1; 0 where the far end cancels echo.
	EchoCoupling float64

	// Trace, if set, takes the trace; TraceFeatures adds what the turn controller
	// sees on every frame.
	Trace         io.Writer
	TraceFeatures bool

	// Owner and Owners: see [MachineOptions].
	Owner  string
	Owners *Owners
}

// Session is one call: a leg, speech services and a mind around a [Machine].
type Session struct {
	*Machine

	o        Options
	uplink   *media.Uplink
	downlink *media.Downlink
	voice    *voice
	recorder *recorder
	rate     int

	// Of the loop's goroutine.
	audible bool
	failed  error

	mu     sync.Mutex
	posted []conv.Event // virtual time: facts of other goroutines
	clear  bool         // the carrier is to drop what it has
	work   *work        // virtual time: who is busy; nil in real time

	virtualNow time.Time
}

// New wires a session. Run or RunVirtual holds the call, once.
func New(o Options) (*Session, error) {
	if o.Leg == nil {
		return nil, errors.New("session: no leg")
	}
	if o.Turn.Policy == "" {
		o.Turn.Policy = o.Conv.Endpoint
	}
	if o.Conv.Endpoint == "" {
		o.Conv.Endpoint = o.Turn.Policy
	}
	return &Session{o: o, rate: o.Leg.Rate()}, nil
}

// open makes the parts that live as long as the call. The clock tells the
// machine its time.
func (s *Session) open(ctx context.Context, start time.Time, clock func() time.Time, post func(...conv.Event)) error {
	if s.Machine != nil {
		return errors.New("session: it has been run before")
	}
	o := &s.o
	m, err := NewMachine(MachineOptions{
		ID: o.ID, Conv: o.Conv, Now: clock, Perform: s.perform, Record: s.record, After: s.heed,
		Owner: o.Owner, Owners: o.Owners,
	})
	if err != nil {
		return fmt.Errorf("session: %w", err)
	}
	s.Machine = m
	if o.Trace != nil {
		h, err := journal.NewHeader(start, m.conv.Options(), o.AgentFiles)
		if err != nil {
			return fmt.Errorf("session: %w", err)
		}
		if s.recorder, err = newRecorder(o.Trace, h); err != nil {
			return fmt.Errorf("session: %w", err)
		}
	}
	acks, _ := o.Leg.(port.Acknowledger)
	if s.downlink, err = media.NewDownlink(media.DownlinkOptions{
		Rate: s.rate, Post: post, Acks: acks, Parked: s.parked,
	}); err != nil {
		return fmt.Errorf("session: %w", err)
	}
	up := media.UplinkOptions{
		Rate: s.rate, Language: m.conv.Options().Language, Detector: o.Detector, Recognizer: o.Recognizer,
		Turn: o.Turn, Onset: o.Onset, Post: post,
		Energy: m.conv.Options().BargeIn.Reply.Policy == turn.BargeInEnergy,
	}
	if o.TraceFeatures && s.recorder != nil {
		up.Features = s.recorder.features
	}
	if s.uplink, err = media.NewUplink(ctx, up); err != nil {
		return fmt.Errorf("session: %w", err)
	}
	if s.voice, err = newVoice(s, o.Synthesizer); err != nil {
		return fmt.Errorf("session: %w", err)
	}
	return nil
}

// close ends what open made. It is called when nothing runs any more.
func (s *Session) close() error {
	var errs []error
	if s.uplink != nil {
		errs = append(errs, s.uplink.Close())
	}
	if s.recorder != nil {
		errs = append(errs, s.recorder.flush())
	}
	return errors.Join(errs...)
}

// record is the machine's recorder.
func (s *Session) record(now time.Time, c *conv.Conversation, ev conv.Event) error {
	if s.recorder == nil {
		return nil
	}
	return s.recorder.step(now, c, ev)
}

// heed follows what a step changed beside its effects: whether the agent is
// heard, and what the person is shown.
func (s *Session) heed() {
	st := s.conv.State()
	if audible := st.Phase == conv.Speaking || st.Playout.Playing; audible != s.audible {
		s.audible = audible
		s.uplink.Audible(audible)
	}
	out := s.conv.Last()
	for i := range out.Transitions {
		s.o.Leg.Notify(port.Notice{
			Type: "state", State: out.Transitions[i].To.String(),
			Text: s.words("state." + out.Transitions[i].Views.AgentVoice.String()),
		})
	}
	for i := range out.Turns {
		t := &out.Turns[i]
		s.o.Leg.Notify(port.Notice{Type: "turn", Code: string(t.Type), Turn: t.Turn, Role: string(t.Role)})
	}
}
