package media

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
)

// ErrFlushed ends a synthesis whose speech is no longer wanted.
var ErrFlushed = errors.New("the speech was dropped")

const (
	duckedGain  = 0.25                   // -12 dB: clearly lower, still understood
	fadeTime    = 20 * time.Millisecond  // for ducking and back
	tailTime    = 5 * time.Millisecond   // of a cut, so that it does not click
	reportEvery = 200 * time.Millisecond // of played speech
)

// DownlinkOptions are the parts of a [Downlink].
type DownlinkOptions struct {
	Rate int // of the leg's frames, in hertz
	// Buffer is how much speech is made ahead of the playout: 2 s if zero. Its
	// maker waits when it is full.
	Buffer time.Duration
	// Post takes the facts. It is called by the goroutine that calls Frame.
	Post func(...conv.Event)
	// Parked is told when the maker of speech begins to wait for room (true), and
	// when its wait is over (false), the latter by who ended it. It may be nil.
	// Virtual time goes on only while nobody works.
	Parked func(bool)
	// Acks tells what the carrier has played; nil: it is taken to play what it
	// is sent.
	Acks port.Acknowledger
}

// Downlink queues the agent's speech for the pacer. Frame is called by one
// goroutine, Write by one other, the rest by any.
type Downlink struct {
	o    DownlinkOptions
	room chan struct{} // holds a token when the wait for room is over

	mu      sync.Mutex // guards all below
	waiting bool       // the maker of speech waits for room
	queue   *audio.Ring
	writing target // what Write adds to
	turn    int    // the turn whose audio is queued or playing; zero: none
	closed  int    // turns up to this one are over: what still comes is refused
	ended   []end  // parts that have no more text, in order
	ledger  ledger
	fader   audio.Fader
	paused  bool // by the conversation
	frozen  bool // by a suspension
	playing int  // the part that plays, 0: none
	tail    []int16
	tailLen int
	level   float64 // root mean square of the last frame
	events  []conv.Event
	since   audio.Pos // played since the last report
}

type target struct{ turn, part int }

// end marks that a part's audio ends at a position of the queue.
type end struct {
	part int
	at   audio.Pos
}

// NewDownlink makes an empty queue.
func NewDownlink(o DownlinkOptions) (*Downlink, error) {
	if o.Buffer == 0 {
		o.Buffer = 2 * time.Second
	}
	ring, err := audio.NewRing(audio.RingOptions{Capacity: int(audio.PosOf(o.Buffer, o.Rate))})
	if err != nil {
		return nil, fmt.Errorf("downlink: %w", err)
	}
	d := &Downlink{
		o: o, room: make(chan struct{}, 1), queue: ring,
		tail: make([]int16, audio.PosOf(tailTime, o.Rate)), events: make([]conv.Event, 0, 8),
	}
	d.ledger.rate = o.Rate
	return d, nil
}

// Begin says what the next samples are: a text of a part of a turn. A new turn
// replaces whatever was queued of an old one; one that was flushed is refused,
// and so is its speech. Turn numbers rise.
func (d *Downlink) Begin(turn, part int, text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if turn <= d.closed {
		return // a maker of speech that has not heard of the end yet
	}
	if turn != d.turn {
		d.drop()
		d.turn = turn
		d.ledger.open(turn, d.queue.End())
	}
	d.writing = target{turn, part}
	d.ledger.begin(part, text, d.queue.End())
}

// Write adds speech at the leg's rate. It waits for room; it returns
// [ErrFlushed] once the turn has been dropped, or ctx's error.
func (d *Downlink) Write(ctx context.Context, turn int, pcm []int16, marks []port.Mark) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.turn == turn {
		d.ledger.mark(marks)
	}
	for {
		if d.turn != turn || turn == 0 {
			return ErrFlushed
		}
		n := d.queue.Write(pcm)
		d.ledger.made(n)
		pcm = pcm[n:]
		if len(pcm) == 0 {
			return nil
		}
		if err := d.wait(ctx); err != nil {
			return err
		}
	}
}

// wait gives the lock up and returns with it when there may be room.
func (d *Downlink) wait(ctx context.Context) error {
	d.waiting = true
	d.park(true)
	d.mu.Unlock()
	select {
	case <-d.room:
		d.mu.Lock()
		return nil
	case <-ctx.Done():
	}
	d.mu.Lock()
	if d.waiting {
		d.waiting = false
		d.park(false)
	} else {
		<-d.room // woken at the same moment
	}
	return ctx.Err()
}

func (d *Downlink) park(on bool) {
	if d.o.Parked != nil {
		d.o.Parked(on)
	}
}

// Wake ends a wait for room, so that its reason can be looked at again.
func (d *Downlink) Wake() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.signal()
}

// EndText says that the text begun last is spoken to its end.
func (d *Downlink) EndText(turn int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.turn == turn {
		d.ledger.finish(d.queue.End())
	}
}

// EndPart says that a part of a turn has no more speech.
func (d *Downlink) EndPart(turn, part int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.turn == turn {
		d.ended = append(d.ended, end{part, d.queue.End()})
	}
}

// Flush drops what is queued of a turn and tells what of it has been heard.
func (d *Downlink) Flush(turn int) (heard time.Duration, text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = max(d.closed, turn)
	if d.turn != turn || turn == 0 {
		return 0, ""
	}
	if d.playing != 0 && !d.paused && !d.frozen {
		d.tailLen = d.queue.Read(d.tail)
		d.fader.Apply(d.tail[:d.tailLen])
		audio.Ramp(d.tail[:d.tailLen], 1, 0)
	}
	heard, text = d.ledger.heard(d.played())
	d.drop()
	return heard, text
}

// drop forgets the queue. The maker of speech learns it at its next Write.
func (d *Downlink) drop() {
	d.queue.Reset(d.queue.End())
	d.turn, d.playing, d.paused = 0, 0, false
	d.ended = d.ended[:0]
	d.fader.Set(1)
	d.since = 0
	d.signal()
}

// signal ends the wait for room, if somebody waits.
func (d *Downlink) signal() {
	if d.waiting {
		d.waiting = false
		d.park(false)
		d.room <- struct{}{} // has room: there is one waiter, and one token for it
	}
}

// Duck lowers the volume of a turn; for another it does nothing.
func (d *Downlink) Duck(turn int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.turn == turn {
		d.fader.FadeTo(duckedGain, audio.PosOf(fadeTime, d.o.Rate))
	}
}

// Pause holds the speech where it is.
func (d *Downlink) Pause(turn int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.turn == turn || d.turn == 0 {
		d.paused = true
	}
}

// Resume takes back Duck and Pause.
func (d *Downlink) Resume(turn int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.paused = false
	if d.turn == turn {
		d.fader.FadeTo(1, audio.PosOf(fadeTime, d.o.Rate))
	}
}

// Freeze stops and starts the playout for a suspension.
func (d *Downlink) Freeze(on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.frozen = on
}

// Frame fills dst with the next 20 ms and reports whether there is speech in
// it. What begins, goes on and ends with the frame is posted.
func (d *Downlink) Frame(dst []int16) (speech bool) {
	d.mu.Lock()
	n := copy(dst, d.tail[:d.tailLen])
	d.tailLen = 0
	if n == 0 && !d.paused && !d.frozen && d.turn != 0 {
		n = d.queue.Read(dst)
		d.fader.Apply(dst[:n])
		d.advance(n)
	}
	clear(dst[n:])
	d.level = audio.RMS(dst)
	d.ledger.frame(len(dst))
	events := d.events // filled by this goroutine alone
	d.events = d.events[:0]
	if n > 0 {
		d.signal()
	}
	d.mu.Unlock()
	if len(events) > 0 {
		d.o.Post(events...)
	}
	return n > 0
}

// advance notes that n samples of the turn go out with this frame.
func (d *Downlink) advance(n int) {
	if n > 0 {
		d.ledger.sent(n)
		if part := d.ledger.partAt(d.queue.Pos() - audio.Pos(n)); part != d.playing {
			d.playing = part
			d.events = append(d.events, conv.PlayoutStarted{Turn: d.turn, Part: part})
		}
		if d.since += audio.Pos(n); d.since >= audio.PosOf(reportEvery, d.o.Rate) {
			d.since = 0
			heard, text := d.ledger.heard(d.played())
			d.events = append(d.events, conv.PlayoutProgress{Turn: d.turn, Heard: heard, Text: text})
		}
	}
	for len(d.ended) > 0 && d.queue.Pos() >= d.ended[0].at {
		d.finish(d.ended[0].part)
		d.ended = d.ended[:copy(d.ended, d.ended[1:])]
	}
}

// finish tells that a part has played to its end.
func (d *Downlink) finish(part int) {
	if d.playing == 0 || d.playing < part {
		// A part whose speech came to nothing: it is over before it began.
		d.events = append(d.events, conv.PlayoutStarted{Turn: d.turn, Part: part})
	}
	heard, text := d.ledger.heard(d.played())
	d.events = append(d.events, conv.PlayoutFinished{Turn: d.turn, Part: part, Heard: heard, Text: text})
	d.playing = 0
	d.since = 0
}

// played is how much of the turn has been heard, in samples of it.
func (d *Downlink) played() audio.Pos {
	if d.o.Acks == nil {
		return d.ledger.out
	}
	return d.ledger.acked(d.o.Acks.Played())
}

// Level is the root mean square of the last frame: what may come back as echo.
func (d *Downlink) Level() float64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.level
}

// Ledger tells how far the turn that plays has got.
func (d *Downlink) Ledger() Ledger {
	d.mu.Lock()
	defer d.mu.Unlock()
	heard, text := d.ledger.heard(d.played())
	return Ledger{
		Turn: d.turn, Generated: d.ledger.generated.Duration(d.o.Rate), Sent: d.ledger.out.Duration(d.o.Rate),
		Heard: heard, Text: text, Estimated: d.o.Acks == nil,
	}
}
