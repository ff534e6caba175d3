package pocketsphinx

import "math"

// maxCep bounds the length of a cepstral vector.
const maxCep = 64

// Constants of cepstral mean normalization, in feature frames of 10 ms that the
// engine classified as speech. README.md describes how they were measured.
const (
	// settledFrames is the amount of speech after which its mean is better than the
	// model's default. With 50 frames, mostly pre-roll, the error rate quadruples.
	settledFrames = 150
	// knownFrames is the amount of accepted speech after which an utterance starts
	// with the caller's own mean. The mean of a single short word is unreliable,
	// and a noise may not be the caller.
	knownFrames = 100
	believed    = 0.5
	// memory is the weight of the past when a caller's mean is updated.
	memory = 500
	// near is the distance between two means below which decoding again with the
	// better one is not worth its time.
	near = 12.0
	// nearEarly is the same distance while the speaker continues. A restart is then
	// spread over the following Writes and delays nothing.
	nearEarly = 6.0
)

// cepstralMean is a mean and the number of frames that it is based on.
type cepstralMean struct {
	value  [maxCep]float32
	n      int // length of the vector
	frames float64
}

// distance returns the Euclidean distance between two means.
func (m *cepstralMean) distance(o *cepstralMean) float64 {
	var d float64
	for i := range m.n {
		x := float64(m.value[i] - o.value[i])
		d += x * x
	}
	return math.Sqrt(d)
}

// add merges the mean of another section of the same channel. The past counts for
// at most memory frames, so that a changed channel soon dominates.
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
