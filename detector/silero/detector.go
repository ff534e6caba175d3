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

// Options configures a [Detector]. The zero value uses the weights built into the
// program.
type Options struct {
	// Model, if not nil, is used, so that several detectors can share its weights.
	Model *Model
	// Path is the ONNX file to read if Model is nil.
	Path string
}

// Validate returns an error if both fields are set.
func (o Options) Validate() error {
	if o.Model != nil && o.Path != "" {
		return errors.New("silero: only one of Model and Path may be set")
	}
	return nil
}

// Detector opens streams that share one model. It is safe for concurrent use.
type Detector struct{ model *Model }

// New returns a detector. It returns [ErrNoWeights] if the options contain no
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

// Name returns "silero".
func (d *Detector) Name() string { return "silero" }

// Rate returns 16000 Hz.
func (d *Detector) Rate() int { return sampleRate }

// Model returns the weights.
func (d *Detector) Model() *Model { return d.model }

// Open starts a stream. It never fails.
func (d *Detector) Open() (port.DetectorStream, error) {
	return &Stream{model: d.model}, nil
}

// Stream processes one signal. It must be used by one goroutine at a time and
// allocates nothing.
type Stream struct {
	model       *Model
	state       state
	fill        int // samples in the current window
	probability float64
}

// Write takes samples at 16 kHz, in any number, and returns the probability of
// speech in the last complete window of 512 samples, or 0 before the first. The
// beginning of speech is therefore detected up to 32 ms after its samples were
// written.
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

// Reset restores the initial state.
func (s *Stream) Reset() {
	s.state = state{}
	s.fill = 0
	s.probability = 0
}
