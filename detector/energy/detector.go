package energy

import (
	"fmt"
	"math"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

var (
	_ port.Detector       = (*Detector)(nil)
	_ port.DetectorStream = (*Stream)(nil)
)

const (
	defaultRate   = 16000
	maxRate       = 48000
	defaultMargin = 6
	maxMargin     = 40
)

// Options configures a [Detector]. The zero value is for 16 kHz.
type Options struct {
	// Rate is the sampling rate in hertz: a multiple of 4000 from 8000 to 48000;
	// 16000 if zero.
	Rate int
	// Margin is the level in decibels above the noise floor at which a sound counts
	// as half loud; 6 if zero. A larger margin ignores more background noise and
	// more distant speakers.
	Margin float64
}

// Validate returns an error if an option is out of range.
func (o Options) Validate() error {
	if o.Rate != 0 && (o.Rate < 2*pitchRate || o.Rate > maxRate || o.Rate%pitchRate != 0) {
		return fmt.Errorf("energy: rate is %d: expected a multiple of %d from %d to %d", o.Rate, pitchRate, 2*pitchRate, maxRate)
	}
	if !(o.Margin >= 0 && o.Margin <= maxMargin) {
		return fmt.Errorf("energy: margin is %g dB: expected 0 to %d", o.Margin, maxMargin)
	}
	return nil
}

// Detector opens streams. It is safe for concurrent use.
type Detector struct {
	rate   int
	margin float64
}

// New returns a detector.
func New(o Options) (*Detector, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	d := &Detector{rate: o.Rate, margin: o.Margin}
	if d.rate == 0 {
		d.rate = defaultRate
	}
	if d.margin == 0 {
		d.margin = defaultMargin
	}
	return d, nil
}

// Name returns "energy".
func (d *Detector) Name() string { return "energy" }

// Rate returns the sampling rate in hertz.
func (d *Detector) Rate() int { return d.rate }

// Open starts a stream. It never fails.
func (d *Detector) Open() (port.DetectorStream, error) {
	s := &Stream{
		margin:  d.margin,
		frame:   audio.FrameSamples(d.rate),
		step:    d.rate / pitchRate,
		rumble:  butterworth(float64(d.rate), rumbleCutoff, true),
		reduce1: butterworth(float64(d.rate), pitchCutoff, false),
		reduce2: butterworth(float64(d.rate), pitchCutoff, false),
	}
	s.Reset()
	return s, nil
}

const (
	rumbleCutoff = 150.0  // Hz; rumble and hum are below it
	pitchCutoff  = 1400.0 // Hz, before the reduction to pitchRate

	slope = 2.5 // range in dB over which the loudness rises from 0.5 to 0.73

	// Voicing rises from 0 to 1 between these values of periodicity.
	periodicLow, periodicHigh = 0.65, 0.85
	// Vowels have fewer zero crossings per second than the first value; the measure
	// falls to 0 at the second.
	crossingsLow, crossingsHigh = 2000.0, 3200.0

	voicedAttack  = 0.8  // weight of a voiced frame in the smoothed voicing
	voicedRelease = 0.05 // decay of the smoothed voicing per frame
	unvoicedShare = 0.15 // share of the probability for loudness without voicing
	release       = 0.3  // weight of the newest frame while the probability falls
)

// Stream processes one signal. It must be used by one goroutine at a time and
// allocates nothing.
type Stream struct {
	margin float64
	frame  int // samples per frame
	step   int // samples per sample at pitchRate

	rumble           biquad
	reduce1, reduce2 biquad
	floor            noiseFloor
	history          pitchHistory

	// The current frame.
	fill      int
	energy    float64
	crossings int
	last      float64 // the previous sample, filtered
	reduced   [pitchHop]float32

	voiced      float64 // 0 to 1: smoothed voicing
	probability float64
}

// Write takes samples at the detector's rate, in any number, and returns the
// probability of speech in the last complete frame of 20 ms, or 0 before the first.
func (s *Stream) Write(pcm []int16) float64 {
	for _, v := range pcm {
		x := s.rumble.next(float64(v) * (1.0 / 32768))
		s.energy += x * x
		if x*s.last < 0 {
			s.crossings++
		}
		s.last = x
		low := s.reduce2.next(s.reduce1.next(x))
		if s.fill%s.step == 0 {
			s.reduced[s.fill/s.step] = float32(low)
		}
		if s.fill++; s.fill == s.frame {
			s.endFrame()
		}
	}
	return s.probability
}

// endFrame evaluates the complete frame and starts the next.
func (s *Stream) endFrame() {
	s.history.push(&s.reduced)
	level := 10 * math.Log10(s.energy/float64(s.frame)+1e-12)
	above := level - s.floor.next(level)
	rate := float64(s.crossings) * 50
	s.fill, s.energy, s.crossings = 0, 0, 0

	voice := 0.0
	if above > s.margin/2 {
		voice = ramp(s.history.periodicity(), periodicLow, periodicHigh) * (1 - ramp(rate, crossingsLow, crossingsHigh))
	}
	if voice > s.voiced {
		s.voiced += voicedAttack * (voice - s.voiced)
	} else {
		s.voiced = max(s.voiced-voicedRelease, voice)
	}

	loud := 1 / (1 + math.Exp(-(above-s.margin)/slope))
	p := loud * (unvoicedShare + (1-unvoicedShare)*s.voiced)
	if p < s.probability {
		p = s.probability + release*(p-s.probability)
	}
	s.probability = p
}

// Reset restores the initial state.
func (s *Stream) Reset() {
	s.rumble.reset()
	s.reduce1.reset()
	s.reduce2.reset()
	s.floor.reset()
	s.history = pitchHistory{}
	s.fill, s.energy, s.crossings, s.last = 0, 0, 0, 0
	s.voiced, s.probability = 0, 0
}

// ramp rises linearly from 0 at low to 1 at high.
func ramp(x, low, high float64) float64 { return min(max((x-low)/(high-low), 0), 1) }
