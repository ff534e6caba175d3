package media

import (
	"slices"
	"time"

	"github.com/hocketvoice/hocket/audio"
)

// This file: what becomes of speech that is not wanted any more.

// cut is a flush of a turn's parts up to one.
type cut struct {
	part   int
	number int // among all flushes
}

// Cuts is how many flushes there were. Who hands over a text notes it in
// [Text.Cuts].
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

// note remembers a flush. One that goes further stands for those before it, so
// that there are never more than the turn has parts.
func (d *Downlink) note(turn, part int) {
	if turn < d.flushed {
		return // No op. It is over.
	}
	if turn > d.flushed {
		d.flushed, d.flushes = turn, d.flushes[:0]
	}
	d.cuts++
	d.flushes = slices.DeleteFunc(d.flushes, func(c cut) bool { return c.part <= part })
	d.flushes = append(d.flushes, cut{part, d.cuts})
}

// Flush drops what is queued of a turn, or with a part above zero of its parts
// up to that one. It tells what of these has been heard, counted from the
// beginning of the turn, the fade-out that is still to be sent included. What
// is queued of later parts is played behind it. A pause of the turn ends.
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
		return 0, "" // nothing of it was ever made
	}
	limit := d.ledger.end(part)
	if d.ledger.out > limit {
		// A later part is on its way: what was before it is sent, and as the
		// carrier keeps it, it will be heard.
		d.release(part)
		return d.ledger.heard(limit)
	}
	if d.turn == turn {
		d.dropParts(part, limit)
		d.clear = true
	}
	n := min(d.played(), limit)
	d.ledger.cut(part, n)
	return d.ledger.heard(n)
}

// TakeClear reports, once, that the carrier is to drop what it has. It is asked
// behind Frame: the frame is not to be dropped.
func (d *Downlink) TakeClear() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	wanted := d.clear
	d.clear = false
	return wanted
}

// drop forgets the queue. The maker of speech learns it at its next Write.
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

// dropParts forgets what is queued of the parts up to one, which reach to a
// position of the turn.
func (d *Downlink) dropParts(part int, limit audio.Pos) {
	to := d.ledger.start + limit
	d.fadeOut(int(to - d.queue.Pos()))
	d.queue.Discard(int(to - d.queue.Pos()))
	d.playing, d.held = 0, false
	d.since, d.awaited = 0, 0
	d.fader.Set(1)
	d.release(part)
}

// release takes back what was done to the turn's volume, and forgets how far the
// parts up to one had come.
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

// fadeOut has what plays end softly, in at most n samples of the queue. A
// carrier that holds frames back has others before these and drops them: a
// scrap behind the gap would be one click more.
func (d *Downlink) fadeOut(n int) {
	if d.playing == 0 || d.held || d.o.Acks != nil {
		return
	}
	d.tailLen = d.queue.Read(d.tail[:min(len(d.tail), n)])
	d.fader.Apply(d.tail[:d.tailLen])
	audio.Ramp(d.tail[:d.tailLen], 1, 0)
	d.ledger.sent(d.tailLen)
}
