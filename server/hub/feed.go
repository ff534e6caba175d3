package hub

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
)

// Message is one entry of an event stream.
type Message struct {
	Type string  `json:"type"`
	Seq  uint64  `json:"seq"` // rises by one with each message of the feed, from 1
	At   float64 `json:"at"`  // milliseconds since the start
	// Payload is an object, one of the types of [MessageTypes].
	Payload json.RawMessage `json:"payload"`

	words bool   // holds what was said: see feed.discreet
	owner string // in the list: whose conversation it is
}

// Gap is the payload of a message that stands for others: those from From to To
// were dropped before they could be read. Its message has no number of its own.
type Gap struct {
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
	// Steps: those that are missing are steps of the machine.
	Steps bool `json:"steps,omitempty"`
}

// ErrStreams is returned to who wants one stream more than there may be.
var ErrStreams = errors.New("too many event streams of this conversation")

// feed is a bounded list of messages with those who follow it. Steps, which are
// many and which few want, have a list of their own, so that they crowd nothing
// out. Its methods may be called from any goroutine; publish never waits.
type feed struct {
	// discreet keeps words for those alone who are there when they are said.
	discreet bool
	// streamed, if set, is called without a lock when the number of streams has
	// changed.
	streamed func()

	mu            sync.Mutex // guards all below
	next          uint64     // number of the next message
	events, steps ring
	ended         bool
	changed       chan struct{} // closed with the next change; nil: nobody waits
	streams       int
}

// ring is a list that forgets its oldest.
type ring struct {
	list  []Message // in rising order of Seq
	bound int
	lost  uint64 // number of the last message that was dropped
}

func newFeed(events, steps int) *feed {
	return &feed{next: 1, events: ring{bound: events}, steps: ring{bound: steps}}
}

// publish appends a message and numbers it.
func (f *feed) publish(m Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return
	}
	m.Seq = f.next
	f.next++
	r := &f.events
	if m.Type == TypeStep {
		r = &f.steps
	}
	r.push(m)
	f.wake()
}

// end lets the streams end behind the last message. What must not be kept goes.
func (f *feed) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	if f.discreet {
		f.events.list = slices.DeleteFunc(f.events.list, func(m Message) bool { return m.words })
	}
	f.wake()
}

// size is how many bytes the messages have.
func (f *feed) size() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, list := range [][]Message{f.events.list, f.steps.list} {
		for _, m := range list {
			n += len(m.Payload)
		}
	}
	return n
}

// wake is called with mu held.
func (f *feed) wake() {
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
}

func (r *ring) push(m Message) {
	if len(r.list) == r.bound {
		// A quarter at a time: moving what stays costs little per message.
		n := max(1, r.bound/4)
		r.lost = r.list[n-1].Seq
		r.list = slices.Delete(r.list, 0, n)
	}
	r.list = append(r.list, m)
}

// from is the first message with at least the number.
func (r *ring) from(seq uint64) (Message, bool) {
	i, _ := slices.BinarySearchFunc(r.list, seq, func(m Message, seq uint64) int {
		switch {
		case m.Seq < seq:
			return -1
		case m.Seq > seq:
			return 1
		default:
			return 0
		}
	})
	if i == len(r.list) {
		return Message{}, false
	}
	return r.list[i], true
}

// StreamOptions say what a stream begins with.
type StreamOptions struct {
	// From is the number of the first message that is wanted; 0: what is published
	// from now on. What is older than the feed remembers is told as a gap.
	From uint64
	// Steps adds the steps of the machine.
	Steps bool
	// Visible, of a stream of the list, says by the owner which conversations are
	// told; nil: all.
	Visible func(owner string) bool
}

// Stream is one reader of a feed. It is used by one goroutine at a time.
type Stream struct {
	f       *feed
	steps   bool
	visible func(owner string) bool
	at      uint64 // the next message that is wanted
	atSteps uint64 // the next step
	joined  uint64 // the number that was next when it began
	closed  bool
}

// stream opens a stream; most bounds how many there may be.
func (f *feed) stream(o StreamOptions, most int) (*Stream, error) {
	s, err := f.join(o, most)
	if err == nil && f.streamed != nil {
		f.streamed()
	}
	return s, err
}

func (f *feed) join(o StreamOptions, most int) (*Stream, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.streams >= most {
		return nil, ErrStreams
	}
	f.streams++
	s := &Stream{f: f, steps: o.Steps, visible: o.Visible, at: o.From, joined: f.next}
	if o.From == 0 || o.From > f.next {
		s.at = f.next
	}
	s.atSteps = s.at
	return s, nil
}

// Next returns the next message, and waits until there is one. io.EOF is the
// end of the feed; ctx ends the waiting alone.
func (s *Stream) Next(ctx context.Context) (Message, error) {
	for {
		m, wait, err := s.take()
		if wait == nil {
			return m, err
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return Message{}, ctx.Err()
		}
	}
}

// take returns the next message, or what is closed when there may be one.
func (s *Stream) take() (m Message, wait <-chan struct{}, err error) {
	f := s.f
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		if lost := f.events.lost; lost >= s.at {
			gap := Gap{From: s.at, To: lost}
			s.at = lost + 1
			return Message{Type: TypeGap, Seq: lost, Payload: encode(gap)}, nil, nil
		}
		if lost := f.steps.lost; s.steps && lost >= s.atSteps {
			gap := Gap{From: s.atSteps, To: lost, Steps: true}
			s.atSteps = lost + 1
			return Message{Type: TypeGap, Seq: gap.From - 1, Payload: encode(gap)}, nil, nil
		}
		m, found := f.events.from(s.at)
		if step, ok := f.steps.from(s.atSteps); s.steps && ok && (!found || step.Seq < m.Seq) {
			s.atSteps = step.Seq + 1
			return step, nil, nil
		}
		switch {
		case found:
			s.at = m.Seq + 1
			if f.discreet && m.words && m.Seq < s.joined || s.visible != nil && !s.visible(m.owner) {
				continue
			}
			return m, nil, nil
		case f.ended:
			return Message{}, nil, io.EOF
		}
		if f.changed == nil {
			f.changed = make(chan struct{})
		}
		return Message{}, f.changed, nil
	}
}

// Close gives the stream's place back. Called again it does nothing.
func (s *Stream) Close() {
	f := s.f
	f.mu.Lock()
	if s.closed {
		f.mu.Unlock()
		return
	}
	s.closed = true
	f.streams--
	f.mu.Unlock()
	if f.streamed != nil {
		f.streamed()
	}
}

// watched is how many streams there are.
func (f *feed) watched() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.streams
}
