package device

import (
	"time"

	"github.com/hocketvoice/hocket/audio"
)

// The clocks of a device and of the machine differ by some parts in 100,000. A queue
// between them starts with a reserve, and drops its oldest samples when it becomes too
// long.
const (
	reserve = 40 * time.Millisecond
	longest = 500 * time.Millisecond
	after   = 100 * time.Millisecond // length after samples were dropped
)

// queue is a ring of samples for the other side. Use newQueue to create one.
type queue struct {
	pcm        []int16
	first, n   int
	begin, cut int       // lengths at which it starts to provide samples, and to which it is cut
	running    bool      // it provides samples until it is empty
	taken      audio.Pos // number of samples that have left it, including dropped ones
}

func newQueue(rate int, begin time.Duration) *queue {
	samples := func(d time.Duration) int { return int(audio.PosOf(d, rate)) }
	return &queue{pcm: make([]int16, samples(longest)), begin: samples(begin), cut: samples(after)}
}

// put appends samples. If there is no room, the oldest ones are dropped.
func (q *queue) put(pcm []int16) {
	if len(pcm) > len(q.pcm) {
		q.drop(q.n)
		q.taken += audio.Pos(len(pcm) - len(q.pcm))
		pcm = pcm[len(pcm)-len(q.pcm):]
	}
	if over := q.n + len(pcm) - len(q.pcm); over > 0 {
		q.drop(min(q.n, max(over, q.n+len(pcm)-q.cut)))
	}
	at := (q.first + q.n) % len(q.pcm)
	done := copy(q.pcm[at:], pcm)
	copy(q.pcm, pcm[done:])
	q.n += len(pcm)
}

// take moves samples to pcm and returns their number. It returns 0 until the queue has
// reached its initial length.
func (q *queue) take(pcm []int16) int {
	if !q.running && q.n < q.begin {
		return 0
	}
	n := min(q.n, len(pcm))
	done := copy(pcm[:n], q.pcm[q.first:min(q.first+n, len(q.pcm))])
	copy(pcm[done:n], q.pcm)
	q.drop(n)
	q.running = n == len(pcm)
	return n
}

// drop removes the oldest samples.
func (q *queue) drop(n int) {
	q.first = (q.first + n) % len(q.pcm)
	q.n -= n
	q.taken += audio.Pos(n)
}

// clear removes all samples.
func (q *queue) clear() {
	q.drop(q.n)
	q.running = false
}
