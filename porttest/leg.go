package porttest

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/wait"
	"github.com/hocketvoice/hocket/port"
)

var (
	_ port.Leg          = (*Leg)(nil)
	_ port.Acknowledger = (*AckLeg)(nil)
)

// LegOptions make a [Leg]. The zero value is a person who says nothing, at
// 16 kHz, in virtual time.
type LegOptions struct {
	Rate int // 16000 if zero
	// Live makes Read keep the pace of the clock, on absolute deadlines.
	Live bool
	// Phase, with Live, is when the first frame comes behind the first Read.
	Phase time.Duration
	// Person, if set, is asked for each 20 ms, after what Say was given. It is
	// called by Read without a lock held and may use the leg and the session.
	Person func(Moment) Sound
	// OnWrite, if set, sees the agent's n-th frame, from 0, before it is taken. It
	// may wait, and its error is Write's.
	OnWrite func(ctx context.Context, n int, f audio.Frame) error
	// OnClear, if set, is Clear.
	OnClear func(ctx context.Context) error
	// OnNotice, if set, sees every notice.
	OnNotice func(port.Notice)
	// Keep keeps the agent's samples: see [Leg.Heard].
	Keep bool
}

// Moment is what the person knows when 20 ms more are due.
type Moment struct {
	N     int    // frames before this one
	State string // the phase that was told last
	Agent int    // frames for which the agent has been heard without a pause
	Quiet int    // frames for which it has not
}

// Sound is what the person does for 20 ms.
type Sound struct {
	PCM    []int16 // at the leg's rate, at most 20 ms; the rest is silence
	Absent bool    // the frame is not sent (discontinuous transmission); with Live only
	Err    error   // Read fails with it; io.EOF is hanging up
}

// Leg is a fake connection to a person, in memory. Its methods are those of
// port.Leg and may be called as it says; the others from any goroutine.
type Leg struct {
	o     LegOptions
	frame int

	// Of the reader.
	pcm []int16
	due time.Time

	mu      sync.Mutex // guards all below
	n       int        // frames read
	said    []int16
	gone    bool
	state   string
	agent   int
	quiet   int
	written audio.Pos
	heard   []int16
	clears  []int // frames written before each Clear
	notices int
}

// NewLeg makes a leg.
func NewLeg(o LegOptions) *Leg {
	if o.Rate == 0 {
		o.Rate = 16000
	}
	l := &Leg{o: o, frame: audio.FrameSamples(o.Rate)}
	l.pcm = make([]int16, l.frame)
	return l
}

// Rate is the sampling rate both ways.
func (l *Leg) Rate() int { return l.o.Rate }

// Say has the person say something, behind what was to be said before.
func (l *Leg) Say(pcm []int16) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said = append(l.said, pcm...)
}

// HangUp ends Read, for good.
func (l *Leg) HangUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gone = true
}

// Read returns the person's next 20 ms.
func (l *Leg) Read(ctx context.Context) (audio.Frame, error) {
	for {
		if err := l.wait(ctx); err != nil {
			return audio.Frame{}, err
		}
		l.mu.Lock()
		m := Moment{N: l.n, State: l.state, Agent: l.agent, Quiet: l.quiet}
		gone := l.gone
		n := copy(l.pcm, l.said)
		l.said = l.said[n:]
		l.n++
		l.mu.Unlock()
		clear(l.pcm[n:])
		if gone {
			return audio.Frame{}, io.EOF
		}
		if n == 0 && l.o.Person != nil {
			s := l.o.Person(m)
			if s.Err != nil {
				return audio.Frame{}, s.Err
			}
			if s.Absent {
				continue
			}
			copy(l.pcm, s.PCM)
		}
		return audio.Frame{Pos: audio.Pos(m.N * l.frame), Rate: l.o.Rate, PCM: l.pcm}, nil
	}
}

// wait lets the clock come to the next frame, with Live.
func (l *Leg) wait(ctx context.Context) error {
	if !l.o.Live {
		return ctx.Err()
	}
	if l.due.IsZero() {
		l.due = time.Now().Add(l.o.Phase)
	}
	l.due = l.due.Add(audio.FrameDuration)
	return wait.For(ctx, time.Until(l.due))
}

// Write takes the agent's next 20 ms.
func (l *Leg) Write(ctx context.Context, f audio.Frame) error {
	if l.o.OnWrite != nil {
		l.mu.Lock()
		n := int(l.written) / l.frame
		l.mu.Unlock()
		if err := l.o.OnWrite(ctx, n, f); err != nil {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.written += audio.Pos(len(f.PCM))
	if audio.Peak(f.PCM) > 0 {
		l.agent, l.quiet = l.agent+1, 0
	} else {
		l.agent, l.quiet = 0, l.quiet+1
	}
	if l.o.Keep {
		l.heard = append(l.heard, f.PCM...)
	}
	return nil
}

// Clear counts.
func (l *Leg) Clear(ctx context.Context) error {
	l.mu.Lock()
	l.clears = append(l.clears, int(l.written)/l.frame)
	l.mu.Unlock()
	if l.o.OnClear != nil {
		return l.o.OnClear(ctx)
	}
	return nil
}

// Notify keeps the phase that it is told.
func (l *Leg) Notify(n port.Notice) {
	l.mu.Lock()
	l.notices++
	if n.Type == "state" {
		l.state = n.State
	}
	l.mu.Unlock()
	if l.o.OnNotice != nil {
		l.o.OnNotice(n)
	}
}

// Heard is a copy of what the agent has sent, with Keep.
func (l *Leg) Heard() []int16 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]int16(nil), l.heard...)
}

// Written is how many samples were written.
func (l *Leg) Written() audio.Pos {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.written
}

// Clears are the frames that were written before each Clear.
func (l *Leg) Clears() []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]int(nil), l.clears...)
}

// AckLeg is a [Leg] whose carrier reports what it has played.
type AckLeg struct {
	*Leg
	// Behind is how far the reports lag behind what was written. Clear brings
	// them up to it: what was dropped is done with.
	Behind audio.Pos

	mu     sync.Mutex // guards all below
	floor  audio.Pos  // dropped or played up to here
	frozen bool
	last   audio.Pos
}

// Played is the position behind the last sample reported.
func (l *AckLeg) Played() audio.Pos {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.frozen {
		l.last = max(l.last, l.floor, l.Written()-l.Behind)
	}
	return l.last
}

// Freeze ends or takes up the reports.
func (l *AckLeg) Freeze(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.frozen = on
}

// Clear drops what has not been played.
func (l *AckLeg) Clear(ctx context.Context) error {
	l.mu.Lock()
	l.floor = l.Written()
	l.mu.Unlock()
	return l.Leg.Clear(ctx)
}
