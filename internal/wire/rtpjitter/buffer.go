package rtpjitter

import (
	"fmt"
	"time"
)

// Options set up a [Buffer]. Zero fields take the defaults named.
type Options struct {
	ClockRate int           // of the timestamps, in hertz; required
	Min, Max  time.Duration // bounds of the target delay: 20 ms and 400 ms
}

func (o *Options) setDefaults() {
	if o.Min == 0 {
		o.Min = 20 * time.Millisecond
	}
	if o.Max == 0 {
		o.Max = 400 * time.Millisecond
	}
}

// Validate says what does not fit.
func (o Options) Validate() error {
	o.setDefaults()
	if o.ClockRate < 8000 || o.ClockRate > 192000 {
		return fmt.Errorf("rtpjitter: ClockRate is %d, expected 8000 to 192000", o.ClockRate)
	}
	if o.Min < 0 || o.Max < o.Min || o.Max > longest {
		return fmt.Errorf("rtpjitter: Min is %v and Max %v, expected 0 <= Min <= Max <= %v", o.Min, o.Max, longest)
	}
	return nil
}

const (
	size     = 64                     // packets that are kept: 1.28 s of 20 ms
	longest  = time.Second            // that a target may be
	beat     = 20 * time.Millisecond  // of silence and of what is concealed where no packet says
	patience = 200 * time.Millisecond // that the playout waits for a packet before it rests
	tooFar   = 5 * time.Second        // between timestamps and arrivals: the sender began anew
	oldInRow = 50                     // packets from the past in a row: the sender began anew
)

// Packet is what arrived.
type Packet struct {
	Seq       uint16
	Timestamp uint32        // in ticks of the clock
	Duration  time.Duration // of its sound, above 0 and at most 120 ms
	// Silent says that the sender rests behind this packet.
	Silent bool
	// Copy says that the packet carries a copy of the one before it.
	Copy    bool
	Payload []byte // is copied
}

// Kind is what to do for a piece of time.
type Kind uint8

// The kinds of steps.
const (
	Silence Kind = iota // nothing is played: the sender rests, or has not begun
	Play                // decode the payload
	Recover             // the payload is of the next packet: decode its copy of this one
	Conceal             // the packet is lost, or has not come yet
)

// Step is what to do for the next piece of time.
type Step struct {
	Kind     Kind
	Duration time.Duration
	// Payload is the packet for Play and Recover, valid until the next Pull.
	Payload []byte
}

// Stats count what happened since the beginning.
type Stats struct {
	Received   int // packets that were taken
	Lost       int // packets that were not there when their time came
	Recovered  int // of these, from the copy in the next one
	Concealed  int // steps that were guessed, for lost packets or while waiting
	Late       int // packets that came after their time
	Duplicates int
	Shortened  int // packets that were left out to catch up
	Stretched  int // steps that were put in to wait longer
	Resets     int // the sender began anew
	Target     time.Duration
	Delay      time.Duration // of the packet played last, beyond that of the fastest
}

// slot is a packet that waits, or was here.
type slot struct {
	used    bool
	taken   bool // it was played or given up
	seq     int64
	ts      int64
	packet  Packet
	payload []byte
}

// Buffer is a jitter buffer. It belongs to one goroutine at a time.
type Buffer struct {
	o     Options
	slots [size]slot
	out   []byte // the payload of the last step
	stats Stats
	delay estimator

	heard   bool // a packet has come
	playing bool // the next step follows the last without a pause
	highest int64
	top     int64     // timestamp of the highest
	at      time.Time // its arrival
	old     int       // packets from the past in a row

	next     int64 // sequence number of what is played next
	begun    bool  // next is known
	playhead int64 // timestamp of what is played next
	last     time.Duration
	resting  bool          // the last packet played was silent
	waited   time.Duration // concealed for packets that have not come
	loss     float64       // share of packets that are lost, of late
	sinceCut int           // packets since one was left out
}

// New makes an empty buffer.
func New(o Options) (*Buffer, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o.setDefaults()
	return &Buffer{o: o, last: beat}, nil
}

// ticks converts time to timestamp units.
func (b *Buffer) ticks(d time.Duration) int64 {
	return int64(d) * int64(b.o.ClockRate) / int64(time.Second)
}

// span converts timestamp units to time.
func (b *Buffer) span(ticks int64) time.Duration {
	rate := int64(b.o.ClockRate)
	return time.Duration(ticks/rate)*time.Second + time.Duration(ticks%rate*int64(time.Second)/rate)
}

// Push takes a packet that arrived at now. What makes no sense is dropped.
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
		// More is missing or waiting than is kept: what was before is given up.
		b.giveUp(b.highest - size + 1)
	}
	s.used, s.taken, s.seq, s.ts = true, false, seq, ts
	s.payload = append(s.payload[:0], p.Payload...)
	s.packet = p
	s.packet.Payload = nil
}

// begin starts the count with the first packet.
func (b *Buffer) begin(now time.Time, p Packet) {
	b.heard = true
	b.highest, b.top, b.at = int64(p.Seq)+1<<32, int64(p.Timestamp)+1<<40, now
	b.delay = estimator{}
}

// restart begins anew: another count, another clock. The counters go on.
func (b *Buffer) restart(now time.Time, p Packet) {
	for i := range b.slots {
		b.slots[i].used = false
	}
	b.begun, b.playing, b.resting, b.old, b.waited, b.loss = false, false, false, 0, 0, 0
	b.begin(now, p)
}

// Reset forgets all packets, as when another sender takes over. The counters go
// on.
func (b *Buffer) Reset() {
	b.restart(time.Time{}, Packet{})
	b.heard = false
}

// anew reports whether a packet cannot belong to the stream so far.
func (b *Buffer) anew(now time.Time, seq, ts int64) bool {
	if seq <= b.highest {
		// Old packets come now and then. A sender that counts anew sends nothing else.
		if seq > b.highest-size {
			return false
		}
		b.old++
		return b.old >= oldInRow
	}
	passed, elapsed := b.span(ts-b.top), now.Sub(b.at)
	return ts <= b.top || passed-elapsed > tooFar || elapsed-passed > tooFar
}

// giveUp counts what was never there before a sequence number, and what waits
// before it, as lost.
func (b *Buffer) giveUp(to int64) {
	for ; b.next < to; b.next++ {
		b.stats.Lost++
		if s := &b.slots[uint64(b.next)%size]; s.used && s.seq == b.next {
			s.taken = true
		}
	}
	b.playing = false
}

// head is the packet that waits and comes first; nil: none does.
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

// Stats are the counts so far.
func (b *Buffer) Stats() Stats {
	s := b.stats
	s.Target = b.target()
	return s
}
