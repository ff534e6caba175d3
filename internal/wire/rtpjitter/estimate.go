package rtpjitter

import "time"

const (
	bin      = 5 * time.Millisecond
	bins     = 100
	quantile = 0.97
	// memory is how many packets the histogram looks back, roughly: four seconds.
	memory = 200
	// window is how long the fastest packet is remembered, at least: short enough
	// to follow clocks that drift apart, long enough to see a fast packet.
	window = 5 * time.Second
	margin = 10 * time.Millisecond // beyond what the packets have needed
)

// estimator knows how much later than the fastest packets others come.
type estimator struct {
	n      int
	weight [bins]float64
	// The delay of the fastest packet: of this window and of the one before. Both
	// are offsets between two clocks that have nothing in common.
	origin     time.Time
	since      time.Time
	fast, past time.Duration
}

// add counts a packet with a timestamp that arrived at now.
func (e *estimator) add(now time.Time, ts time.Duration) {
	if e.n == 0 {
		e.origin, e.since = now, now
	}
	offset := now.Sub(e.origin) - ts
	switch {
	case e.n == 0:
		e.fast, e.past = offset, offset
	case now.Sub(e.since) >= window:
		e.since, e.past, e.fast = now, e.fast, offset
	default:
		e.fast = min(e.fast, offset)
	}
	e.n++
	keep := 1 - 1/float64(min(e.n, memory))
	for i := range e.weight {
		e.weight[i] *= keep
	}
	late := offset - min(e.fast, e.past)
	e.weight[min(int(late/bin), bins-1)] += 1 - keep
}

// age is how long ago the sound with a timestamp would have been played had all
// packets been as fast as the fastest.
func (e *estimator) age(now time.Time, ts time.Duration) time.Duration {
	return now.Sub(e.origin) - ts - min(e.fast, e.past)
}

// needed is the delay that most packets keep.
func (e *estimator) needed() time.Duration {
	sum := 0.0
	for i := range e.weight {
		if sum += e.weight[i]; sum >= quantile {
			return time.Duration(i+1) * bin
		}
	}
	return bins * bin
}
