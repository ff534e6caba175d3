package media

import (
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
)

// This file implements the pacer's side of the downlink, frame by frame.

// Duck lowers the volume of the turn if it is being played.
func (d *Downlink) Duck(turn int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.turn == turn {
		d.fader.FadeTo(duckedGain, audio.PosOf(fadeTime, d.o.Rate))
	}
}

// Pause holds back a turn's speech, even if it has not begun yet.
func (d *Downlink) Pause(turn int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.paused = turn
}

// Resume ends Duck and Pause.
func (d *Downlink) Resume(turn int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.paused == turn {
		d.paused = 0
	}
	if d.turn == turn {
		d.fader.FadeTo(1, audio.PosOf(fadeTime, d.o.Rate))
	}
}

// Freeze stops and resumes the playout for a suspension.
func (d *Downlink) Freeze(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.frozen = on
}

// Frame fills dst with the next 20 ms and reports whether they contain speech. It posts
// the events of the frame and then wakes a waiting Write, so that the writer's own
// events follow these.
func (d *Downlink) Frame(dst []int16) (speech bool) {
	d.mu.Lock()
	n := d.next(dst)
	clear(dst[n:])
	d.rest(len(dst))
	d.level = audio.RMS(dst)
	d.sent.Overwrite(dst)
	d.ledger.frame(len(dst))
	turn, events := d.turn, d.events // only this goroutine fills events
	d.events = d.events[:0]
	d.mu.Unlock()
	if d.o.Sent != nil && n > 0 && turn != 0 {
		d.o.Sent(turn, dst[:n])
	}
	if len(events) > 0 {
		d.o.Post(events...)
	}
	if n > 0 {
		d.Wake()
	}
	return n > 0
}

// restAfter is the silence after which the memory of the queue is released, since a
// conversation listens or waits most of the time.
const restAfter = time.Second

// rest releases the memory of the queue after a long silence.
func (d *Downlink) rest(frame int) {
	if d.queue.Len() > 0 {
		d.quiet = 0
		return
	}
	after := audio.PosOf(restAfter, d.o.Rate)
	if d.quiet < after {
		if d.quiet += audio.Pos(frame); d.quiet >= after {
			d.queue.Release()
		}
	}
}

// next fills dst with the available speech and records the resulting events.
func (d *Downlink) next(dst []int16) (n int) {
	if d.tailLen > 0 {
		n = copy(dst, d.tail[:d.tailLen])
		d.tailLen = 0
		return n
	}
	if d.turn == 0 {
		return 0
	}
	edge := min(len(d.tail), len(dst))
	held := d.frozen || d.paused == d.turn
	switch {
	case held && (d.held || d.playing == 0):
		d.held = true
		return 0
	case held:
		n = d.queue.Read(dst[:edge])
		d.fader.Apply(dst[:n])
		audio.Ramp(dst[:n], 1, 0)
		d.held = true
	default:
		n = d.queue.Read(dst)
		d.fader.Apply(dst[:n])
		if d.held && n > 0 {
			audio.Ramp(dst[:min(n, edge)], 0, 1)
			d.held = false
		}
	}
	d.advance(n, len(dst))
	return n
}

// advance records that n samples of the turn are sent with this frame. Parts that ended
// before these samples are reported before a part that begins with them.
func (d *Downlink) advance(n, frame int) {
	d.awaited += audio.Pos(frame)
	first := d.queue.Pos() - audio.Pos(n)
	d.finish(first)
	if n == 0 {
		return
	}
	d.awaited = 0
	d.start(first)
	d.ledger.sent(n)
	if d.since += audio.Pos(n); d.since >= audio.PosOf(reportEvery, d.o.Rate) {
		d.since = 0
		heard, text := d.ledger.heard(d.played())
		d.events = append(d.events, conv.PlayoutProgress{Turn: d.turn, Heard: heard, Text: text})
	}
	d.finish(d.queue.Pos())
	d.start(d.queue.Pos() - 1)
}

// start reports the beginning of the part at a position of the queue.
func (d *Downlink) start(at audio.Pos) {
	part := d.ledger.partAt(at)
	if part == d.playing || part <= d.finished {
		return
	}
	d.playing = part
	d.events = append(d.events, conv.PlayoutStarted{Turn: d.turn, Part: part})
}

// finish reports the parts that end at or before a position of the queue and were
// heard.
func (d *Downlink) finish(pos audio.Pos) {
	for len(d.ended) > 0 && d.ended[0].at <= pos && d.over(d.ended[0].at) {
		part := d.ended[0].part
		d.ended = d.ended[:copy(d.ended, d.ended[1:])]
		if d.playing == 0 || d.playing < part {
			// The part has no speech: it ends when it begins.
			d.events = append(d.events, conv.PlayoutStarted{Turn: d.turn, Part: part})
		}
		heard, text := d.ledger.heard(d.played())
		d.events = append(d.events, conv.PlayoutFinished{Turn: d.turn, Part: part, Heard: heard, Text: text})
		if d.playing <= part {
			d.playing = 0
		}
		d.finished = part
		d.since = 0
	}
}

// over reports whether all speech before a position of the queue was heard. It must
// have been sent.
func (d *Downlink) over(at audio.Pos) bool {
	if d.played() >= at-d.ledger.start {
		return true
	}
	if d.awaited < audio.PosOf(ackPatience, d.o.Rate) {
		return false
	}
	d.deaf = true
	return true
}

// played returns how many samples of the turn were heard.
func (d *Downlink) played() audio.Pos {
	if d.o.Acks == nil {
		return d.ledger.out
	}
	if acked := d.ledger.acked(d.o.Acks.Played()); acked > d.acked {
		d.acked, d.awaited, d.deaf = acked, 0, false
	}
	if d.deaf {
		return d.ledger.out
	}
	return min(d.acked, d.ledger.out)
}

// Level returns the root mean square of the last frame, which may return as an echo.
func (d *Downlink) Level() float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.level
}

// Ledger returns the counts of the turn that is being played or was played last.
func (d *Downlink) Ledger() Ledger {
	d.mu.Lock()
	defer d.mu.Unlock()
	heard, text := d.ledger.heard(d.played())
	return Ledger{
		Turn: d.ledger.turn, Generated: d.ledger.generated.Duration(d.o.Rate), Sent: d.ledger.out.Duration(d.o.Rate),
		Heard: heard, Text: text, Estimated: d.o.Acks == nil || d.deaf,
	}
}
