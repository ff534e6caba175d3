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

// inboxSize is the number of posts that can wait for the loop. If the inbox is full, Post
// waits.
const inboxSize = 256

// ErrEnded is returned by methods of a [Machine] whose loop has ended.
var ErrEnded = errors.New("the conversation's loop has ended")

// ErrNotResumable is returned by [New], [NewMachine] and [NewText] for a snapshot of a
// conversation that has ended or has not begun.
var ErrNotResumable = errors.New("the conversation has ended")

// MachineOptions configure a [Machine].
type MachineOptions struct {
	ID   string // the id of the conversation; observers see only its hash
	Conv conv.Options
	// Now returns the current time. It must not go back. The default begins with the time of
	// day at [NewMachine] and follows a monotonic clock, whatever happens to the system's
	// clock.
	Now func() time.Time
	// Perform carries out an effect. It runs on the loop's goroutine and must not block. It
	// posts events that follow at once with [Loop.Post]. If it is nil, effects are ignored.
	Perform func(*Loop, conv.Effect)
	// After, if not nil, runs after Perform has got all effects of a step, on the loop's
	// goroutine.
	After func()
	// Record, if not nil, gets every step before its effects are carried out: the conversation,
	// and the part of the step that may be shown. An error ends the loop.
	Record func(now time.Time, c *conv.Conversation, shown conv.Shown) error
	// Owner and Owners prevent a second conversation of the same owner (seed 000, CON-002).
	// If Owners is nil, only this machine is checked.
	Owner  string
	Owners *Owners
	// Restore, if not nil, is a snapshot of a conversation ([conv.Conversation.Snapshot]) that
	// the machine restores. The conversation continues and must not be started (see
	// [Options.Restore]).
	Restore []byte
}

// Machine owns a conversation and steps it. Its exported methods are safe for concurrent use.
// Observers and Perform must not call those that post events, which may wait for the loop: they
// post with their [Loop].
type Machine struct {
	o       MachineOptions
	conv    *conv.Conversation // only the loop's goroutine steps it, with stepping held
	veil    *conv.Veil         // steps conv and hides secrets from observers and records
	catalog *messages.Catalog

	round atomic.Pointer[round]

	// stepping is held while conv changes. A goroutine that holds it may read conv. The loop's
	// goroutine may read conv without it.
	stepping sync.Mutex

	// Only the loop's goroutine uses these fields.
	loop     Loop
	local    []conv.Event // events that were posted with loop, to be stepped next
	turns    turnNotes    // for observers
	held     bool         // a conversation has begun
	declined bool         // the conversation was ended before it began, and will not begin

	current atomic.Pointer[Snapshot]

	contexts atomic.Int64 // how often SetContext was called

	begin   sync.Mutex // guards started and once
	started bool       // the loop has been run since the last Reset
	once    bool       // Reset is not allowed

	mu        sync.Mutex // guards all below
	observers []*observer
	release   func() // ends the owner's active conversation in o.Owners; nil: none
}

// round is one run of the loop.
type round struct {
	inbox  chan []conv.Event // each element is one post
	donec  chan struct{}     // closed when the loop has ended
	ending sync.Once         // closes donec
}

func newRound() *round {
	return &round{inbox: make(chan []conv.Event, inboxSize), donec: make(chan struct{})}
}

// Loop lets Perform and observers post events from the loop's goroutine. It must be used only
// during the call that passes it.
type Loop struct{ m *Machine }

// Post posts events that are stepped right after the current step, before those in the inbox.
// Events of Perform come before those of observers. Post never waits. An observer that posts an
// event after every step keeps the loop from everything else.
func (l *Loop) Post(events ...conv.Event) { l.m.local = append(l.m.local, events...) }

// NewMachine returns a machine in the phase Idle, or in that of o.Restore. [Machine.Run] runs
// its loop. It returns an error if an option is invalid.
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

// steadyClock returns a clock that starts with the time of day and follows the monotonic clock.
// Its times carry no monotonic reading, so that the difference of two times is exactly that of
// their written forms and a trace replays. They are in location or, if that is nil, in the zone
// that [timezone.Of] returns for the process, so that a replay has the same days.
func steadyClock(location *time.Location) func() time.Time {
	began := time.Now()
	if location == nil {
		location = timezone.Of(began)
	}
	day := began.Round(0).In(location)
	return func() time.Time { return day.Add(time.Since(began)) }
}

// resume continues a restored conversation: it reports the connection of the earlier process
// as lost and restored. It runs on the loop's goroutine.
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

// resumed returns the events with which a restored conversation continues.
func resumed() []conv.Event {
	return []conv.Event{conv.ConnectionLost{}, conv.ConnectionRestored{}}
}

// Post hands events to the loop, which steps them in order and without other posts in between.
// It waits while the inbox is full, as do all methods that post. Observers and Perform must not
// call it, because the loop waits for them; they post with [Loop.Post]. It returns [ErrEnded]
// after the end of the loop.
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

// claim makes the caller's goroutine the loop's. It returns an error if it was called before
// since the last [Machine.Reset]. It calls set, if that is not nil, with m.begin held.
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

// Run runs the loop on the caller's goroutine. It returns nil when the conversation has ended,
// the error of ctx if ctx ends first, or the error of Record. It can be called once, and once
// more after each [Machine.Reset].
func (m *Machine) Run(ctx context.Context) error {
	if err := m.claim(nil); err != nil {
		return err
	}
	defer m.end()
	return m.run(ctx)
}

// run steps posts and deadlines until the conversation is over.
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

// poll returns the next post, if there is one.
func (m *Machine) poll() (events []conv.Event, ok bool) {
	select {
	case events = <-m.round.Load().inbox:
		return events, true
	default:
		return nil, false
	}
}

// take steps the events of a post.
func (m *Machine) take(events []conv.Event) error {
	now := m.o.Now()
	for _, ev := range events {
		if err := m.step(now, ev); err != nil {
			return err
		}
	}
	return nil
}

// over reports whether the conversation has ended, or will not begin.
func (m *Machine) over() bool {
	return m.conv.Phase() == conv.Idle && (m.declined || m.held)
}

// end ends the loop: it closes donec and then calls letGo. StartConversation depends on this
// order. A second call does nothing.
func (m *Machine) end() {
	m.begin.Lock()
	defer m.begin.Unlock()
	r := m.round.Load()
	r.ending.Do(func() { close(r.donec) })
	m.letGo()
}

// Reset prepares a machine whose conversation has ended for the next one: Run may be called
// again, and events may be posted. Observers stay subscribed, and turn numbers continue. Reset
// returns an error if the loop has not run or still runs, if Run returned an error, and for a
// [Session], which holds one call.
func (m *Machine) Reset() error {
	m.begin.Lock()
	defer m.begin.Unlock()
	select {
	case <-m.round.Load().donec:
	default:
		return errors.New("reset: the machine's loop has not ended")
	}
	if m.once || !m.over() {
		return errors.New("reset: the machine cannot hold another conversation")
	}
	m.local, m.held, m.declined = nil, false, false
	m.round.Store(newRound())
	m.started = false
	return nil
}

// Done returns a channel that is closed when the loop has ended.
func (m *Machine) Done() <-chan struct{} { return m.round.Load().donec }

// step steps one event, and then all events that are posted with the loop meanwhile. It runs on
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
	told := slices.Clone(m.local[waiting:]) // events of observers come after those of Perform
	m.local = m.local[:waiting]
	if st := m.conv.State(); st.Phase == conv.Idle && !st.Starting() && (starting || len(m.conv.Last().Transitions) > 0) {
		m.letGo() // the conversation has ended, or its start was given up
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

// letGo ends the owner's active conversation in o.Owners.
func (m *Machine) letGo() {
	m.mu.Lock()
	release := m.release
	m.release = nil
	m.mu.Unlock()
	if release != nil {
		release()
	}
}

// inspect calls f between two steps, to read the conversation. It returns [ErrEnded] after the
// end of the loop.
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
