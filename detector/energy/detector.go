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

// Options configure a [Detector]. The zero value is for 16 kHz.
type Options struct {
	// Rate of the samples in hertz: a multiple of 4000 from 8000 to 48000;
	// 16000 if zero.
	Rate int
	// Margin is how many decibels above the noise floor a sound must be to
	// count as half loud; 6 if zero. A larger one ignores more of the
	// background and more of a distant speaker.
	Margin float64
}

// Validate reports options that are out of range.
func (o Options) Validate() error {
	if o.Rate != 0 && (o.Rate < 2*pitchRate || o.Rate > maxRate || o.Rate%pitchRate != 0) {
		return fmt.Errorf("energy: rate is %d, expected a multiple of %d from %d to %d", o.Rate, pitchRate, 2*pitchRate, maxRate)
	}
	if !(o.Margin >= 0 && o.Margin <= maxMargin) {
		return fmt.Errorf("energy: margin is %g dB, expected 0 to %d", o.Margin, maxMargin)
	}
	return nil
}

// Detector opens streams. It is safe for concurrent use.
type Detector struct {
	rate   int
	margin float64
}

// New makes a detector.
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

// Name is "energy".
func (d *Detector) Name() string { return "energy" }

// Rate is the one of the options.
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
	rumbleCutoff = 150.0  // Hz; below is rumble and hum
	pitchCutoff  = 1400.0 // Hz, before the reduction to pitchRate

	slope = 2.5 // dB over which the loudness goes from 0.5 to 0.73

	// A frame is voiced from the first to the second figure of periodicity.
	periodicLow, periodicHigh = 0.65, 0.85
	// A vowel crosses zero less often than this, per second; the measure fades
	// from the first figure to the second.
	crossingsLow, crossingsHigh = 2000.0, 3200.0

	voicedAttack  = 0.8  // share of a voiced frame in what is remembered
	voicedRelease = 0.05 // by which the memory of a voice fades in a frame
	unvoicedShare = 0.15 // of the probability, for loudness without a voice
	release       = 0.3  // share of the newest frame while the probability falls
)

// Stream follows one sound. It is used by one goroutine and allocates nothing.
type Stream struct {
	margin float64
	frame  int // samples of a frame
	step   int // samples for each one at pitchRate

	rumble           biquad
	reduce1, reduce2 biquad
	floor            noiseFloor
	history          pitchHistory

	// The frame that is being filled.
	fill      int
	energy    float64
	crossings int
	last      float64 // the sample before, filtered
	reduced   [pitchHop]float32

	voiced      float64 // 0 to 1: how much voice there was in the last moments
	probability float64
}

// Write takes samples at the detector's rate, of any number, and returns the
// probability of speech in the last complete frame of 20 ms: 0 before the first.
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

// endFrame judges the frame that is complete and clears it for the next.
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

// Reset forgets the past, as at the start.
func (s *Stream) Reset() {
	s.rumble.reset()
	s.reduce1.reset()
	s.reduce2.reset()
	s.floor.reset()
	s.history = pitchHistory{}
	s.fill, s.energy, s.crossings, s.last = 0, 0, 0, 0
	s.voiced, s.probability = 0, 0
}

// ramp rises from 0 at low to 1 at high.
func ramp(x, low, high float64) float64 { return min(max((x-low)/(high-low), 0), 1) }
