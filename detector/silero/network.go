package silero

import "math"

// The window of the network, in samples at sampleRate.
const (
	sampleRate = 16000
	chunkSize  = 512 // new samples per window: 32 ms
	context    = 64  // samples kept from the previous window
	padding    = 64  // samples reflected on the right
	inputSize  = context + chunkSize + padding

	hop    = 128
	frames = (inputSize-fftSize)/hop + 1 // spectra per window

	taps       = 3 // of every convolution
	cellSize   = 128
	vectorSize = 16 // numbers per widest vector register
)

// convDim describes a convolution of three taps with one zero on either side of the
// signal. At the end of the chain the signal is so short that some taps are only
// applied to those zeros: only firstTap to lastTap are computed.
type convDim struct {
	inputs, outputs   int // channels
	stride            int
	times             int // number of outputs in time
	firstTap, lastTap int
}

var convDims = [4]convDim{
	{inputs: bins, outputs: 128, stride: 1, times: frames, lastTap: 2},
	{inputs: 128, outputs: 64, stride: 2, times: 2, lastTap: 2},
	{inputs: 64, outputs: 64, stride: 2, times: 1, firstTap: 1, lastTap: 2},
	{inputs: 64, outputs: cellSize, stride: 1, times: 1, firstTap: 1, lastTap: 1},
}

// state is the state and working memory of one stream. Signals are stored with time
// outermost, so that a convolution is an inner product of a row of weights with
// consecutive numbers. The rows before the first and after the last moment stay
// zero: they are the zeros around the signal.
type state struct {
	input [inputSize]float32

	cell  [cellSize]float32
	gates [2 * cellSize]float32 // the cell's input, followed by its last output

	// Scratch memory: nothing but the zeros is kept from one window to the next.
	work    [fftSize]float32
	signal0 [(frames+2)*bins + vectorSize]float32 // the end is multiplied with padded weights
	signal1 [(frames + 2) * 128]float32
	signal2 [2 * 64]float32
	signal3 [64]float32
	sums    [4 * cellSize]float32
}

// run computes the probability of speech in s.input[:context+chunkSize] and moves
// the end of the input to the position of the next window's context.
func (m *Model) run(s *state) float32 {
	for i := range padding {
		s.input[context+chunkSize+i] = s.input[context+chunkSize-2-i]
	}
	for t := range frames {
		m.spectrum.magnitude(s.signal0[(t+1)*bins:], s.input[t*hop:], &s.work)
	}
	copy(s.input[:context], s.input[chunkSize:chunkSize+context])

	m.convolve(0, s.signal1[128:], s.signal0[:])
	m.convolve(1, s.signal2[:], s.signal1[:])
	m.convolve(2, s.signal3[:], s.signal2[:])
	m.convolve(3, s.gates[:cellSize], s.signal3[:])
	return m.recur(s)
}

// convolve computes convolution i with its ReLU. src starts at the first moment to
// which firstTap is applied.
func (m *Model) convolve(i int, dst, src []float32) {
	dim, l := convDims[i], &m.conv[i]
	for o, offset := range l.offsets {
		row := l.row(o)
		for t := range dim.times {
			from := t * dim.stride * dim.inputs
			v := dot(row, src[from:from+l.width]) + offset
			dst[t*dim.outputs+o] = max(v, 0)
		}
	}
}

// recur steps the LSTM cell and converts its output to a probability.
func (m *Model) recur(s *state) float32 {
	for i, offset := range m.gates.offsets {
		s.sums[i] = dot(m.gates.row(i), s.gates[:]) + offset
	}
	const n = cellSize
	hidden := s.gates[n:]
	speech := m.outOffset
	for i := range n {
		in, forget := sigmoid(s.sums[i]), sigmoid(s.sums[n+i])
		cell, out := tanh(s.sums[2*n+i]), sigmoid(s.sums[3*n+i])
		c := forget*s.cell[i] + in*cell
		h := out * tanh(c)
		s.cell[i], hidden[i] = c, h
		speech += max(h, 0) * m.out[i]
	}
	return sigmoid(speech)
}

func sigmoid(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }

func tanh(x float32) float32 { return float32(2/(1+math.Exp(-2*float64(x))) - 1) }
