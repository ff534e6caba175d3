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
	noiseMeanBlocks      = 4                       // and averaged over 40 ms: a closure or a gap between words
	noiseSpans           = 8                       // parts of the window, each with its own minimum
	noiseMuteBlocks      = 20                      // 200 ms of digital silence are no lost packets any more
	noiseBias            = 1.25                    // mean of noise over the minimum of its 40 ms means, as a ratio of levels (2 dB)
	noiseMargin          = 1.5                     // what background may rise above its mean and still be taken away whole (3.5 dB)
	noiseWindow          = 2500 * time.Millisecond // default of NoiseFloorOptions.Window
	noiseLeastWindow     = 400 * time.Millisecond  // eight spans of 50 ms
	noiseLongestWindow   = 30 * time.Second
)

// NoiseFloorOptions sets up a [NoiseFloor]. Zero fields take the defaults.
type NoiseFloorOptions struct {
	Rate int // of the sound, in hertz; required

	// Window is how long a background must last to be believed (default 2.5 s).
	// It is also the longest speech without any gap that does not raise the
	// floor.
	Window time.Duration

	// Initial is what the floor is taken for until a first Window has passed; a
	// quieter background is believed at once. The default is 0.005 (-46 dBFS),
	// the level below which seed 002 hears silence (ENERGY_THRESHOLD_LOW).
	Initial float64

	// Least and Most bound the floor, as RMS levels. The defaults are 0.0003
	// (-70 dBFS: mu-law has nothing quieter but zero) and 0.05 (-26 dBFS, so
	// that music on hold does not make the detector deaf).
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

// Validate says what does not fit.
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

// NoiseFloor follows the level of the background under speech, so that an
// energy detector's thresholds can be relative to it.
//
// It tracks minimums: the power of 10 ms blocks is averaged over 40 ms, and the
// floor is the least such average of the last [NoiseFloorOptions.Window], times
// a constant that makes up for taking a minimum. Speech is not a background
// because it has gaps of 40 ms in nearly every window; so no decision about
// speech is needed, and none can lock up. A background that falls is followed
// within 40 ms, one that rises within the window. The window slides in eight
// steps.
//
// Blocks of exact zeros are what lost packets and muted microphones leave; they
// say nothing about the room and are skipped, until they last 200 ms: then the
// source truly sends silence between its sounds, and they count as such.
//
// All state is in the struct and time is counted in samples: how the sound is
// cut into calls changes nothing. A NoiseFloor belongs to one goroutine.
// Nothing allocates after [NewNoiseFloor].
//
// Source: R. Martin, "Spectral Subtraction Based on Minimum Statistics",
// EUSIPCO 1994, reduced from frequency bands to the whole band.
type NoiseFloor struct {
	// Set once. Levels are kept as mean squares of samples.
	block                int // samples of one measurement
	span                 int // blocks in one part of the window
	initial, least, most float64

	sum    int64 // squares of the block that is being filled
	filled int   // its samples so far
	silent int   // blocks of zeros in a row

	recent     [noiseMeanBlocks]float64 // powers of the last blocks
	recentLen  int
	recentNext int

	minima   [noiseSpans]float64 // of the spans of the window
	spanNext int                 // the one that is being filled
	spanLen  int                 // its blocks so far

	power float64 // the floor, after the bias and the bounds
}

// NewNoiseFloor makes a follower that has heard nothing yet.
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

// Reset forgets all that was heard.
func (n *NoiseFloor) Reset() {
	n.sum, n.filled, n.silent = 0, 0, 0
	n.recentLen, n.recentNext = 0, 0
	n.spanNext, n.spanLen = 0, 0
	for i := range n.minima {
		n.minima[i] = n.initial / (noiseBias * noiseBias)
	}
	n.power = n.initial
}

// Write takes the next samples, of any number.
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

// addBlock takes the power of the next 10 ms.
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

// Floor is the level of the background, as an [RMS] of 0 to 1.
func (n *NoiseFloor) Floor() float64 { return math.Sqrt(n.power) / fullScale }

// Above is how many decibels a level (an [RMS]) lies above the background.
func (n *NoiseFloor) Above(level float64) float64 { return DBFS(level) - DBFS(n.Floor()) }

// Subtract takes the background away from a level (an [RMS]): what remains is
// the level of the speech alone, on the same scale, and 0 for what is no more
// than background. Fixed energy thresholds, such as seed 002's, keep their
// meaning in noise when they look at it. In a quiet room it changes nothing
// worth mentioning.
func (n *NoiseFloor) Subtract(level float64) float64 {
	floor := noiseMargin * n.Floor()
	return math.Sqrt(max(0, float64(level*level)-float64(floor*floor)))
}
