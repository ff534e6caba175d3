package audio

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// The time constants of [NoiseFloor].
const (
	noiseBlocksPerSecond = 100                     // power is measured over 10 ms
	noiseMeanBlocks      = 4                       // and averaged over 40 ms, as long as a closure or a gap between words
	noiseSpans           = 8                       // parts of the window, each with its own minimum
	noiseMuteBlocks      = 20                      // 200 ms of digital silence are not packet loss any more
	noiseBias            = 1.25                    // mean of noise over the minimum of its 40 ms means, as a ratio of levels (2 dB)
	noiseMargin          = 1.5                     // how far noise may exceed its mean and still be subtracted completely (3.5 dB)
	noiseWindow          = 2500 * time.Millisecond // default of NoiseFloorOptions.Window
	noiseLeastWindow     = 400 * time.Millisecond  // eight spans of 50 ms
	noiseLongestWindow   = 30 * time.Second
)

// NoiseFloorOptions configures a [NoiseFloor]. Zero fields select the defaults.
type NoiseFloorOptions struct {
	Rate int // of the sound, in hertz; required

	// Window is how long a background must last to be taken as the floor (default
	// 2.5 s). It is also the longest speech without a gap that does not raise the
	// floor.
	Window time.Duration

	// Initial is the floor until the first Window has passed; a quieter background
	// is accepted at once. The default is 0.005 (-46 dBFS), the level below which
	// seed 002 detects silence (ENERGY_THRESHOLD_LOW).
	Initial float64

	// Least and Most bound the floor, as RMS levels. The defaults are 0.0003 (-70
	// dBFS; the quietest mu-law value except zero) and 0.05 (-26 dBFS, so that
	// music on hold does not make the detector deaf).
	Least, Most float64
}

// withDefaults fills the zero fields.
func (o NoiseFloorOptions) withDefaults() NoiseFloorOptions {
	o.Window = cmp.Or(o.Window, noiseWindow)
	o.Initial = cmp.Or(o.Initial, 0.005)
	o.Least = cmp.Or(o.Least, 0.0003)
	o.Most = cmp.Or(o.Most, 0.05)
	return o
}

// Validate returns an error if an option is invalid.
func (o NoiseFloorOptions) Validate() error {
	if err := checkRate("noise floor: Rate", o.Rate); err != nil {
		return err
	}
	o = o.withDefaults()
	if o.Window < noiseLeastWindow || o.Window > noiseLongestWindow {
		return fmt.Errorf("noise floor: Window is %v, expected %v to %v", o.Window, noiseLeastWindow, noiseLongestWindow)
	}
	if !(o.Least > 0 && o.Least <= o.Initial && o.Initial <= o.Most && o.Most <= 1) {
		return fmt.Errorf("noise floor: Least %v, Initial %v and Most %v, expected 0 < Least <= Initial <= Most <= 1", o.Least, o.Initial, o.Most)
	}
	return nil
}

// NoiseFloor estimates the level of the background noise under speech, so that the
// thresholds of an energy detector can be relative to it.
//
// It tracks minima: the power of 10 ms blocks is averaged over 40 ms, and the floor
// is the lowest such average in the last [NoiseFloorOptions.Window], times a
// constant that compensates for taking a minimum. Speech does not count as
// background because it has gaps of 40 ms in nearly every window; the estimate
// therefore needs no decision about speech and cannot lock up. It follows a falling
// background within 40 ms and a rising one within the window. The window slides in
// eight steps.
//
// Blocks of zeros result from lost packets and muted microphones. They are skipped
// because they say nothing about the room. After 200 ms they count as silence,
// because the source then does send silence between its sounds.
//
// Time is counted in samples, so the result does not depend on how the sound is
// divided into calls. A NoiseFloor must be used by one goroutine at a time. It
// allocates nothing after [NewNoiseFloor].
//
// Source: R. Martin, "Spectral Subtraction Based on Minimum Statistics", EUSIPCO
// 1994, reduced from frequency bands to the whole band.
type NoiseFloor struct {
	// Constant after construction. Levels are stored as mean squares of samples.
	block                int // samples of one measurement
	span                 int // blocks in one part of the window
	initial, least, most float64

	sum    int64 // sum of squares in the current block
	filled int   // samples in the current block
	silent int   // consecutive blocks of zeros

	recent     [noiseMeanBlocks]float64 // powers of the last blocks
	recentLen  int
	recentNext int

	minima   [noiseSpans]float64 // of each span in the window
	spanNext int                 // index of the current span
	spanLen  int                 // blocks in the current span

	power float64 // the floor, with bias and bounds applied
}

// NewNoiseFloor returns a follower in its initial state.
func NewNoiseFloor(o NoiseFloorOptions) (*NoiseFloor, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	square := func(level float64) float64 { return level * fullScale * level * fullScale }
	n := &NoiseFloor{
		block:   o.Rate / noiseBlocksPerSecond,
		span:    int(o.Window * noiseBlocksPerSecond / noiseSpans / time.Second),
		initial: square(o.Initial),
		least:   square(o.Least),
		most:    square(o.Most),
	}
	n.Reset()
	return n, nil
}

// Reset restores the initial state.
func (n *NoiseFloor) Reset() {
	n.sum, n.filled, n.silent = 0, 0, 0
	n.recentLen, n.recentNext = 0, 0
	n.spanNext, n.spanLen = 0, 0
	for i := range n.minima {
		n.minima[i] = n.initial / (noiseBias * noiseBias)
	}
	n.power = n.initial
}

// Write takes the next samples, in any number.
func (n *NoiseFloor) Write(pcm []int16) {
	for len(pcm) > 0 {
		part := pcm[:min(len(pcm), n.block-n.filled)]
		pcm = pcm[len(part):]
		n.sum += energy(part)
		n.filled += len(part)
		if n.filled == n.block {
			n.addBlock(float64(n.sum) / float64(n.block))
			n.sum, n.filled = 0, 0
		}
	}
}

// addBlock adds the power of the next 10 ms.
func (n *NoiseFloor) addBlock(power float64) {
	if power > 0 {
		n.silent = 0
	} else if n.silent < noiseMuteBlocks {
		n.silent++
		return
	}

	n.recent[n.recentNext] = power
	n.recentNext = (n.recentNext + 1) % noiseMeanBlocks
	n.recentLen = min(n.recentLen+1, noiseMeanBlocks)
	if n.recentLen < noiseMeanBlocks {
		return
	}
	var mean float64
	for _, p := range n.recent {
		mean += p / noiseMeanBlocks
	}

	n.minima[n.spanNext] = min(n.minima[n.spanNext], mean)
	n.power = slices.Min(n.minima[:]) * (noiseBias * noiseBias)
	n.power = max(n.least, min(n.most, n.power))
	if n.spanLen++; n.spanLen == n.span {
		n.spanLen = 0
		n.spanNext = (n.spanNext + 1) % noiseSpans
		n.minima[n.spanNext] = math.Inf(1)
	}
}

// Floor returns the background level, as an [RMS] from 0 to 1.
func (n *NoiseFloor) Floor() float64 { return math.Sqrt(n.power) / fullScale }

// Above returns the distance in decibels of a level (an [RMS]) from the background.
func (n *NoiseFloor) Above(level float64) float64 { return DBFS(level) - DBFS(n.Floor()) }

// Subtract removes the background from a level (an [RMS]) and returns the level of
// the speech alone, or 0 if the level does not exceed the background. It lets fixed
// energy thresholds, such as those of seed 002, keep their meaning in noise. In a
// quiet room it changes almost nothing.
func (n *NoiseFloor) Subtract(level float64) float64 {
	floor := noiseMargin * n.Floor()
	return math.Sqrt(max(0, float64(level*level)-float64(floor*floor)))
}
