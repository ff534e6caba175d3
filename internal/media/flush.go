package media

import (
	"slices"
	"time"

	"github.com/hocketvoice/hocket/audio"
)

// This file removes speech that is no longer wanted.

// cut is a flush of a turn's parts up to one.
type cut struct {
	part   int
	number int // among all flushes
}

// Cuts returns the number of flushes. Callers store it in [Text.Cuts] when they hand
// over a text.
func (d *Downlink) Cuts() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cuts
}

// refuses reports whether a text was handed over before it was flushed.
func (d *Downlink) refuses(t Text) bool {
	if t.Turn != d.flushed {
		return t.Turn < d.flushed
	}
	return slices.ContainsFunc(d.flushes, func(c cut) bool { return t.Part <= c.part && t.Cuts < c.number })
}

// note records a flush. It replaces flushes of fewer parts, so that there are never
// more than the turn has parts.
func (d *Downlink) note(turn, part int) {
	if turn < d.flushed {
		return // the turn is over
	}
	if turn > d.flushed {
		d.flushed, d.flushes = turn, d.flushes[:0]
	}
	d.cuts++
	d.flushes = slices.DeleteFunc(d.flushes, func(c cut) bool { return c.part <= part })
	d.flushes = append(d.flushes, cut{part, d.cuts})
}

// Flush drops what is queued of a turn or, if part is above zero, of its parts up to
// that one. It returns what of these was heard, from the beginning of the turn and
// including the fade-out that is still to be sent. Later parts are played afterwards. A
// pause of the turn ends.
func (d *Downlink) Flush(turn, part int) (heard time.Duration, text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if part <= 0 {
		part = allParts
		d.clear = true
	}
	d.note(turn, part)
	if d.paused == turn {
		d.paused = 0
	}
	if d.turn == turn && part == allParts {
		d.drop()
		d.endedTo, d.finished = 0, 0
	}
	if turn == 0 || d.ledger.turn != turn {
		return 0, "" // nothing of it was ever queued
	}
	limit := d.ledger.end(part)
	if d.ledger.out > limit {
		// A later part has already been sent, so everything before it was sent too and
		// will be heard.
		d.release(part)
		return d.ledger.heard(limit)
	}
	if d.turn == turn {
		d.dropParts(part, limit)
		d.clear = true
	}
	n := min(d.played(), limit)
	if unheard := d.ledger.out - n; unheard > 0 && d.o.Unheard != nil {
		d.o.Unheard(int(unheard))
	}
	d.ledger.cut(part, n)
	return d.ledger.heard(n)
}

// TakeClear reports, once, whether the carrier must drop what it has. It must be called
// after Frame, whose frame is not to be dropped.
func (d *Downlink) TakeClear() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	wanted := d.clear
	d.clear = false
	return wanted
}

// drop clears the queue. The next Write returns ErrFlushed.
func (d *Downlink) drop() {
	d.fadeOut(d.queue.Len())
	d.queue.Reset(d.queue.End())
	if d.paused == d.turn {
		d.paused = 0
	}
	d.turn, d.writing, d.playing = 0, 0, 0
	d.held = false
	d.ended = d.ended[:0]
	d.fader.Set(1)
	d.since, d.awaited = 0, 0
	d.signal()
}

// dropParts drops what is queued of the parts up to one, which end at a position of the
// turn.
func (d *Downlink) dropParts(part int, limit audio.Pos) {
	to := d.ledger.start + limit
	d.fadeOut(int(to - d.queue.Pos()))
	d.queue.Discard(int(to - d.queue.Pos()))
	d.playing, d.held = 0, false
	d.since, d.awaited = 0, 0
	d.fader.Set(1)
	d.release(part)
}

// release restores the turn's volume and clears the state of the parts up to one.
func (d *Downlink) release(part int) {
	d.fader.FadeTo(1, audio.PosOf(fadeTime, d.o.Rate))
	if d.part <= part {
		d.writing = 0
	}
	d.ended = slices.DeleteFunc(d.ended, func(e end) bool { return e.part <= part })
	if d.endedTo <= part {
		d.endedTo = 0
	}
	if d.finished <= part {
		d.finished = 0
	}
	d.signal()
}

// fadeOut lets what is being played fade out, within at most n samples of the queue. It
// does nothing with a carrier that buffers frames: it drops the frames before these,
// and the remainder after the gap would only be another click.
func (d *Downlink) fadeOut(n int) {
	if d.playing == 0 || d.held || d.o.Acks != nil {
		return
	}
	d.tailLen = d.queue.Read(d.tail[:min(len(d.tail), n)])
	d.fader.Apply(d.tail[:d.tailLen])
	audio.Ramp(d.tail[:d.tailLen], 1, 0)
	d.ledger.sent(d.tailLen)
}
