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

// PinnedSHA256 is the digest of the weights file with which the golden tests of
// this package were made.
const PinnedSHA256 = "1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3"

// maxModelSize bounds the size of a file that Read accepts. The known file has 2.3
// MB.
const maxModelSize = 32 << 20

// ErrNoWeights reports that neither a model nor a file was given and the program
// has no built-in weights.
var ErrNoWeights = errors.New("silero: no weights: name a silero_vad_v6.onnx, or build with the tag silero_embed")

// Model contains the weights of the network in the form used for computing. It is
// immutable and safe for concurrent use.
type Model struct {
	sha256 string

	// Each row of a matrix computes one output. Rows are padded with zeros to the
	// length of vector registers.
	spectrum  *spectrum
	conv      [4]layer
	gates     layer     // LSTM: rows over the cell's input, then over its output; gates in the order input, forget, cell, output
	out       []float32 // cellSize
	outOffset float32
}

// layer is an affine map with one row and one offset per output.
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

// Read reads the weights of the 16 kHz branch from an ONNX file: Silero VAD version
// 6, or another version of the same network (such as version 5).
//
// Read returns an error if an array is missing, has another shape or contains a
// number that is not finite, or if the Fourier basis differs from the one that this
// package computes. It does not check the digest, so that a retrained file of the
// same shape can be used; callers can use [Model.Pinned] to warn about other files.
func Read(r io.Reader) (*Model, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxModelSize+1))
	if err != nil {
		return nil, fmt.Errorf("silero: read weights: %w", err)
	}
	if len(data) > maxModelSize {
		return nil, fmt.Errorf("silero: read weights: more than %d bytes: expected an ONNX file of about 2.3 MB", maxModelSize)
	}
	m, err := decodeModel(data)
	if err != nil {
		return nil, fmt.Errorf("silero: read weights: %w", err)
	}
	digest := sha256.Sum256(data)
	m.sha256 = hex.EncodeToString(digest[:])
	return m, nil
}

// SHA256 returns the digest of the weights file in hexadecimal.
func (m *Model) SHA256() string { return m.sha256 }

// Pinned reports whether the weights are those of the file with digest
// [PinnedSHA256].
func (m *Model) Pinned() bool { return m.sha256 == PinnedSHA256 }

const basisName = "stft.forward_basis_buffer"

// decodeModel finds the graph with the 16 kHz network by the shape of its Fourier
// basis (the 8 kHz branch has half the size) and converts it.
func decodeModel(data []byte) (*Model, error) {
	scopes, err := readScopes(data)
	if err != nil {
		return nil, err
	}
	var found scope
	for _, s := range scopes {
		if s[basisName].hasShape(2*bins, 1, fftSize) {
			if found != nil {
				return nil, errors.New("two graphs contain a 16 kHz network: expected one")
			}
			found = s
		}
	}
	if found == nil {
		return nil, fmt.Errorf("no graph contains %q of shape [%d 1 %d]: expected a Silero VAD model, v5 or v6, with a 16 kHz branch", basisName, 2*bins, fftSize)
	}
	return layOut(found)
}

// layOut converts the arrays of the file. Convolutions are stored as
// [output][channel][tap] and become one row per output with the taps outermost,
// because the network stores signals with time outermost.
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

// convLayer reorders one convolution. It omits taps that are only applied to the
// zeros around the signal.
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

// roundUp rounds the length of a row up to whole vector registers.
func roundUp(n int) int { return (n + vectorSize - 1) &^ (vectorSize - 1) }

// loader reads arrays from a scope and stores the first error.
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

// fromBytes reads weights from memory.
func fromBytes(b []byte) (*Model, error) { return Read(bytes.NewReader(b)) }

// hann returns the periodic Hann window of fftSize points.
func hann(i int) float64 { return 0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/fftSize) }
