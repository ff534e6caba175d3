package rtpjitter

import "time"

const (
	slack   = 25 * time.Millisecond  // behind the target, until a pause is made shorter
	hurry   = 200 * time.Millisecond // behind the target: sound is left out whatever it is
	between = 4                      // packets, at least, between two that are left out of a voice
	burst   = 200 * time.Millisecond // of lost packets in a row that are concealed
	lossy   = 0.01                   // share of lost packets from which on copies are waited for
)

// target is the delay at which packets are to be played.
func (b *Buffer) target() time.Duration {
	d := b.delay.needed() + margin
	if b.loss > lossy {
		d = max(d, b.delay.needed()+b.last+margin/2) // so that the next packet, with its copy, is there
	}
	return max(b.o.Min, min(b.o.Max, d))
}

// Pull says what to do for the time that begins at now. quiet says that what was
// played last is nearly silent: then the playout may be made longer or shorter
// without anybody noticing.
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
			// The playout is ahead of its target, and the packet may still come: to
			// wait for it brings the playout there.
			b.waited += b.last
			return b.guess(b.last)
		}
		if step, lost := b.miss(now, s, missing); lost {
			return step
		}
	}
	switch {
	case s.ts > b.playhead:
		// The sender has rested in between, and the playout may come to its target.
		b.playing = false
		return b.rest(now, s)
	case quiet && b.age(now, s) < b.target()-beat && b.waited == 0:
		b.stats.Stretched++
		return b.guess(b.last)
	}
	return b.play(now, b.shorten(now, s, quiet))
}

// age is how late a packet is played, beyond the fastest.
func (b *Buffer) age(now time.Time, s *slot) time.Duration { return b.delay.age(now, b.span(s.ts)) }

// early reports whether the playout is ahead of its target, were it later by so
// much.
func (b *Buffer) early(now time.Time, by time.Duration) bool {
	return b.delay.age(now, b.span(b.playhead))+by < b.target()-beat/2
}

// rest waits for the time of the packet that comes next.
func (b *Buffer) rest(now time.Time, s *slot) Step {
	if s == nil || b.age(now, s) < b.target()-beat/2 {
		return Step{Kind: Silence, Duration: beat}
	}
	if b.begun {
		b.stats.Lost += int(s.seq - b.next)
	}
	return b.play(now, s)
}

// starve is a step without any packet. The playout waits for a while, unless the
// sender has said that it rests.
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

// miss is a step for a packet that is not there though a later one, s, is. What
// was concealed while nothing was there stands for the first ones.
func (b *Buffer) miss(now time.Time, s *slot, missing int64) (Step, bool) {
	length := b.ticks(b.last)
	if missing == 1 && s.packet.Copy && b.early(now, -b.waited) {
		b.waited = 0 // the copy is heard too, and the playout comes to its target
	}
	for missing > 0 && b.waited > 0 {
		b.lose(length)
		b.waited -= b.last
		missing--
	}
	b.waited = max(b.waited, 0)
	if missing == 0 {
		b.playhead = s.ts // whatever was guessed, the packet is next
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

// lose gives the next packet up.
func (b *Buffer) lose(length int64) {
	b.next++
	b.playhead += length
	b.stats.Lost++
	b.loss += (1 - b.loss) / 100
}

// shorten leaves the packet out if the playout is too far behind and the packet
// after it is there, and returns the one to play.
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

// play takes a packet out.
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
