package bench

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/leg/webrtc"
)

// stall is the delay from which a frame counts as missed: the pacer then skips
// frames and starts a new schedule.
const stall = 100 * time.Millisecond

// punctual is a leg that records how late its frames were encoded, encrypted and
// passed to the socket.
type punctual struct {
	*webrtc.Leg
	begin time.Time // used by Write's goroutine
	n     int       // frames since begin; used by Write's goroutine

	mu     sync.Mutex // guards the fields below
	late   []time.Duration
	stalls int
}

// Write sends a frame and records its delay.
func (p *punctual) Write(ctx context.Context, f audio.Frame) error {
	err := p.Leg.Write(ctx, f)
	now := time.Now()
	if p.n == 0 {
		p.begin = now
	}
	late := now.Sub(p.begin) - time.Duration(p.n)*audio.FrameDuration
	p.n++
	p.mu.Lock()
	defer p.mu.Unlock()
	if late > stall {
		p.stalls++
		p.n = 0
	}
	if late < 0 {
		// The first frame was late.
		p.begin, late = p.begin.Add(late), 0
	}
	p.late = append(p.late, late)
	return err
}

// restart clears the records.
func (p *punctual) restart() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.late, p.stalls = p.late[:0], 0
}

// Lateness is a distribution of delays in milliseconds.
type Lateness struct {
	P50 float64 `json:"lateness_p50_ms"`
	P99 float64 `json:"lateness_p99_ms"`
	Max float64 `json:"lateness_max_ms"`
}

// newLateness returns the distribution of durations, which it sorts.
func newLateness(late []time.Duration) Lateness {
	slices.Sort(late)
	return Lateness{millis(quantile(late, 0.5)), millis(quantile(late, 0.99)), millis(quantile(late, 1))}
}

// quantile returns a quantile of sorted durations.
func quantile(sorted []time.Duration, q float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// lateness returns the records of all legs.
func lateness(calls []*call) (all []time.Duration, stalls int) {
	for _, c := range calls {
		c.leg.mu.Lock()
		all = append(all, c.leg.late...)
		stalls += c.leg.stalls
		c.leg.mu.Unlock()
	}
	return all, stalls
}
