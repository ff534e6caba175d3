package silero

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// PinnedSHA256 is the digest of the weights file that the golden tests of this
// package were made with.
const PinnedSHA256 = "1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3"

// maxModelSize bounds what Read takes into memory. The known file has 2.3 MB.
const maxModelSize = 32 << 20

// ErrNoWeights says that neither a model nor a file was given and none is built
// into the program.
var ErrNoWeights = errors.New("silero: no weights: name a silero_vad_v6.onnx, or build with the tag silero_embed")

// Model holds the weights of the network, laid out for computing. It does not
// change after it was read: any number of goroutines and streams share it.
type Model struct {
	sha256 string

	// One row of each matrix makes one output. Rows are padded with zeros to a
	// length that suits vector registers.
	spectrum  *spectrum
	conv      [4]layer
	gates     layer     // LSTM: rows over the cell's input, then over its output; gates in the order input, forget, cell, output
	out       []float32 // cellSize
	outOffset float32
}

// layer is an affine map: one row and one offset for each output.
type layer struct {
	rows    []float32 // len(offsets) rows of width numbers
	offsets []float32
	width   int
}

func (l *layer) row(i int) []float32 { return l.rows[i*l.width : (i+1)*l.width] }

// Load reads the weights from an ONNX file, see [Read].
func Load(path string) (*Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("silero: open weights: %w", err)
	}
	defer f.Close()
	m, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%w (in %s)", err, path)
	}
	return m, nil
}

// Read reads the weights from an ONNX file: Silero VAD version 6, or another of
// the same network (version 5 is). It takes the branch for 16 kHz.
//
// What the network needs is checked strictly: every array must be there, in
// shape, and finite, and the Fourier basis must be the one this package
// computes. The digest is not: a retrained file of the same shape serves as
// well. Callers that want exactly the tested file ask [Model.Pinned] and warn.
func Read(r io.Reader) (*Model, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxModelSize+1))
	if err != nil {
		return nil, fmt.Errorf("silero: read weights: %w", err)
	}
	if len(data) > maxModelSize {
		return nil, fmt.Errorf("silero: read weights: more than %d bytes, expected an ONNX file of about 2.3 MB", maxModelSize)
	}
	m, err := decodeModel(data)
	if err != nil {
		return nil, fmt.Errorf("silero: read weights: %w", err)
	}
	digest := sha256.Sum256(data)
	m.sha256 = hex.EncodeToString(digest[:])
	return m, nil
}

// SHA256 is the digest of the file the weights came from, in hexadecimal.
func (m *Model) SHA256() string { return m.sha256 }

// Pinned tells whether the weights are exactly the file of [PinnedSHA256].
func (m *Model) Pinned() bool { return m.sha256 == PinnedSHA256 }

const basisName = "stft.forward_basis_buffer"

// decodeModel finds the graph that holds the 16 kHz network, by the shape of
// its Fourier basis (the 8 kHz branch has half the size), and lays it out.
func decodeModel(data []byte) (*Model, error) {
	scopes, err := readScopes(data)
	if err != nil {
		return nil, err
	}
	var found scope
	for _, s := range scopes {
		if s[basisName].hasShape(2*bins, 1, fftSize) {
			if found != nil {
				return nil, errors.New("two graphs hold a 16 kHz network, expected one")
			}
			found = s
		}
	}
	if found == nil {
		return nil, fmt.Errorf("no graph holds %q of shape [%d 1 %d], expected a Silero VAD model, v5 or v6, with a 16 kHz branch", basisName, 2*bins, fftSize)
	}
	return layOut(found)
}

// layOut arranges the arrays of the file for the network. Convolutions come as
// [output][channel][tap] and become one row per output with the taps outermost,
// because the network keeps its signals with time outermost.
func layOut(s scope) (*Model, error) {
	l := &loader{scope: s}
	m := &Model{spectrum: newSpectrum()}

	basis := l.array(basisName, 2*bins, 1, fftSize)
	for i, dim := range convDims {
		name := fmt.Sprintf("encoder.%d.reparam_conv", i)
		weight := l.array(name+".weight", int64(dim.outputs), int64(dim.inputs), taps)
		offset := l.array(name+".bias", int64(dim.outputs))
		if l.err == nil {
			m.conv[i] = convLayer(dim, weight, offset)
		}
	}
	const gates = 4 * cellSize
	input := l.array("decoder.rnn.weight_ih", gates, cellSize)
	hidden := l.array("decoder.rnn.weight_hh", gates, cellSize)
	inputOffset := l.array("decoder.rnn.bias_ih", gates)
	hiddenOffset := l.array("decoder.rnn.bias_hh", gates)
	m.out = l.array("decoder.decoder.2.weight", 1, cellSize, 1)
	outOffset := l.array("decoder.decoder.2.bias", 1)
	if l.err != nil {
		return nil, l.err
	}

	if err := m.spectrum.check(basis); err != nil {
		return nil, err
	}
	m.gates = layer{rows: make([]float32, 2*gates*cellSize), offsets: inputOffset, width: 2 * cellSize}
	for i := range gates {
		row := m.gates.row(i)
		copy(row, input[i*cellSize:(i+1)*cellSize])
		copy(row[cellSize:], hidden[i*cellSize:(i+1)*cellSize])
		m.gates.offsets[i] += hiddenOffset[i]
	}
	m.outOffset = outOffset[0]
	return m, nil
}

// convLayer reorders one convolution. Taps that only ever meet the zeros around
// the signal are left out.
func convLayer(dim convDim, weight, offset []float32) layer {
	width := roundUp((dim.lastTap - dim.firstTap + 1) * dim.inputs)
	l := layer{rows: make([]float32, dim.outputs*width), offsets: offset, width: width}
	for o := range dim.outputs {
		row := l.row(o)
		for tap := dim.firstTap; tap <= dim.lastTap; tap++ {
			for c := range dim.inputs {
				row[(tap-dim.firstTap)*dim.inputs+c] = weight[(o*dim.inputs+c)*taps+tap]
			}
		}
	}
	return l
}

// roundUp pads the length of a row to whole vector registers.
func roundUp(n int) int { return (n + vectorSize - 1) &^ (vectorSize - 1) }

// loader takes arrays out of a scope and keeps the first error.
type loader struct {
	scope scope
	err   error
}

func (l *loader) array(name string, dims ...int64) []float32 {
	if l.err != nil {
		return nil
	}
	t, ok := l.scope[name]
	if !ok {
		l.err = fmt.Errorf("array %q is missing", name)
		return nil
	}
	a, err := t.floats(dims...)
	if err != nil {
		l.err = fmt.Errorf("array %q: %w", name, err)
	}
	return a
}

// fromBytes reads weights that are already in memory.
func fromBytes(b []byte) (*Model, error) { return Read(bytes.NewReader(b)) }

// hann is the periodic Hann window over fftSize points.
func hann(i int) float64 { return 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/fftSize) }
