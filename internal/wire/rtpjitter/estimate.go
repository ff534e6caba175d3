package rtpjitter

import "time"

const (
	bin      = 5 * time.Millisecond
	bins     = 100
	quantile = 0.97
	// memory is the approximate number of packets in the histogram: four seconds.
	memory = 200
	// window is the minimum time for which the fastest packet is remembered: short
	// enough to follow clock drift, long enough to contain a fast packet.
	window = 5 * time.Second
	margin = 10 * time.Millisecond // added to the delay of the packets
)

// estimator measures the delay of packets relative to the fastest ones.
type estimator struct {
	n      int
	weight [bins]float64
	// The smallest delay in the current and the previous window. Both are
	// differences of unrelated clocks.
	origin     time.Time
	since      time.Time
	fast, past time.Duration
}

// add adds a packet with a timestamp that arrived at now.
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

// age returns the time since sound with a timestamp would have been played if all
// packets were as fast as the fastest.
func (e *estimator) age(now time.Time, ts time.Duration) time.Duration {
	return now.Sub(e.origin) - ts - min(e.fast, e.past)
}

// needed returns the delay that most packets do not exceed.
func (e *estimator) needed() time.Duration {
	sum := 0.0
	for i := range e.weight {
		if sum += e.weight[i]; sum >= quantile {
			return time.Duration(i+1) * bin
		}
	}
	return bins * bin
}
