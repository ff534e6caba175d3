package porttest

import (
	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

var _ port.Detector = (*Detector)(nil)

// Detector is a fake that takes every sound for speech: 0.95 for a window that
// reaches a hundredth of full scale, and 0.05 otherwise. It is safe for concurrent
// use.
type Detector struct {
	SampleRate int // 16000 if zero
	Window     int // samples per window; 20 ms if zero
}

// Name returns "fake".
func (d *Detector) Name() string { return "fake" }

// Rate returns the sampling rate in hertz.
func (d *Detector) Rate() int {
	if d.SampleRate == 0 {
		return 16000
	}
	return d.SampleRate
}

// Open starts a stream.
func (d *Detector) Open() (port.DetectorStream, error) {
	window := d.Window
	if window == 0 {
		window = audio.FrameSamples(d.Rate())
	}
	return &detectorStream{window: window}, nil
}

type detectorStream struct {
	window      int
	fill        int
	peak        float64
	probability float64
}

func (s *detectorStream) Write(pcm []int16) float64 {
	for len(pcm) > 0 {
		n := min(len(pcm), s.window-s.fill)
		s.peak = max(s.peak, audio.Peak(pcm[:n]))
		pcm = pcm[n:]
		if s.fill += n; s.fill < s.window {
			break
		}
		s.probability = 0.05
		if s.peak >= 0.01 {
			s.probability = 0.95
		}
		s.fill, s.peak = 0, 0
	}
	return s.probability
}

func (s *detectorStream) Reset() { *s = detectorStream{window: s.window} }
