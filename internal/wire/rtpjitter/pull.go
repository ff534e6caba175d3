package rtpjitter

import "time"

const (
	slack   = 25 * time.Millisecond  // delay beyond the target above which a pause is shortened
	hurry   = 200 * time.Millisecond // delay beyond the target above which any sound is skipped
	between = 4                      // minimum number of packets between two skipped ones
	burst   = 200 * time.Millisecond // duration of consecutive lost packets that is concealed
	lossy   = 0.01                   // share of lost packets above which the playout waits for copies
)

// target returns the target delay.
func (b *Buffer) target() time.Duration {
	d := b.delay.needed() + margin
	if b.loss > lossy {
		d = max(d, b.delay.needed()+b.last+margin/2) // wait for the next packet with its copy
	}
	return max(b.o.Min, min(b.o.Max, d))
}

// Pull returns the step for the time that begins at now. quiet reports that the
// last sound played is nearly silent, so that the playout may be shortened or
// stretched without being noticed.
func (b *Buffer) Pull(now time.Time, quiet bool) Step {
	if !b.heard {
		return Step{Kind: Silence, Duration: beat}
	}
	s := b.head()
	if !b.playing {
		return b.rest(now, s)
	}
	if s == nil {
		return b.starve()
	}
	if missing := s.seq - b.next; missing > 0 {
		if b.early(now, 0) && b.waited < patience && !(missing == 1 && s.packet.Copy) {
			// The playout is ahead of its target and the packet may still arrive:
			// waiting moves the playout to the target.
			b.waited += b.last
			return b.guess(b.last)
		}
		if step, lost := b.miss(now, s, missing); lost {
			return step
		}
	}
	switch {
	case s.ts > b.playhead:
		// The sender has paused, so that the playout can move to its target.
		b.playing = false
		return b.rest(now, s)
	case quiet && b.age(now, s) < b.target()-beat && b.waited == 0:
		b.stats.Stretched++
		return b.guess(b.last)
	}
	return b.play(now, b.shorten(now, s, quiet))
}

// age returns the delay of a packet relative to the fastest ones.
func (b *Buffer) age(now time.Time, s *slot) time.Duration { return b.delay.age(now, b.span(s.ts)) }

// early reports whether the playout would still be ahead of its target if it were
// delayed further.
func (b *Buffer) early(now time.Time, by time.Duration) bool {
	return b.delay.age(now, b.span(b.playhead))+by < b.target()-beat/2
}

// rest plays silence until the time of the next packet.
func (b *Buffer) rest(now time.Time, s *slot) Step {
	if s == nil || b.age(now, s) < b.target()-beat/2 {
		return Step{Kind: Silence, Duration: beat}
	}
	if b.begun {
		b.stats.Lost += int(s.seq - b.next)
	}
	return b.play(now, s)
}

// starve returns a step while no packet is available. The playout waits for a
// while, unless the sender has paused.
func (b *Buffer) starve() Step {
	if b.resting || b.waited >= patience {
		b.playing = false
		return Step{Kind: Silence, Duration: beat}
	}
	b.waited += b.last
	return b.guess(b.last)
}

func (b *Buffer) guess(d time.Duration) Step {
	b.stats.Concealed++
	return Step{Kind: Conceal, Duration: d}
}

// miss returns a step for a missing packet when a later one, s, is available. Time
// that was concealed while waiting counts for the first missing packets.
func (b *Buffer) miss(now time.Time, s *slot, missing int64) (Step, bool) {
	length := b.ticks(b.last)
	if missing == 1 && s.packet.Copy && b.early(now, -b.waited) {
		b.waited = 0 // playing the copy as well moves the playout to its target
	}
	for missing > 0 && b.waited > 0 {
		b.lose(length)
		b.waited -= b.last
		missing--
	}
	b.waited = max(b.waited, 0)
	if missing == 0 {
		b.playhead = s.ts // the packet is next in any case
		return Step{}, false
	}
	if b.span(s.ts-b.playhead) > burst {
		for ; missing > 0; missing-- {
			b.lose(length)
		}
		b.playhead = min(b.playhead, s.ts-1) // a pause: see Pull
		return Step{}, false
	}
	b.lose(length)
	if missing == 1 {
		if gap := b.span(s.ts - b.playhead); gap <= 0 {
			b.playhead = s.ts
		}
		if s.packet.Copy {
			b.stats.Recovered++
			b.out = append(b.out[:0], s.payload...)
			return Step{Kind: Recover, Duration: b.last, Payload: b.out}, true
		}
	}
	return b.guess(b.last), true
}

// lose gives up the next packet.
func (b *Buffer) lose(length int64) {
	b.next++
	b.playhead += length
	b.stats.Lost++
	b.loss += (1 - b.loss) / 100
}

// shorten skips the packet if the playout is too far behind and the following
// packet is available. It returns the packet to play.
func (b *Buffer) shorten(now time.Time, s *slot, quiet bool) *slot {
	b.sinceCut++
	late := b.age(now, s) - b.target()
	if late < slack || !quiet && (late < hurry || b.sinceCut < between) {
		return s
	}
	after := &b.slots[uint64(s.seq+1)%size]
	if !after.used || after.seq != s.seq+1 || after.taken || after.ts != s.ts+b.ticks(s.packet.Duration) {
		return s
	}
	s.taken = true
	b.sinceCut = 0
	b.stats.Shortened++
	return after
}

// play removes a packet from the buffer and returns its step.
func (b *Buffer) play(now time.Time, s *slot) Step {
	b.stats.Delay = b.age(now, s)
	s.taken = true
	b.begun, b.playing, b.waited = true, true, 0
	b.next, b.last, b.resting = s.seq+1, s.packet.Duration, s.packet.Silent
	b.playhead = s.ts + b.ticks(s.packet.Duration)
	b.loss -= b.loss / 100
	b.out = append(b.out[:0], s.payload...)
	return Step{Kind: Play, Duration: s.packet.Duration, Payload: b.out}
}
