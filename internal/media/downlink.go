package media

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
)

// ErrFlushed ends a synthesis whose speech is no longer wanted.
var ErrFlushed = errors.New("the speech was dropped")

const (
	allParts    = math.MaxInt
	duckedGain  = 0.25                   // -12 dB: clearly lower, still understood
	fadeTime    = 20 * time.Millisecond  // for ducking and back
	edgeTime    = 5 * time.Millisecond   // of a cut, and of going on after a pause, so that neither clicks
	reportEvery = 200 * time.Millisecond // of played speech
	// ackPatience is how long a carrier that has been sent everything may report
	// nothing new. Then what was sent counts as heard: a lost report must not
	// keep a call in the middle of a reply.
	ackPatience = 2 * time.Second
)

// DownlinkOptions are the parts of a [Downlink].
type DownlinkOptions struct {
	Rate int // of the leg's frames, in hertz
	// Buffer is how much speech is made ahead of the playout: 2 s if zero. Its
	// maker waits when it is full.
	Buffer time.Duration
	// Post takes the facts, which are lent for the call. It is called by the
	// goroutine that calls Frame.
	Post func(...conv.Event)
	// Sent, if set, sees the speech of each frame and its turn, before the facts
	// of the frame are posted. It is called by the goroutine that calls Frame, must
	// not wait, and keeps nothing of it.
	Sent func(turn int, pcm []int16)
	// Parked is told when the maker of speech begins to wait for room (true), and
	// when its wait is over (false), the latter by who ended it. It may be nil.
	// Virtual time goes on only while nobody works. It is called under the
	// downlink's lock and must not call back.
	Parked func(bool)
	// Acks tells what the carrier has played; nil: it is taken to play what it
	// is sent. Its Played is called under the downlink's lock and must not wait.
	Acks port.Acknowledger
}

// Downlink queues the agent's speech for the pacer. Frame and TakeClear are
// called by one goroutine, Begin, Write and the ends by one other, the rest by
// any.
//
// Two rules keep dropped speech from being heard. A turn is over when a later
// one has begun, and takes no more speech. And what was handed over of a turn,
// or of its parts up to one, before that was flushed, is refused whenever it
// comes: see [Text].
type Downlink struct {
	o    DownlinkOptions
	room chan struct{} // holds a token when the wait for room is over

	mu       sync.Mutex // guards all below
	waiting  bool       // the maker of speech waits for room
	queue    *audio.Ring
	turn     int   // whose audio is queued or was played last; zero: none
	writing  int   // the turn that Write adds to; zero: what comes is refused
	part     int   // of it
	ended    []end // parts that have no more text, in order
	endedTo  int   // the last part of the turn that has ended
	ledger   ledger
	fader    audio.Fader
	paused   int  // the turn that the conversation holds back, 0: none
	frozen   bool // by a suspension
	held     bool // the last frame was held back: what comes next fades in
	playing  int  // the part that plays, 0: none
	finished int  // the last part of the turn that has been heard to its end
	tail     []int16
	tailLen  int       // samples of tail that are still to be sent
	level    float64   // root mean square of the last frame
	quiet    audio.Pos // for which the queue has been empty
	events   []conv.Event
	since    audio.Pos // played since the last report

	flushed int   // the last turn that was flushed: nothing of earlier ones is taken
	flushes []cut // of that turn
	cuts    int   // flushes so far, of all turns
	clear   bool  // the carrier is to drop what it has

	acked   audio.Pos // the last that the carrier reported of the turn
	awaited audio.Pos // samples since then, all speech being sent
	deaf    bool      // the carrier's reports have stopped
}

// end marks that a part's audio ends at a position of the queue.
type end struct {
	part int
	at   audio.Pos
}

// Text is words that are about to be spoken.
type Text struct {
	Turn, Part int
	Words      string
	// Cuts is what [Downlink.Cuts] said when the text was handed over. A turn may
	// go on after a flush (the answer behind an announcement that was cut off),
	// but only with what was handed over behind it.
	Cuts int
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
		tail: make([]int16, audio.PosOf(edgeTime, o.Rate)), events: make([]conv.Event, 0, 8),
	}
	d.ledger.rate = o.Rate
	return d, nil
}

// Begin says what the next samples are. A new turn replaces whatever was queued
// of an old one. A text that is not wanted any more is refused, and so is its
// speech.
func (d *Downlink) Begin(t Text) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writing = 0
	if t.Turn < d.turn || d.refuses(t) {
		return // a maker of speech that has not heard of the end yet
	}
	if t.Turn != d.turn {
		d.drop()
		d.turn = t.Turn
		if t.Turn != d.ledger.turn {
			d.acked, d.deaf, d.endedTo, d.finished = 0, false, 0, 0
		}
		d.ledger.open(t.Turn, d.queue.End())
	}
	d.writing, d.part = t.Turn, t.Part
	d.ledger.begin(t.Part, t.Words, d.queue.End())
}

// Write adds speech at the leg's rate. It waits for room; it returns
// [ErrFlushed] once the turn has been dropped, or ctx's error.
func (d *Downlink) Write(ctx context.Context, turn int, pcm []int16, marks []port.Mark) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for first := true; ; first = false {
		if turn == 0 || d.writing != turn {
			return ErrFlushed
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if first {
			d.ledger.mark(marks)
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
	if turn != 0 && d.writing == turn {
		d.ledger.finish()
	}
}

// EndPart says that a part of a turn has no more speech. Parts end in their
// order; told again it does nothing.
func (d *Downlink) EndPart(turn, part int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if turn != 0 && d.writing == turn && part > d.endedTo {
		d.endedTo = part
		d.ended = append(d.ended, end{part, d.queue.End()})
	}
}

// signal ends the wait for room, if somebody waits.
func (d *Downlink) signal() {
	if d.waiting {
		d.waiting = false
		d.park(false)
		d.room <- struct{}{} // has room: there is one waiter, and one token for it
	}
}
