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

// ErrFlushed ends a synthesis whose speech was dropped.
var ErrFlushed = errors.New("the speech was dropped")

const (
	allParts    = math.MaxInt
	duckedGain  = 0.25                   // -12 dB: clearly quieter, still intelligible
	fadeTime    = 20 * time.Millisecond  // for ducking and its end
	edgeTime    = 5 * time.Millisecond   // fade at a cut and after a pause, to avoid clicks
	reportEvery = 200 * time.Millisecond // of played speech
	// ackPatience is how long a carrier that was sent everything may report no
	// progress. After that, what was sent counts as heard, so that a lost report does
	// not stop the call.
	ackPatience = 2 * time.Second
)

// DownlinkOptions configures a [Downlink].
type DownlinkOptions struct {
	Rate int // of the leg's frames, in hertz
	// Buffer is the maximum length of speech synthesized ahead of the playout; 2 s if
	// zero. Write blocks when it is full.
	Buffer time.Duration
	// Post receives the events, which are valid only during the call. It is called by
	// the goroutine that calls Frame.
	Post func(...conv.Event)
	// Sent, if not nil, receives the speech of each frame and its turn before the
	// events of the frame are posted. It is called by the goroutine that calls Frame,
	// must not block, and must not keep the samples.
	Sent func(turn int, pcm []int16)
	// Parked, if not nil, is called with true when Write begins to wait for room, and
	// with false when the wait is over, by the goroutine that ended it. Virtual time
	// advances only while no goroutine works. Parked is called with the downlink's lock
	// held and must not call the downlink.
	Parked func(bool)
	// Unheard, if not nil, is called with the number of samples that were sent last and
	// that a flush has found unheard. It is called with the downlink's lock held, must not
	// block and must not call the downlink.
	Unheard func(n int)
	// Acks reports what the carrier has played. If it is nil, what was sent counts as
	// played. Played is called with the downlink's lock held and must not block.
	Acks port.Acknowledger
}

// Downlink queues the agent's speech for the pacer. Frame and TakeClear must be called
// by one goroutine; Begin, Write, EndText and EndPart by one other; the other methods
// are safe for concurrent use.
//
// Two rules prevent dropped speech from being heard. A turn is over when a later one
// has begun, and accepts no more speech. And a text of a flushed turn, or of its
// flushed parts, is refused if it was handed over before the flush: see [Text].
type Downlink struct {
	o    DownlinkOptions
	room chan struct{} // contains a token when the wait for room is over

	mu       sync.Mutex // guards the fields below
	waiting  bool       // Write waits for room
	queue    *audio.Ring
	turn     int   // the turn whose audio is queued or was played last; 0 if none
	writing  int   // the turn that Write adds to; 0 if speech is refused
	part     int   // of that turn
	ended    []end // parts without further text, in order
	endedTo  int   // the last part of the turn that has ended
	ledger   ledger
	fader    audio.Fader
	paused   int  // the turn held back by the conversation; 0 if none
	frozen   bool // by a suspension
	held     bool // the last frame was held back; the next speech fades in
	playing  int  // the part being played; 0 if none
	finished int  // the last part of the turn that was heard to its end
	tail     []int16
	tailLen  int         // samples of tail not yet sent
	level    float64     // root mean square of the last frame
	sent     *audio.Ring // the frames of late, for a [Reference]
	quiet    audio.Pos   // how long the queue has been empty
	events   []conv.Event
	since    audio.Pos // played since the last report

	flushed int   // the last flushed turn; earlier turns are refused
	flushes []cut // of that turn
	cuts    int   // number of flushes of all turns
	clear   bool  // the carrier must drop what it has

	acked   audio.Pos // the last position of the turn reported by the carrier
	awaited audio.Pos // samples since then, while all speech was sent
	deaf    bool      // the carrier has stopped reporting
}

// end is the position in the queue at which the audio of a part ends.
type end struct {
	part int
	at   audio.Pos
}

// Text is a text that is about to be spoken.
type Text struct {
	Turn, Part int
	Words      string
	// Cuts is the value of [Downlink.Cuts] when the text was handed over. A turn may
	// continue after a flush, such as with the answer after an interrupted
	// announcement, but only with texts handed over after the flush.
	Cuts int
}

// NewDownlink returns an empty downlink.
func NewDownlink(o DownlinkOptions) (*Downlink, error) {
	if o.Buffer == 0 {
		o.Buffer = 2 * time.Second
	}
	ring, err := audio.NewRing(audio.RingOptions{Capacity: int(audio.PosOf(o.Buffer, o.Rate))})
	if err != nil {
		return nil, fmt.Errorf("downlink: %w", err)
	}
	sent, err := audio.NewRing(audio.RingOptions{Capacity: int(audio.PosOf(referenceKept, o.Rate))})
	if err != nil {
		return nil, fmt.Errorf("downlink: %w", err)
	}
	d := &Downlink{
		o: o, room: make(chan struct{}, 1), queue: ring, sent: sent,
		tail: make([]int16, audio.PosOf(edgeTime, o.Rate)), events: make([]conv.Event, 0, 8),
	}
	d.ledger.rate = o.Rate
	return d, nil
}

// Begin announces the text of the following samples. A new turn replaces what is queued
// of an earlier one. A text that is no longer wanted is refused, and so is its speech.
func (d *Downlink) Begin(t Text) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writing = 0
	if t.Turn < d.turn || d.refuses(t) {
		return // the caller does not know yet that the turn is over
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

// More adds words to the text that is being written, and returns false if it is not of the part.
// It may be called by any goroutine: the words of a service that speaks by itself come beside its
// sound.
func (d *Downlink) More(turn, part int, words string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if turn == 0 || d.writing != turn || d.part != part {
		return false
	}
	d.ledger.more(words)
	return true
}

// Write adds speech at the leg's rate. It blocks while there is no room. It returns
// [ErrFlushed] if the turn was dropped, and the error of ctx if ctx ends.
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

// wait releases the lock, waits for room, and acquires the lock again.
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

// Wake wakes a waiting Write, which then checks again whether to continue.
func (d *Downlink) Wake() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.signal()
}

// EndText reports that the last text was spoken to its end.
func (d *Downlink) EndText(turn int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if turn != 0 && d.writing == turn {
		d.ledger.finish()
	}
}

// EndPart reports that a part of a turn has no more speech. Parts end in order;
// repeated calls do nothing.
func (d *Downlink) EndPart(turn, part int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if turn != 0 && d.writing == turn && part > d.endedTo {
		d.endedTo = part
		d.ended = append(d.ended, end{part, d.queue.End()})
	}
}

// signal ends the wait for room, if there is one.
func (d *Downlink) signal() {
	if d.waiting {
		d.waiting = false
		d.park(false)
		d.room <- struct{}{} // never blocks: there is one waiter, and one token for it
	}
}
