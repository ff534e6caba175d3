package hub

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/audio"
)

// ErrLate reports that a call was refused because the sound of the running calls is late.
var ErrLate = errors.New("the machine is too slow for another call at the moment")

// The sound of a server is late if more than one in lateAbove frames of the last
// paceSeconds were late. It keeps pace again if fewer than one in lateBelow were.
const (
	paceSeconds = 10
	paceFrames  = 100 // minimum for a decision; one call has as many in two seconds
	lateAbove   = 20
	lateBelow   = 100
)

// DefaultMaxLateness is the default of [NewPace]. The jitter buffer of a browser hides a
// delay of this length.
const DefaultMaxLateness = 60 * time.Millisecond

// Pace measures whether the sound of all conversations keeps pace with the clock. It is
// safe for concurrent use and allocates nothing.
type Pace struct {
	limit time.Duration
	log   *slog.Logger

	mu      sync.Mutex          // guards the fields below
	seconds [paceSeconds]second // a ring
	last    time.Time           // when the newest second began
	at      int                 // the index of the newest second
	late    bool
}

// second contains the counts of one second.
type second struct{ frames, late int }

// NewPace returns a Pace that counts a frame as late if its delay exceeds limit, or
// [DefaultMaxLateness] if limit is 0. It logs when the server becomes too slow and when it
// keeps pace again; log may be nil.
func NewPace(limit time.Duration, log *slog.Logger) *Pace {
	if limit == 0 {
		limit = DefaultMaxLateness
	}
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Pace{limit: limit, log: log}
}

// Sent counts a frame of the agent's sound that was written with the given delay.
func (p *Pace) Sent(late time.Duration) { p.count(late > p.limit) }

// Heard counts a frame of a person's sound. took is the time from the one before until it
// was processed.
func (p *Pace) Heard(took time.Duration) { p.count(took-audio.FrameDuration > p.limit) }

func (p *Pace) count(late bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turn()
	s := &p.seconds[p.at]
	s.frames++
	if late {
		s.late++
	}
}

// Late reports whether sound is too late for another call.
func (p *Pace) Late() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turn()
	return p.late
}

// turn begins a new second if the newest one is over, and then updates late.
func (p *Pace) turn() {
	now := time.Now()
	passed := int(min(now.Sub(p.last)/time.Second, paceSeconds))
	if passed == 0 {
		return
	}
	p.judge()
	p.last = now
	for range passed {
		p.at = (p.at + 1) % paceSeconds
		p.seconds[p.at] = second{}
	}
	if passed == paceSeconds {
		p.judge()
	}
}

// judge updates late. It requires mu.
func (p *Pace) judge() {
	var sum second
	for _, s := range p.seconds {
		sum.frames += s.frames
		sum.late += s.late
	}
	late := p.late
	switch {
	case sum.frames >= paceFrames && sum.late*lateAbove > sum.frames:
		late = true
	case sum.late*lateBelow < sum.frames, sum.frames == 0:
		late = false
	}
	if late == p.late {
		return
	}
	p.late = late
	if late {
		p.log.Warn("the computer is too slow for the sound of its calls: new calls are refused", "frames", sum.frames, "late", sum.late, "limit_ms", p.limit.Milliseconds())
	} else {
		p.log.Info("the sound of calls keeps pace again")
	}
}

// Pace returns the [Pace] of the hub's conversations, or nil.
func (c *Conversation) Pace() *Pace { return c.hub.o.Pace }
