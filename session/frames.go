package session

import (
	"sync"

	"github.com/hocketvoice/hocket/audio"
)

// queuedFrames bounds the frames that wait for the uplink: half a second. A
// recognizer that cannot keep up loses the oldest.
const queuedFrames = 25

// frameQueue hands frames from the leg's reader to the uplink. Nothing
// allocates: the slots are fixed, samples are copied in and out.
type frameQueue struct {
	ready chan struct{} // holds a token when a frame may be there

	mu      sync.Mutex // guards all below
	slots   [queuedFrames][]int16
	first   int
	n       int
	dropped int
}

func newFrameQueue(rate int) *frameQueue {
	q := &frameQueue{ready: make(chan struct{}, 1)}
	for i := range q.slots {
		q.slots[i] = make([]int16, 0, audio.FrameSamples(rate))
	}
	return q
}

// push copies a frame in; when the queue is full the oldest goes and is
// counted.
func (q *frameQueue) push(f audio.Frame) {
	q.mu.Lock()
	if q.n == queuedFrames {
		q.first = (q.first + 1) % queuedFrames
		q.n--
		q.dropped++
	}
	slot := &q.slots[(q.first+q.n)%queuedFrames]
	*slot = append((*slot)[:0], f.PCM[:min(len(f.PCM), cap(*slot))]...)
	q.n++
	q.mu.Unlock()
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// pop copies the oldest frame out.
func (q *frameQueue) pop(pcm []int16) (n int, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.n == 0 {
		return 0, false
	}
	n = copy(pcm, q.slots[q.first])
	q.first = (q.first + 1) % queuedFrames
	q.n--
	return n, true
}
