package plc

import (
	"fmt"
	"math"
)

// Lengths in milliseconds.
const (
	shortest = 5  // period of a voice: 200 Hz
	longest  = 15 // 66 Hz
	template = 10 // the end of the sound that is searched for in what precedes it
	steady   = 10 // full loudness
	fading   = 50 // after which it is silent
	blend    = 5  // between what was made up and what arrives
)

// Concealer continues sound where a piece is missing. Use [New]. It must be used by one goroutine at
// a time, and allocates nothing after construction.
type Concealer struct {
	ms      int       // samples of a millisecond
	history []float64 // the last sound, oldest first
	cycle   []float64 // a period of the voice, which is repeated
	at      int       // the next sample of cycle
	made    int       // consecutive samples that were made up
}

// New returns a concealer for a sampling rate of 8000 to 48000 Hz.
func New(rate int) (*Concealer, error) {
	if rate < 8000 || rate > 48000 || rate%1000 != 0 {
		return nil, fmt.Errorf("plc: rate is %d: expected 8000 to 48000 Hz, whole samples in a millisecond", rate)
	}
	ms := rate / 1000
	return &Concealer{
		ms: ms, history: make([]float64, (2*longest+template)*ms), cycle: make([]float64, 0, longest*ms),
	}, nil
}

// Reset forgets the sound so far.
func (c *Concealer) Reset() {
	clear(c.history)
	c.cycle, c.at, c.made = c.cycle[:0], 0, 0
}

// Arrived takes sound that has arrived. After a loss it changes the beginning of pcm, so that what was
// made up passes into it.
func (c *Concealer) Arrived(pcm []int16) {
	if c.made > 0 {
		n := min(blend*c.ms, len(pcm))
		for i := range n {
			w := float64(i+1) / float64(n+1)
			pcm[i] = round(w*float64(pcm[i]) + (1-w)*c.next())
		}
		c.made = 0
	}
	c.remember(pcm)
}

// Conceal fills pcm with a continuation of the sound so far.
func (c *Concealer) Conceal(pcm []int16) {
	if c.made == 0 {
		c.begin()
	}
	for i := range pcm {
		pcm[i] = round(c.next())
	}
	c.remember(pcm)
}

// begin chooses the period that is repeated.
func (c *Concealer) begin() {
	h := c.history
	period := c.period()
	c.cycle, c.at = append(c.cycle[:0], h[len(h)-period:]...), 0
	// The end of the period passes into what precedes its beginning, so that there is no click where
	// it begins again.
	n := period / 4
	before := h[len(h)-period-n : len(h)-period]
	for i := range n {
		w := float64(i+1) / float64(n+1)
		at := period - n + i
		c.cycle[at] = (1-w)*c.cycle[at] + w*before[i]
	}
}

// period returns how many samples before its end the sound was most like its end.
func (c *Concealer) period() int {
	end, size := len(c.history), template*c.ms
	last := c.history[end-size:]
	best, most := shortest*c.ms, math.Inf(-1)
	for lag := shortest * c.ms; lag <= longest*c.ms; lag++ {
		var same, energy float64
		for i, v := range c.history[end-size-lag : end-lag] {
			same += v * last[i]
			energy += v * v
		}
		if like := same / math.Sqrt(energy+1); like > most {
			best, most = lag, like
		}
	}
	return best
}

// next returns the next sample that is made up.
func (c *Concealer) next() float64 {
	gain := 1 - float64(c.made-steady*c.ms)/float64(fading*c.ms)
	c.made++
	if gain <= 0 {
		return 0
	}
	v := c.cycle[c.at]
	c.at = (c.at + 1) % len(c.cycle)
	return min(gain, 1) * v
}

// remember appends sound to the history.
func (c *Concealer) remember(pcm []int16) {
	h := c.history
	if len(pcm) > len(h) {
		pcm = pcm[len(pcm)-len(h):]
	}
	rest := h[copy(h, h[len(pcm):]):]
	for i, v := range pcm {
		rest[i] = float64(v)
	}
}

func round(v float64) int16 {
	return int16(max(math.MinInt16, min(math.MaxInt16, math.Round(v))))
}
