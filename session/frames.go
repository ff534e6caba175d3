package session

import (
	"context"
	"sync"

	"github.com/hocketvoice/hocket/audio"
)

// queuedFrames is the maximum number of frames that wait for the uplink: half a second. If the
// uplink cannot keep up, the oldest are dropped.
const queuedFrames = 25

// frameQueue hands frames from the reader of the leg to the uplink. push and pop copy the
// samples and do not allocate.
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

// push copies a frame to the queue. If the queue is full, it drops the oldest frame and counts
// it.
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

// pop removes the oldest frame, copies it to pcm and returns its number of samples. ok is false
// if the queue is empty.
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

// lending hands one frame at a time from the reader of the leg to the uplink. The reader waits
// until the uplink has heard the frame.
type lending struct {
	frames chan audio.Frame
	heard  chan struct{}
}

func newLending() *lending {
	return &lending{frames: make(chan audio.Frame), heard: make(chan struct{})}
}

// lend hands over a frame. It returns when the frame has been heard, or when ctx ends.
func (l *lending) lend(ctx context.Context, f audio.Frame) {
	select {
	case l.frames <- f:
	case <-ctx.Done():
		return
	}
	select {
	case <-l.heard:
	case <-ctx.Done():
	}
}
