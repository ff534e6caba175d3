package rtpjitter

import (
	"fmt"
	"time"
)

// Options configures a [Buffer]. ClockRate is required; other zero fields select
// the defaults.
type Options struct {
	ClockRate int           // of the timestamps, in hertz; required
	Min, Max  time.Duration // bounds of the target delay; default 20 ms and 400 ms
}

func (o *Options) setDefaults() {
	if o.Min == 0 {
		o.Min = 20 * time.Millisecond
	}
	if o.Max == 0 {
		o.Max = 400 * time.Millisecond
	}
}

// Validate returns an error if an option is invalid.
func (o Options) Validate() error {
	o.setDefaults()
	if o.ClockRate < 8000 || o.ClockRate > 192000 {
		return fmt.Errorf("rtpjitter: ClockRate is %d: expected 8000 to 192000", o.ClockRate)
	}
	if o.Min < 0 || o.Max < o.Min || o.Max > longest {
		return fmt.Errorf("rtpjitter: Min is %v and Max %v: expected 0 <= Min <= Max <= %v", o.Min, o.Max, longest)
	}
	return nil
}

const (
	size     = 64                     // packets in the buffer: 1.28 s of 20 ms
	longest  = time.Second            // maximum of Options.Max
	beat     = 20 * time.Millisecond  // duration of silence and concealment if no packet determines it
	patience = 200 * time.Millisecond // how long the playout waits for a packet before it pauses
	tooFar   = 5 * time.Second        // difference of timestamps and arrivals after which the sender must have restarted
	oldInRow = 50                     // consecutive old packets after which the sender must have restarted
)

// Packet is a received packet.
type Packet struct {
	Seq       uint16
	Timestamp uint32        // in units of the clock rate
	Duration  time.Duration // duration of its sound, above 0 and at most 120 ms
	// Silent reports that the sender pauses after this packet.
	Silent bool
	// Copy reports that the packet contains a copy of the previous one.
	Copy    bool
	Payload []byte // copied by Push
}

// Kind is the kind of a step.
type Kind uint8

// The kinds of steps.
const (
	Silence Kind = iota // play nothing: the sender pauses or has not begun
	Play                // decode the payload
	Recover             // decode the copy of this packet in the payload, which is the next packet
	Conceal             // the packet is lost or late
)

// Step describes how to produce the next piece of sound.
type Step struct {
	Kind     Kind
	Duration time.Duration
	// Payload is the packet for Play and Recover. It is valid until the next Pull.
	Payload []byte
}

// Stats are counts since the beginning.
type Stats struct {
	Received   int // accepted packets
	Lost       int // packets that were missing at their time
	Recovered  int // lost packets recovered from the following one
	Concealed  int // concealed steps, for lost packets or while waiting
	Late       int // packets that arrived after their time
	Duplicates int
	Shortened  int // packets skipped to reduce the delay
	Stretched  int // steps inserted to increase the delay
	Resets     int // restarts of the sender
	Target     time.Duration
	Delay      time.Duration // delay of the packet played last, relative to the fastest packets
}

// slot is a place for a packet.
type slot struct {
	used    bool
	taken   bool // the packet was played or given up
	seq     int64
	ts      int64
	packet  Packet
	payload []byte
}

// Buffer is a jitter buffer. It must be used by one goroutine at a time.
type Buffer struct {
	o     Options
	slots [size]slot
	out   []byte // payload of the last step
	stats Stats
	delay estimator

	heard   bool // a packet has arrived
	playing bool // the next step continues the last without a pause
	highest int64
	top     int64     // timestamp of the highest packet
	at      time.Time // arrival of the highest packet
	old     int       // consecutive old packets

	next     int64 // sequence number of the next packet to play
	begun    bool  // next is valid
	playhead int64 // timestamp of the next step
	last     time.Duration
	resting  bool          // the last packet played was silent
	waited   time.Duration // time concealed while waiting for packets
	loss     float64       // recent share of lost packets
	sinceCut int           // packets since one was skipped
}

// New returns an empty buffer.
func New(o Options) (*Buffer, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o.setDefaults()
	return &Buffer{o: o, last: beat}, nil
}

// ticks converts a duration to timestamp units.
func (b *Buffer) ticks(d time.Duration) int64 {
	return int64(d) * int64(b.o.ClockRate) / int64(time.Second)
}

// span converts timestamp units to a duration.
func (b *Buffer) span(ticks int64) time.Duration {
	rate := int64(b.o.ClockRate)
	return time.Duration(ticks/rate)*time.Second + time.Duration(ticks%rate*int64(time.Second)/rate)
}

// Push adds a packet that arrived at now. It drops invalid packets.
func (b *Buffer) Push(now time.Time, p Packet) {
	if p.Duration <= 0 || p.Duration > 120*time.Millisecond {
		return
	}
	if !b.heard {
		b.begin(now, p)
	}
	seq := b.highest + int64(int16(p.Seq-uint16(b.highest)))
	ts := b.top + int64(int32(p.Timestamp-uint32(b.top)))
	if b.anew(now, seq, ts) {
		b.stats.Resets++
		b.restart(now, p)
		seq, ts = b.highest, b.top
	}
	s := &b.slots[uint64(seq)%size]
	switch {
	case s.used && s.seq == seq:
		b.stats.Duplicates++
		return
	case b.begun && seq < b.next, seq <= b.highest-size:
		b.stats.Late++
		b.stats.Received++
		if seq > b.highest-size {
			b.delay.add(now, b.span(ts))
		}
		return
	}
	b.old = 0
	b.stats.Received++
	b.delay.add(now, b.span(ts))
	if seq > b.highest {
		b.highest, b.top, b.at = seq, ts, now
	}
	if b.begun && b.highest-b.next >= size {
		// More packets are missing or waiting than fit: give up the oldest.
		b.giveUp(b.highest - size + 1)
	}
	s.used, s.taken, s.seq, s.ts = true, false, seq, ts
	s.payload = append(s.payload[:0], p.Payload...)
	s.packet = p
	s.packet.Payload = nil
}

// begin initializes the buffer with the first packet.
func (b *Buffer) begin(now time.Time, p Packet) {
	b.heard = true
	b.highest, b.top, b.at = int64(p.Seq)+1<<32, int64(p.Timestamp)+1<<40, now
	b.delay = estimator{}
}

// restart initializes the buffer for a restarted sender. The statistics continue.
func (b *Buffer) restart(now time.Time, p Packet) {
	for i := range b.slots {
		b.slots[i].used = false
	}
	b.begun, b.playing, b.resting, b.old, b.waited, b.loss = false, false, false, 0, 0, 0
	b.begin(now, p)
}

// Reset removes all packets, for a new sender. The statistics continue.
func (b *Buffer) Reset() {
	b.restart(time.Time{}, Packet{})
	b.heard = false
}

// anew reports whether a packet shows that the sender has restarted.
func (b *Buffer) anew(now time.Time, seq, ts int64) bool {
	if seq <= b.highest {
		// Old packets occur occasionally. A sender that has restarted sends nothing
		// else.
		if seq > b.highest-size {
			return false
		}
		b.old++
		return b.old >= oldInRow
	}
	passed, elapsed := b.span(ts-b.top), now.Sub(b.at)
	return ts <= b.top || passed-elapsed > tooFar || elapsed-passed > tooFar
}

// giveUp counts all packets before a sequence number, missing or waiting, as lost.
func (b *Buffer) giveUp(to int64) {
	for ; b.next < to; b.next++ {
		b.stats.Lost++
		if s := &b.slots[uint64(b.next)%size]; s.used && s.seq == b.next {
			s.taken = true
		}
	}
	b.playing = false
}

// head returns the waiting packet with the lowest sequence number, or nil.
func (b *Buffer) head() *slot {
	from := b.highest - size + 1
	if b.begun {
		from = max(from, b.next)
	}
	for seq := from; seq <= b.highest; seq++ {
		if s := &b.slots[uint64(seq)%size]; s.used && s.seq == seq && !s.taken {
			return s
		}
	}
	return nil
}

// Stats returns the counts so far.
func (b *Buffer) Stats() Stats {
	s := b.stats
	s.Target = b.target()
	return s
}
