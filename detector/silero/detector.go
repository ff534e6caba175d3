package silero

import (
	"errors"
	"fmt"

	"github.com/hocketvoice/hocket/port"
)

var (
	_ port.Detector       = (*Detector)(nil)
	_ port.DetectorStream = (*Stream)(nil)
)

// Options configure a [Detector]. The zero value uses the weights that are
// built into the program.
type Options struct {
	// Model is used where it is set, so that detectors share weights.
	Model *Model
	// Path names an ONNX file to read where Model is not set.
	Path string
}

// Validate reports options that contradict each other.
func (o Options) Validate() error {
	if o.Model != nil && o.Path != "" {
		return errors.New("silero: both Model and Path are set, expected one")
	}
	return nil
}

// Detector opens streams over one model. It is safe for concurrent use.
type Detector struct{ model *Model }

// New makes a detector. It fails with [ErrNoWeights] where the options name no
// weights and none are built in.
func New(o Options) (*Detector, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	model, err := o.Model, error(nil)
	switch {
	case model != nil:
	case o.Path != "":
		model, err = Load(o.Path)
	default:
		data, ok := Embedded()
		if !ok {
			return nil, ErrNoWeights
		}
		if model, err = fromBytes(data); err != nil {
			err = fmt.Errorf("%w (built into the program)", err)
		}
	}
	if err != nil {
		return nil, err
	}
	return &Detector{model: model}, nil
}

// Name is "silero".
func (d *Detector) Name() string { return "silero" }

// Rate is 16000 Hz.
func (d *Detector) Rate() int { return sampleRate }

// Model returns the weights, for other detectors and for diagnostics.
func (d *Detector) Model() *Model { return d.model }

// Open starts a stream. It never fails.
func (d *Detector) Open() (port.DetectorStream, error) {
	return &Stream{model: d.model}, nil
}

// Stream follows one sound. It is used by one goroutine and allocates nothing.
type Stream struct {
	model       *Model
	state       state
	fill        int // samples of the window that are there
	probability float64
}

// Write takes samples at 16 kHz, of any number, and returns the probability of
// speech in the last complete window of 512 samples: 0 before the first. A
// speech onset therefore shows up to 32 ms after its samples were written.
func (s *Stream) Write(pcm []int16) float64 {
	for len(pcm) > 0 {
		window := s.state.input[context+s.fill : context+chunkSize]
		n := min(len(window), len(pcm))
		for i, v := range pcm[:n] {
			window[i] = float32(v) * (1.0 / 32768)
		}
		pcm = pcm[n:]
		if s.fill += n; s.fill == chunkSize {
			s.probability = float64(s.model.run(&s.state))
			s.fill = 0
		}
	}
	return s.probability
}

// Reset forgets the past, as at the start.
func (s *Stream) Reset() {
	s.state = state{}
	s.fill = 0
	s.probability = 0
}
