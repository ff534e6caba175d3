package audio

import "fmt"

// FramerOptions configures a [Framer].
type FramerOptions struct {
	Rate  int // of the stream, in hertz; required
	Start Pos // position of the first sample
}

// Validate returns an error if an option is invalid. Every frame has the same
// number of samples, so 20 ms must be a whole number of them: 11025 Hz is refused
// and must be resampled first.
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

// Framer cuts a stream that arrives in pieces of any length into frames of exactly
// 20 ms, with consecutive positions.
//
// A Framer must be used by one goroutine at a time. It allocates nothing after
// [NewFramer].
type Framer struct {
	rate int
	pos  Pos     // of the first sample in buf
	buf  []int16 // one frame
	n    int     // samples in buf that belong to the current frame
}

// NewFramer returns an empty framer.
func NewFramer(o FramerOptions) (*Framer, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	return &Framer{rate: o.Rate, pos: o.Start, buf: make([]int16, FrameSamples(o.Rate))}, nil
}

// Next returns the next frame and the unused rest of pcm, which the caller passes
// to the following call. The frame consists of the buffered samples and the
// beginning of pcm. If pcm does not complete a frame, Next copies it and returns
// false:
//
//	for frame, rest, ok := f.Next(pcm); ok; frame, rest, ok = f.Next(rest) {
//		use(frame)
//	}
//
// The frame's samples are valid until the next call. They may share memory with
// pcm.
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

// Flush returns the buffered samples as a last frame, padded with silence, and the
// number of samples that are sound. If nothing is buffered, it returns an empty
// frame and 0. The stream continues after the silence.
func (f *Framer) Flush() (frame Frame, sound int) {
	if f.n == 0 {
		return Frame{}, 0
	}
	sound = f.n
	clear(f.buf[sound:])
	return f.take(f.buf), sound
}

// take makes a frame of pcm and advances the position.
func (f *Framer) take(pcm []int16) Frame {
	frame := Frame{Pos: f.pos, Rate: f.rate, PCM: pcm}
	f.pos, f.n = frame.End(), 0
	return frame
}

// Pos returns the stream position of the next sample that Next will take.
func (f *Framer) Pos() Pos { return f.pos + Pos(f.n) }

// Pending returns the number of buffered samples.
func (f *Framer) Pending() int { return f.n }

// Reset drops the buffered samples and sets the position of the next sample.
func (f *Framer) Reset(at Pos) { f.pos, f.n = at, 0 }
