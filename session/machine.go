package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/messages"
	"github.com/hocketvoice/hocket/internal/timezone"
)

// inboxSize bounds the facts that wait for the loop. When it is full the poster
// waits.
const inboxSize = 256

// ErrEnded is returned to who posts to a machine whose loop has ended.
var ErrEnded = errors.New("the conversation's loop has ended")

// ErrNotResumable is returned for a snapshot of a conversation that has ended.
var ErrNotResumable = errors.New("the conversation has ended")

// MachineOptions configure a [Machine].
type MachineOptions struct {
	ID   string // of the conversation; never shown raw in records
	Conv conv.Options
	// Now is the clock. It must not go back. If nil it is the time of day when the machine
	// was made and what has passed since then, whatever happens to the system's clock.
	Now func() time.Time
	// Perform carries out an effect. It runs on the loop's goroutine and must not
	// block; what it finds at once it hands to [Loop.Post].
	Perform func(*Loop, conv.Effect)
	// After runs when a step's effects have been handed out, on the loop's
	// goroutine.
	After func()
	// Record sees every step, before its effects are carried out: the conversation, and
	// what may be shown of the step. An error ends the loop.
	Record func(now time.Time, c *conv.Conversation, shown conv.Shown) error
	// Owner and Owners keep a second conversation of the same owner from starting
	// (seed 000, CON-002); without Owners the machine looks after itself alone.
	Owner  string
	Owners *Owners
	// Restore, if set, is a snapshot of the conversation to go on with: it is not
	// started but resumed (see [Options.Restore]).
	Restore []byte
}

// Machine owns a conversation and steps it. Its exported methods may be called
// from any goroutine. Those that post facts are not for observers and Perform, which
// have a [Loop] for it.
type Machine struct {
	o       MachineOptions
	conv    *conv.Conversation // stepped by the loop's goroutine alone, with stepping held
	veil    *conv.Veil         // of conv: what observers and records see
	catalog *messages.Catalog

	round atomic.Pointer[round]

	// stepping is held while conv changes: with it any goroutine may read conv. The
	// loop's own needs it only to change it.
	stepping sync.Mutex

	// Of the loop's goroutine.
	loop     Loop
	local    []conv.Event // facts of its own, to be stepped next
	turns    turnNotes    // for observers
	held     bool         // there was a conversation
	declined bool         // the conversation was ended before it began, and will not begin

	current atomic.Pointer[Snapshot]

	contexts atomic.Int64 // how often SetContext was called

	begin   sync.Mutex // guards started and once
	started bool
	once    bool // it holds one conversation and no other: see Reset

	mu        sync.Mutex // guards all below
	observers []*observer
	release   func() // of the owner's lease
}

// round is one run of the loop.
type round struct {
	inbox  chan []conv.Event // each of one post
	donec  chan struct{}     // closed when the loop has ended
	ending sync.Once         // closes donec
}

func newRound() *round {
	return &round{inbox: make(chan []conv.Event, inboxSize), donec: make(chan struct{})}
}

// Loop is a machine's loop as Perform and the observers see it. It is for the loop's
// goroutine: during the call that it comes with, and not after.
type Loop struct{ m *Machine }

// Post has facts stepped right behind the current step, before those that wait in the
// inbox; those of Perform before those of the observers. It never waits. An observer
// that posts in answer to each step keeps the loop from everything else.
func (l *Loop) Post(events ...conv.Event) { l.m.local = append(l.m.local, events...) }

// NewMachine makes a machine in Idle. Run starts its loop.
func NewMachine(o MachineOptions) (*Machine, error) {
	c, veil, err := newConversation(o.Conv, o.Restore)
	if err != nil {
		return nil, err
	}
	words, err := messages.Lookup(c.Options().Language)
	if err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = steadyClock(nil)
	}
	if o.Owners == nil {
		o.Owners = &Owners{}
	}
	m := &Machine{o: o, conv: c, veil: veil, catalog: words}
	m.loop.m = m
	m.round.Store(newRound())
	m.publish()
	return m, nil
}

// steadyClock returns a clock that starts with the time of day. Its times have no
// monotonic reading besides, which differs from the time of day by some nanoseconds: the
// difference of two times is that of what is written of them, so that a trace replays. They
// are in a time zone that has a name, so that a day is the same one in the replay: that of
// the process now if location is nil.
func steadyClock(location *time.Location) func() time.Time {
	began := time.Now()
	if location == nil {
		location = timezone.Of(began)
	}
	day := began.Round(0).In(location)
	return func() time.Time { return day.Add(time.Since(began)) }
}

// resume goes on with a conversation that was restored: what it had with the
// process before, the line and the sound, is lost and there again. It runs on the
// loop's goroutine.
func (m *Machine) resume(now time.Time) error {
	release, err := m.o.Owners.Acquire(m.o.Owner)
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.release = release
	m.mu.Unlock()
	m.stepping.Lock()
	m.veil.Wake(now)
	m.stepping.Unlock()
	for _, ev := range resumed() {
		if err := m.step(now, ev); err != nil {
			return err
		}
	}
	return nil
}

// resumed are the facts that a restored conversation goes on with.
func resumed() []conv.Event {
	return []conv.Event{conv.ConnectionLost{}, conv.ConnectionRestored{}}
}

// Post hands facts to the loop, in their order and without others between. It
// waits while the inbox is full, and so do the methods that post a command: an observer,
// which the loop waits for, posts with the [Loop] that it is given. It fails with
// [ErrEnded] after the loop's end.
func (m *Machine) Post(events ...conv.Event) error {
	r, events := m.round.Load(), slices.Clone(events)
	select {
	case <-r.donec:
		return ErrEnded
	default:
	}
	select {
	case r.inbox <- events:
		return nil
	case <-r.donec:
		return ErrEnded
	}
}

// claim makes the caller's goroutine the loop, once until [Machine.Reset]. set runs
// before anybody else can see that there is a loop; it may be nil.
func (m *Machine) claim(set func()) error {
	m.begin.Lock()
	defer m.begin.Unlock()
	if m.started {
		return errors.New("the machine's loop has been run before")
	}
	m.started = true
	if set != nil {
		set()
	}
	return nil
}

// Run is the loop. It returns nil when the conversation that was started has
// ended, ctx's error when ctx ends first, or the recorder's error. It runs once, and
// once more after each [Machine.Reset].
func (m *Machine) Run(ctx context.Context) error {
	if err := m.claim(nil); err != nil {
		return err
	}
	defer m.end()
	return m.run(ctx)
}

// run steps what comes in until the conversation is over.
func (m *Machine) run(ctx context.Context) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	inbox, deadline := m.round.Load().inbox, []conv.Event{conv.DeadlinePassed{}}
	for {
		if next := m.conv.NextDeadline(); next.IsZero() {
			timer.Stop()
		} else {
			timer.Reset(next.Sub(m.o.Now()))
		}
		var events []conv.Event
		select {
		case <-ctx.Done():
			return ctx.Err()
		case events = <-inbox:
		case <-timer.C:
			events = deadline
		}
		if err := m.take(events); err != nil {
			return err
		}
		if m.over() {
			return nil
		}
	}
}

// poll is the next post, if there is one.
func (m *Machine) poll() (events []conv.Event, ok bool) {
	select {
	case events = <-m.round.Load().inbox:
		return events, true
	default:
		return nil, false
	}
}

// take steps the facts of a post.
func (m *Machine) take(events []conv.Event) error {
	now := m.o.Now()
	for _, ev := range events {
		if err := m.step(now, ev); err != nil {
			return err
		}
	}
	return nil
}

// over reports whether a conversation was held and is done.
func (m *Machine) over() bool {
	return m.conv.Phase() == conv.Idle && (m.declined || m.held)
}

// end gives back what the machine holds. The order matters to a start that
// comes at the same moment: see StartConversation. Called again it does nothing.
func (m *Machine) end() {
	m.begin.Lock()
	defer m.begin.Unlock()
	r := m.round.Load()
	r.ending.Do(func() { close(r.donec) })
	m.letGo()
}

// Reset makes a machine ready for the next conversation when one has ended: Run may be
// called again, and facts may be posted from now on. Observers stay, turn numbers go
// on. It fails while the loop runs or before it has, after a Run that returned an
// error, and for a [Session], which holds one call.
func (m *Machine) Reset() error {
	m.begin.Lock()
	defer m.begin.Unlock()
	select {
	case <-m.round.Load().donec:
	default:
		return errors.New("reset: the machine's loop has not ended")
	}
	if m.once || !m.over() {
		return errors.New("reset: the machine holds no other conversation")
	}
	m.local, m.held, m.declined = nil, false, false
	m.round.Store(newRound())
	m.started = false
	return nil
}

// Done is closed when the loop has ended.
func (m *Machine) Done() <-chan struct{} { return m.round.Load().donec }

// step takes one fact and everything that its effects post locally. It runs on
// the loop's goroutine.
func (m *Machine) step(now time.Time, ev conv.Event) error {
	if err := m.stepOne(now, ev); err != nil {
		return err
	}
	for len(m.local) > 0 {
		next := m.local[0]
		m.local = append(m.local[:0], m.local[1:]...)
		if err := m.stepOne(now, next); err != nil {
			return err
		}
	}
	return nil
}

func (m *Machine) stepOne(now time.Time, ev conv.Event) error {
	before := m.conv.State().Views()
	since, starting := m.conv.State().Entered, m.conv.State().Starting()
	m.stepping.Lock()
	shown, err := m.veil.Step(now, ev)
	m.stepping.Unlock()
	if err != nil {
		return err
	}
	effects := m.conv.Last().Effects
	m.held = m.held || len(m.conv.Last().Transitions) > 0
	if m.o.Record != nil {
		if err := m.o.Record(now, m.conv, shown); err != nil {
			return fmt.Errorf("record: %w", err)
		}
	}
	m.publish()
	waiting := len(m.local)
	m.tell(now, shown, before, since)
	told := slices.Clone(m.local[waiting:]) // the observers' facts come behind what the effects find
	m.local = m.local[:waiting]
	if st := m.conv.State(); st.Phase == conv.Idle && !st.Starting() && (starting || len(m.conv.Last().Transitions) > 0) {
		m.letGo() // the conversation is over, or its start was given up
	}
	if m.o.Perform != nil {
		for _, e := range effects {
			m.o.Perform(&m.loop, e)
		}
	}
	m.local = append(m.local, told...)
	if m.o.After != nil {
		m.o.After()
	}
	return nil
}

// letGo gives the owner's place back.
func (m *Machine) letGo() {
	m.mu.Lock()
	release := m.release
	m.release = nil
	m.mu.Unlock()
	if release != nil {
		release()
	}
}

// inspect has f read the conversation between two steps. It fails after the loop's end.
func (m *Machine) inspect(f func(*conv.Conversation)) error {
	select {
	case <-m.round.Load().donec:
		return ErrEnded
	default:
	}
	m.stepping.Lock()
	defer m.stepping.Unlock()
	f(m.conv)
	return nil
}
