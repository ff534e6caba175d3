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

// LegOptions configures a [Leg]. The zero value is a silent person at 16 kHz in
// virtual time.
type LegOptions struct {
	Rate int // 16000 if zero
	// Live makes Read return frames in real time, at absolute deadlines.
	Live bool
	// Phase is the delay from the first Read to the first frame. It is used with
	// Live.
	Phase time.Duration
	// Person, if not nil, returns the person's sound for each 20 ms; it is used
	// after the samples given to Say. Read calls it without holding a lock, so it
	// may use the leg and the session.
	Person func(Moment) Sound
	// OnWrite, if not nil, is called with the agent's n-th frame, counted from 0,
	// before the leg accepts it. It may block; Write returns its error.
	OnWrite func(ctx context.Context, n int, f audio.Frame) error
	// OnClear, if not nil, is called by Clear.
	OnClear func(ctx context.Context) error
	// OnNotice, if not nil, is called with every notice.
	OnNotice func(port.Notice)
	// Keep makes the leg keep the agent's samples, see [Leg.Heard].
	Keep bool
}

// Moment describes the call at the time of the person's next 20 ms.
type Moment struct {
	N     int    // number of earlier frames
	State string // the last phase reported by Notify
	Agent int    // consecutive frames with the agent's sound
	Quiet int    // consecutive frames without it
}

// Sound is the person's next 20 ms.
type Sound struct {
	PCM    []int16 // at the leg's rate, at most 20 ms; the rest is silence
	Absent bool    // the frame is not sent (discontinuous transmission); used with Live
	Err    error   // Read returns it; io.EOF hangs up
}

// Leg is a fake connection to a person, in memory. The methods of port.Leg follow
// its rules for concurrency; the others are safe for concurrent use.
type Leg struct {
	o     LegOptions
	frame int

	// Used by the reader only.
	pcm []int16
	due time.Time

	mu      sync.Mutex // guards the fields below
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

// NewLeg returns a new leg.
func NewLeg(o LegOptions) *Leg {
	if o.Rate == 0 {
		o.Rate = 16000
	}
	l := &Leg{o: o, frame: audio.FrameSamples(o.Rate)}
	l.pcm = make([]int16, l.frame)
	return l
}

// Rate returns the sampling rate of both directions in hertz.
func (l *Leg) Rate() int { return l.o.Rate }

// Say appends samples to what the person says.
func (l *Leg) Say(pcm []int16) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said = append(l.said, pcm...)
}

// HangUp makes Read return io.EOF from now on.
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

// wait waits for the time of the next frame if Live is set.
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

// Write accepts the agent's next 20 ms.
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

// Clear records the call.
func (l *Leg) Clear(ctx context.Context) error {
	l.mu.Lock()
	l.clears = append(l.clears, int(l.written)/l.frame)
	l.mu.Unlock()
	if l.o.OnClear != nil {
		return l.o.OnClear(ctx)
	}
	return nil
}

// Notify records the phase.
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

// Heard returns a copy of the agent's samples. It needs Keep.
func (l *Leg) Heard() []int16 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]int16(nil), l.heard...)
}

// Written returns the number of samples written.
func (l *Leg) Written() audio.Pos {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.written
}

// Clears returns the number of frames written before each Clear.
func (l *Leg) Clears() []int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]int(nil), l.clears...)
}

// AckLeg is a [Leg] whose carrier reports what it has played.
type AckLeg struct {
	*Leg
	// Behind is the distance of the reports from the samples written. Clear counts
	// the dropped samples as played.
	Behind audio.Pos

	mu     sync.Mutex // guards the fields below
	floor  audio.Pos  // samples up to here were dropped or played
	frozen bool
	last   audio.Pos
}

// Played returns the position after the last sample reported as played.
func (l *AckLeg) Played() audio.Pos {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.frozen {
		l.last = max(l.last, l.floor, l.Written()-l.Behind)
	}
	return l.last
}

// Freeze stops or resumes the reports.
func (l *AckLeg) Freeze(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.frozen = on
}

// Clear drops the samples that were not played.
func (l *AckLeg) Clear(ctx context.Context) error {
	l.mu.Lock()
	l.floor = l.Written()
	l.mu.Unlock()
	return l.Leg.Clear(ctx)
}
