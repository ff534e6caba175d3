package audio

import "fmt"

// FramerOptions sets up a [Framer].
type FramerOptions struct {
	Rate  int // of the stream, in hertz; required
	Start Pos // position of the first sample
}

// Validate says what does not fit. Every frame has the same number of samples,
// so 20 ms must be a whole number of them: 11025 Hz is refused, resample it
// first.
func (o FramerOptions) Validate() error {
	if err := checkRate("framer: Rate", o.Rate); err != nil {
		return err
	}
	if o.Rate%framesPerSecond != 0 {
		return fmt.Errorf("framer: Rate is %d Hz, of which %v are %.1f samples, expected a whole number", o.Rate, FrameDuration, float64(o.Rate)/framesPerSecond)
	}
	return nil
}

const framesPerSecond = 50

// Framer cuts a stream that arrives in pieces of any length into frames of
// exactly 20 ms, with rising positions and no gaps.
//
// A Framer belongs to one goroutine. Nothing allocates after [NewFramer].
type Framer struct {
	rate int
	pos  Pos     // of the first sample in buf
	buf  []int16 // one frame
	n    int     // samples in buf that belong to the frame under way
}

// NewFramer makes a framer that holds nothing yet.
func NewFramer(o FramerOptions) (*Framer, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return &Framer{rate: o.Rate, pos: o.Start, buf: make([]int16, FrameSamples(o.Rate))}, nil
}

// Next returns the next frame, made of what was left over and of the beginning
// of pcm, and the rest of pcm, to be given to the following call. When pcm does
// not complete a frame, Next keeps a copy of it and returns false:
//
//	for frame, rest, ok := f.Next(pcm); ok; frame, rest, ok = f.Next(rest) {
//		use(frame)
//	}
//
// The frame's samples are lent until the next call. They may be pcm's own.
func (f *Framer) Next(pcm []int16) (frame Frame, rest []int16, ok bool) {
	if f.n == 0 && len(pcm) >= len(f.buf) {
		whole := len(f.buf)
		return f.take(pcm[:whole:whole]), pcm[whole:], true
	}
	n := copy(f.buf[f.n:], pcm)
	f.n += n
	if f.n < len(f.buf) {
		return Frame{}, nil, false
	}
	return f.take(f.buf), pcm[n:], true
}

// Flush returns what is left over as a last frame, filled up with silence, and
// says how many of its samples are sound. It is 0, without a frame, when nothing
// is left over. The stream then goes on behind the silence.
func (f *Framer) Flush() (frame Frame, sound int) {
	if f.n == 0 {
		return Frame{}, 0
	}
	sound = f.n
	clear(f.buf[sound:])
	return f.take(f.buf), sound
}

// take makes a frame of pcm and moves on behind it.
func (f *Framer) take(pcm []int16) Frame {
	frame := Frame{Pos: f.pos, Rate: f.rate, PCM: pcm}
	f.pos, f.n = frame.End(), 0
	return frame
}

// Pos is the stream position of the next sample that Next will take.
func (f *Framer) Pos() Pos { return f.pos + Pos(f.n) }

// Pending is the number of samples that wait for the rest of their frame.
func (f *Framer) Pending() int { return f.n }

// Reset drops what is left over; the next sample has position at.
func (f *Framer) Reset(at Pos) { f.pos, f.n = at, 0 }
