package audio

import "fmt"

// RingOptions sets up a [Ring].
type RingOptions struct {
	Capacity int // samples; required
	Start    Pos // position of the first sample that will be written
}

// Validate says what does not fit.
func (o RingOptions) Validate() error {
	if o.Capacity < 1 {
		return fmt.Errorf("ring: Capacity is %d samples, expected at least 1", o.Capacity)
	}
	return nil
}

// Ring holds the last part of a stream of samples in a fixed space. Its content
// is always one uninterrupted piece of the stream, from Pos to End.
//
// There are two ways to write, one for each use. [Ring.Overwrite] never
// refuses, and drops the oldest samples: the pre-roll, which is what was heard
// just before speech was detected. [Ring.Write] takes what there is room for,
// and loses nothing: the playout queue, whose producer waits.
//
// A Ring belongs to one goroutine. Its space is taken by the first sample, behind
// [NewRing] and [Ring.Release]; nothing else allocates.
type Ring struct {
	buf     []int16 // nil: no space is taken
	size    int     // samples that fit
	first   int     // index in buf of the oldest sample
	length  int
	pos     Pos // of the oldest sample
	dropped Pos
}

// NewRing makes an empty ring.
func NewRing(o RingOptions) (*Ring, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return &Ring{size: o.Capacity, pos: o.Start}, nil
}

// Len is the number of samples held.
func (r *Ring) Len() int { return r.length }

// Cap is the number of samples that fit.
func (r *Ring) Cap() int { return r.size }

// Room is how many samples Write would take now.
func (r *Ring) Room() int { return r.size - r.length }

// Pos is the stream position of the oldest sample held, and of the next one to
// be written if there is none.
func (r *Ring) Pos() Pos { return r.pos }

// End is the stream position of the next sample to be written.
func (r *Ring) End() Pos { return r.pos + Pos(r.length) }

// Dropped is how many samples Overwrite has dropped since the ring was made.
// What Discard and Reset throw away does not count: that was asked for.
func (r *Ring) Dropped() Pos { return r.dropped }

// Write appends as many samples of pcm as there is room for and returns that
// number.
func (r *Ring) Write(pcm []int16) int {
	n := min(len(pcm), r.Room())
	r.put(pcm[:n])
	return n
}

// Overwrite appends all of pcm, drops the oldest samples that no longer fit,
// and returns how many it dropped. Of a pcm longer than the ring only the end
// stays, and its beginning counts as dropped.
func (r *Ring) Overwrite(pcm []int16) int {
	excess := max(len(pcm)-r.Room(), 0)
	old := r.Discard(excess)
	skip := excess - old
	r.pos += Pos(skip)
	r.put(pcm[skip:])
	r.dropped += Pos(excess)
	return excess
}

// put appends pcm, for which there is room.
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

// Read moves the oldest samples into dst, as many as there are and fit, and
// returns that number.
func (r *Ring) Read(dst []int16) int {
	n := r.CopyAt(dst, r.pos)
	r.Discard(n)
	return n
}

// CopyAt copies the samples from position at on into dst, as many as are held
// and fit, and returns that number. Nothing is removed. It is 0 when the sample
// at that position is not held, any more or yet.
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

// Discard removes the n oldest samples, or all if there are fewer, and returns
// how many it removed.
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

// Release gives the space of an empty ring back until there is something to hold
// again. A ring that holds samples keeps it.
func (r *Ring) Release() {
	if r.length == 0 {
		r.buf, r.first = nil, 0
	}
}

// Reset removes everything; the next sample to be written has position at. It
// is for the start of another stream and for a gap in this one.
func (r *Ring) Reset(at Pos) {
	r.first, r.length, r.pos = 0, 0, at
}
