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
type Detector struct {
	model *Model
	rest  rest
}

// rest is what the network remembers of silence.
type rest struct {
	cell  [cellSize]float32
	gates [2 * cellSize]float32
}

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
	d := &Detector{model: model}
	rest := &Stream{model: model}
	rest.Write(make([]int16, memory*chunkSize))
	d.rest.cell, d.rest.gates = rest.state.cell, rest.state.gates
	return d, nil
}

// Name returns "silero".
func (d *Detector) Name() string { return "silero" }

// Rate returns 16000 Hz.
func (d *Detector) Rate() int { return sampleRate }

// Model returns the weights.
func (d *Detector) Model() *Model { return d.model }

// Open starts a stream. It never fails.
func (d *Detector) Open() (port.DetectorStream, error) {
	return &Stream{model: d.model, rest: &d.rest}, nil
}

// The network remembers how loud somebody has spoken, for as long as the sound goes on, and does
// not hear a short, quiet word after a loud sentence. So a stream forgets a sentence (that
// many windows whose probability was above speech) memory windows, about a second, after the last
// one whose probability was above silent. It then remembers silence only: a new state would miss
// the next 100 ms. Without the sentence before, noises would be taken for speech more often.
const (
	memory   = 31
	silent   = 0.1
	speech   = 0.5
	sentence = 10
)

// Stream processes one signal. It must be used by one goroutine at a time and
// allocates nothing.
type Stream struct {
	model       *Model
	rest        *rest // what the stream knows after it has forgotten; if nil, it never forgets
	voice       int   // windows of speech since it has forgotten
	quiet       int   // windows of silence since then
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
			s.forget()
		}
	}
	return s.probability
}

// forget clears the network's memory in a long silence.
func (s *Stream) forget() {
	if s.probability > silent {
		if s.quiet = 0; s.probability > speech {
			s.voice++
		}
		return
	}
	if s.quiet++; s.rest != nil && s.voice >= sentence && s.quiet >= memory {
		s.voice = 0
		s.state.cell, s.state.gates = s.rest.cell, s.rest.gates
	}
}

// Reset restores the initial state.
func (s *Stream) Reset() {
	s.state = state{}
	s.fill, s.quiet, s.voice = 0, 0, 0
	s.probability = 0
}
