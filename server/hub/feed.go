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
	Seq  uint64  `json:"seq"` // sequence number in the feed, from 1
	At   float64 `json:"at"`  // milliseconds since the start
	// Payload is an object, one of the types of [MessageTypes].
	Payload json.RawMessage `json:"payload"`

	words bool   // contains what was said; see feed.discreet
	owner string // owner of the conversation; used in the list
}

// Gap is the payload of a message in place of the messages From to To, which were
// dropped before they were read. This message has no sequence number of its own.
type Gap struct {
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
	// Steps reports that the missing messages are steps of the machine.
	Steps bool `json:"steps,omitempty"`
}

// ErrStreams reports that the limit of event streams is reached.
var ErrStreams = errors.New("too many event streams of this conversation")

// feed is a bounded list of messages and its readers. Steps, which are numerous and
// rarely wanted, have a list of their own so that they do not displace other
// messages. It is safe for concurrent use; publish never blocks.
type feed struct {
	// discreet sends messages with words only to current readers and does not keep
	// them.
	discreet bool
	// whole has the first stream begin with the first message.
	whole bool
	// streamed, if not nil, is called without a lock when the number of streams has
	// changed.
	streamed func()

	mu            sync.Mutex // guards the fields below
	next          uint64     // number of the next message
	events, steps ring
	ended         bool
	changed       chan struct{} // closed with the next change; nil if nobody waits
	streams       int
	read          bool // there has been a stream
}

// ring is a list that drops its oldest messages.
type ring struct {
	list  []Message // in ascending order of Seq
	bound int
	lost  uint64 // number of the last message dropped
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

// end ends the streams after the last message and drops messages that must not be
// kept.
func (f *feed) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	if f.discreet {
		f.events.list = slices.DeleteFunc(f.events.list, func(m Message) bool { return m.words })
	}
	f.wake()
}

// size returns the size of the messages in bytes.
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

// wake requires mu.
func (f *feed) wake() {
	if f.changed != nil {
		close(f.changed)
		f.changed = nil
	}
}

func (r *ring) push(m Message) {
	if len(r.list) == r.bound {
		// Dropping a quarter at a time keeps the cost of moving the rest low.
		n := max(1, r.bound/4)
		r.lost = r.list[n-1].Seq
		r.list = slices.Delete(r.list, 0, n)
	}
	r.list = append(r.list, m)
}

// from returns the first message whose number is at least seq.
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

// StreamOptions says which messages a stream contains.
type StreamOptions struct {
	// From is the number of the first message. 0 means the beginning for the first stream
	// of a conversation, so that its client misses nothing, and messages published from
	// now on for others. Messages that the feed no longer has are replaced by a gap.
	From uint64
	// Steps adds the steps of the machine.
	Steps bool
	// Visible selects conversations by owner in a stream of the list; nil selects
	// all.
	Visible func(owner string) bool
}

// Stream is a reader of a feed. It must be used by one goroutine at a time.
type Stream struct {
	f       *feed
	steps   bool
	visible func(owner string) bool
	at      uint64 // number of the next message
	atSteps uint64 // number of the next step
	joined  uint64 // next number when the stream was opened
	closed  bool
}

// stream opens a stream. most bounds the number of open streams.
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
	switch {
	case o.From == 0 && !f.read && f.whole:
		s.at = 1
	case o.From == 0 || o.From > f.next:
		s.at = f.next
	}
	f.read = true
	s.atSteps = s.at
	return s, nil
}

// Next waits for the next message and returns it. It returns io.EOF at the end of
// the feed. The end of ctx only ends the wait.
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

// take returns the next message, or a channel that is closed when there may be one.
func (s *Stream) take() (m Message, wait <-chan struct{}, err error) {
	f := s.f
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		if m, lost := s.gap(); lost {
			return m, nil, nil
		}
		m, found := f.events.from(s.at)
		if step, ok := f.steps.from(s.atSteps); s.steps && ok && (!found || step.Seq < m.Seq) {
			s.atSteps = step.Seq + 1
			return step, nil, nil
		}
		switch {
		case found:
			s.at = m.Seq + 1
			if s.shows(&m) {
				return m, nil, nil
			}
			continue
		case f.ended:
			return Message{}, nil, io.EOF
		}
		if f.changed == nil {
			f.changed = make(chan struct{})
		}
		return Message{}, f.changed, nil
	}
}

// gap returns the message about what was lost before the stream has returned it, if anything was.
// The caller holds the lock of the feed.
func (s *Stream) gap() (m Message, lost bool) {
	if lost := s.f.events.lost; lost >= s.at {
		gap := Gap{From: s.at, To: lost}
		s.at = lost + 1
		return Message{Type: TypeGap, Seq: lost, Payload: encode(gap)}, true
	}
	if lost := s.f.steps.lost; s.steps && lost >= s.atSteps {
		gap := Gap{From: s.atSteps, To: lost, Steps: true}
		s.atSteps = lost + 1
		return Message{Type: TypeGap, Seq: gap.From - 1, Payload: encode(gap)}, true
	}
	return Message{}, false
}

// shows reports whether the watcher may see a message.
func (s *Stream) shows(m *Message) bool {
	if s.f.discreet && m.words && m.Seq < s.joined {
		return false
	}
	return s.visible == nil || s.visible(m.owner)
}

// Close frees the stream. Further calls do nothing.
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

// watched returns the number of streams.
func (f *feed) watched() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.streams
}
