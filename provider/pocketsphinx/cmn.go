package pocketsphinx

import "math"

// maxCep bounds the length of a cepstral vector.
const maxCep = 64

// Constants of cepstral mean normalisation, in feature frames of 10 ms that the
// engine took for speech. README.md tells how they were measured.
const (
	// settledFrames is how much speech gives a mean that beats the model's default.
	// With 50 frames, mostly pre-roll, the error rate quadruples.
	settledFrames = 150
	// knownFrames is how much of a caller must have been heard, in utterances that
	// were believed, for the next to begin with the caller's own mean. The mean of
	// a single short word is a poor guide, and a noise is not the caller.
	knownFrames = 100
	believed    = 0.5
	// memory is the weight of the past when a caller's mean is updated.
	memory = 500
	// near is the distance between two means below which decoding again with
	// the better one is not worth its time.
	near = 12.0
	// nearEarly is the same while the speaker goes on, when a new start is spread
	// over the Writes that follow and delays nothing.
	nearEarly = 6.0
)

// cepstralMean is a mean and the number of frames that gave it.
type cepstralMean struct {
	value  [maxCep]float32
	n      int // length of the vector
	frames float64
}

// distance is the Euclidean distance between two means.
func (m *cepstralMean) distance(o *cepstralMean) float64 {
	var d float64
	for i := range m.n {
		x := float64(m.value[i] - o.value[i])
		d += x * x
	}
	return math.Sqrt(d)
}

// add merges what another stretch of the same channel has shown. The past
// counts for at most memory frames, so that a changed channel wins soon.
func (m *cepstralMean) add(o *cepstralMean) {
	if o.frames <= 0 {
		return
	}
	if m.frames <= 0 {
		*m = *o
		m.frames = min(m.frames, memory)
		return
	}
	total := m.frames + o.frames
	for i := range m.n {
		m.value[i] = float32((float64(m.value[i])*m.frames + float64(o.value[i])*o.frames) / total)
	}
	m.frames = min(total, memory)
}
