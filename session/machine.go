package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/catalog"
)

// inboxSize bounds the facts that wait for the loop. When it is full the poster
// waits.
const inboxSize = 256

// ErrEnded is returned to who posts to a machine whose loop has ended.
var ErrEnded = errors.New("the conversation's loop has ended")

// MachineOptions configure a [Machine].
type MachineOptions struct {
	ID   string // of the conversation; never shown raw in records
	Conv conv.Options
	// Now is the clock; time.Now if nil.
	Now func() time.Time
	// Perform carries out an effect. It runs on the loop's goroutine and must not
	// block; it may call Post of the machine's [Local].
	Perform func(conv.Effect)
	// After runs when a step's effects have been handed out, on the loop's
	// goroutine.
	After func()
	// Record sees every step, before its effects are carried out. An error ends
	// the loop.
	Record func(now time.Time, c *conv.Conversation, ev conv.Event) error
	// Owner and Owners keep a second conversation of the same owner from starting
	// (seed 000, CON-002); without Owners the machine looks after itself alone.
	Owner  string
	Owners *Owners
}

// Machine owns a conversation and steps it. Its exported methods may be called
// from any goroutine unless they say otherwise.
type Machine struct {
	o       MachineOptions
	conv    *conv.Conversation // touched by the loop's goroutine alone
	catalog *catalog.Catalog

	inbox chan message
	donec chan struct{} // closed when the loop has ended
	local []conv.Event  // posted by the loop's own goroutine

	current atomic.Pointer[Snapshot]
	started atomic.Bool

	mu        sync.Mutex // guards all below
	observers []*observer
	release   func() // of the owner's lease
}

// message is one post: facts, or a question to the loop.
type message struct {
	events []conv.Event
	ask    func(*conv.Conversation)
	reply  chan struct{} // closed when ask has run
}

// NewMachine makes a machine in Idle. Run starts its loop.
func NewMachine(o MachineOptions) (*Machine, error) {
	c, err := conv.New(o.Conv)
	if err != nil {
		return nil, err
	}
	words, err := catalog.Lookup(c.Options().Language)
	if err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Owners == nil {
		o.Owners = &Owners{}
	}
	m := &Machine{
		o: o, conv: c, catalog: words,
		inbox: make(chan message, inboxSize), donec: make(chan struct{}),
	}
	m.publish()
	return m, nil
}

// Post hands facts to the loop, in their order and without others between. It
// waits while the inbox is full and fails with [ErrEnded] after the loop's end.
// It must not be called from Perform or from an observer: see [Machine.Local].
func (m *Machine) Post(events ...conv.Event) error {
	return m.send(message{events: append([]conv.Event(nil), events...)})
}

func (m *Machine) send(msg message) error {
	select {
	case <-m.donec:
		return ErrEnded
	default:
	}
	select {
	case m.inbox <- msg:
		return nil
	case <-m.donec:
		return ErrEnded
	}
}

// Local posts facts from within Perform or an observer, on the loop's own
// goroutine: they are stepped right after the current one.
func (m *Machine) Local(events ...conv.Event) { m.local = append(m.local, events...) }

// Run is the loop. It returns nil when the conversation that was started has
// ended, ctx's error when ctx ends first, or the recorder's error.
func (m *Machine) Run(ctx context.Context) error {
	if !m.started.CompareAndSwap(false, true) {
		return errors.New("the machine's loop has been run before")
	}
	defer m.end()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		if next := m.conv.NextDeadline(); next.IsZero() {
			timer.Stop()
		} else {
			timer.Reset(next.Sub(m.o.Now()))
		}
		var msg message
		select {
		case <-ctx.Done():
			return ctx.Err()
		case msg = <-m.inbox:
		case <-timer.C:
			msg.events = []conv.Event{conv.DeadlinePassed{}}
		}
		if msg.ask != nil {
			msg.ask(m.conv)
			close(msg.reply)
			continue
		}
		now := m.o.Now()
		for _, ev := range msg.events {
			if err := m.step(now, ev); err != nil {
				return err
			}
		}
		if m.over() {
			return nil
		}
	}
}

// over reports whether a conversation was held and is done.
func (m *Machine) over() bool {
	return m.conv.Phase() == conv.Idle && m.conv.State().Previous == conv.Terminating
}

// end gives back what the machine holds.
func (m *Machine) end() {
	m.letGo()
	close(m.donec)
}

// Done is closed when the loop has ended.
func (m *Machine) Done() <-chan struct{} { return m.donec }

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
	since, starting := m.conv.State().Entered, m.conv.State().Pending.Start
	effects := m.conv.Step(now, ev)
	if m.o.Record != nil {
		if err := m.o.Record(now, m.conv, ev); err != nil {
			return fmt.Errorf("record: %w", err)
		}
	}
	m.publish()
	m.tell(now, ev, before, since)
	if st := m.conv.State(); st.Phase == conv.Idle && !st.Pending.Start && (starting || len(m.conv.Last().Transitions) > 0) {
		m.letGo() // the conversation is over, or its start was given up
	}
	if m.o.Perform != nil {
		for _, e := range effects {
			m.o.Perform(e)
		}
	}
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

// inspect runs f on the loop's goroutine and waits for it.
func (m *Machine) inspect(f func(*conv.Conversation)) error {
	if !m.started.Load() {
		f(m.conv) // no loop owns it yet
		return nil
	}
	msg := message{ask: f, reply: make(chan struct{})}
	if err := m.send(msg); err != nil {
		return err
	}
	select {
	case <-msg.reply:
		return nil
	case <-m.donec:
		return ErrEnded
	}
}
