package audio

import "fmt"

// RingOptions configures a [Ring].
type RingOptions struct {
	Capacity int // samples; required
	Start    Pos // position of the first sample to be written
}

// Validate returns an error if an option is invalid.
func (o RingOptions) Validate() error {
	if o.Capacity < 1 {
		return fmt.Errorf("ring: Capacity is %d samples: expected at least 1", o.Capacity)
	}
	return nil
}

// Ring is a buffer for the last samples of a stream. Its content is always one
// contiguous piece of the stream, from Pos to End.
//
// [Ring.Overwrite] always accepts all samples and drops the oldest ones; it suits a
// pre-roll, the sound just before speech was detected. [Ring.Write] accepts only as
// many samples as fit and drops none; it suits a playout queue whose producer
// waits.
//
// A Ring must be used by one goroutine at a time. It allocates its buffer for the
// first sample after [NewRing] or [Ring.Release], and nothing else.
type Ring struct {
	buf     []int16 // nil if not allocated
	size    int     // capacity in samples
	first   int     // index in buf of the oldest sample
	length  int
	pos     Pos // of the oldest sample
	dropped Pos
}

// NewRing returns an empty ring.
func NewRing(o RingOptions) (*Ring, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return &Ring{size: o.Capacity, pos: o.Start}, nil
}

// Len returns the number of samples in the ring.
func (r *Ring) Len() int { return r.length }

// Cap returns the capacity in samples.
func (r *Ring) Cap() int { return r.size }

// Room returns the number of samples that Write would accept.
func (r *Ring) Room() int { return r.size - r.length }

// Pos returns the stream position of the oldest sample. If the ring is empty, it
// returns the position of the next sample to be written.
func (r *Ring) Pos() Pos { return r.pos }

// End returns the stream position of the next sample to be written.
func (r *Ring) End() Pos { return r.pos + Pos(r.length) }

// Dropped returns the number of samples that Overwrite has dropped since the ring
// was created. Samples removed by Discard and Reset do not count.
func (r *Ring) Dropped() Pos { return r.dropped }

// Write appends as many samples of pcm as fit and returns their number.
func (r *Ring) Write(pcm []int16) int {
	n := min(len(pcm), r.Room())
	r.put(pcm[:n])
	return n
}

// Overwrite appends all of pcm, drops the oldest samples that no longer fit, and
// returns the number dropped. If pcm is longer than the ring, only its end is
// stored, and its beginning counts as dropped.
func (r *Ring) Overwrite(pcm []int16) int {
	excess := max(len(pcm)-r.Room(), 0)
	old := r.Discard(excess)
	skip := excess - old
	r.pos += Pos(skip)
	r.put(pcm[skip:])
	r.dropped += Pos(excess)
	return excess
}

// put appends pcm, which must fit.
func (r *Ring) put(pcm []int16) {
	if r.buf == nil && len(pcm) > 0 {
		r.buf = make([]int16, r.size)
	}
	at := r.first + r.length
	if at >= len(r.buf) {
		at -= len(r.buf)
	}
	n := copy(r.buf[at:], pcm)
	copy(r.buf, pcm[n:])
	r.length += len(pcm)
}

// Read moves the oldest samples to dst and returns their number.
func (r *Ring) Read(dst []int16) int {
	n := r.CopyAt(dst, r.pos)
	r.Discard(n)
	return n
}

// CopyAt copies the samples from position at to dst, as many as are available and
// fit, and returns their number. It removes nothing. It returns 0 if the ring does
// not contain the sample at that position.
func (r *Ring) CopyAt(dst []int16, at Pos) int {
	if at < r.pos || at >= r.End() {
		return 0
	}
	skip := int(at - r.pos)
	dst = dst[:min(len(dst), r.length-skip)]
	from := r.first + skip
	if from >= len(r.buf) {
		from -= len(r.buf)
	}
	n := copy(dst, r.buf[from:])
	copy(dst[n:], r.buf)
	return len(dst)
}

// Discard removes the n oldest samples, or all if there are fewer, and returns the
// number removed.
func (r *Ring) Discard(n int) int {
	n = max(0, min(n, r.length))
	r.first += n
	if r.first >= len(r.buf) {
		r.first -= len(r.buf)
	}
	r.length -= n
	r.pos += Pos(n)
	return n
}

// Release frees the buffer if the ring is empty. The next sample allocates it
// again.
func (r *Ring) Release() {
	if r.length == 0 {
		r.buf, r.first = nil, 0
	}
}

// Reset removes all samples and sets the position of the next sample. Use it for a
// new stream or after a gap.
func (r *Ring) Reset(at Pos) {
	r.first, r.length, r.pos = 0, 0, at
}
