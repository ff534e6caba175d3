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

// queue holds samples that wait for the other side. Use newQueue to create one.
type queue struct {
	ring       *audio.Ring
	begin, cut int  // lengths: from which it gives samples, to which it is cut
	running    bool // it gives samples until it is empty
}

// newQueue returns a queue that gives samples when it holds those of a time.
func newQueue(rate int, begin time.Duration) *queue {
	samples := func(d time.Duration) int { return int(audio.PosOf(d, rate)) }
	ring, err := audio.NewRing(audio.RingOptions{Capacity: samples(longest)})
	if err != nil {
		panic(err) // rates were validated
	}
	ring.Write([]int16{0}) // the ring allocates now, not on the device's thread
	ring.Reset(0)
	return &queue{ring: ring, begin: samples(begin), cut: samples(after)}
}

// put appends samples. If there is no room, it drops the oldest ones.
func (q *queue) put(pcm []int16) {
	if len(pcm) > q.ring.Room() {
		q.ring.Discard(q.ring.Len() + len(pcm) - q.cut)
	}
	q.ring.Overwrite(pcm)
}

// take moves samples to pcm and returns their number. It returns 0 until there are as many
// as the queue begins with.
func (q *queue) take(pcm []int16) int {
	if !q.running && q.ring.Len() < q.begin {
		return 0
	}
	n := q.ring.Read(pcm)
	q.running = n == len(pcm)
	return n
}

// taken returns the number of samples that have left the queue, the dropped ones included.
func (q *queue) taken() audio.Pos { return q.ring.Pos() }

// clear removes all samples.
func (q *queue) clear() {
	q.ring.Discard(q.ring.Len())
	q.running = false
}
