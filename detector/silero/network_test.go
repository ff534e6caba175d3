package silero

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
)

// arrays are weights as stored in the file, by name.
type arrays map[string]struct {
	dims   []int64
	values []float32
}

// randomArrays returns random weights of the right shapes, the same in every run. The
// network's results are then meaningless, but must still agree with the definition.
func randomArrays() arrays {
	out := arrays{}
	seed := uint32(7)
	add := func(name string, scale float64, dims ...int64) {
		n := int64(1)
		for _, d := range dims {
			n *= d
		}
		values := make([]float32, n)
		for i := range values {
			seed = seed*1664525 + 1013904223
			values[i] = float32((float64(seed>>8)/(1<<23) - 1) * scale)
		}
		out[name] = struct {
			dims   []int64
			values []float32
		}{dims, values}
	}
	add(basisName, 0, 2*bins, 1, fftSize)
	basis := out[basisName].values
	for k := range bins {
		for n := range fftSize {
			sin, cos := math.Sincos(2 * math.Pi * float64(k*n) / fftSize)
			basis[k*fftSize+n] = float32(hann(n) * cos)
			basis[(bins+k)*fftSize+n] = float32(-hann(n) * sin)
		}
	}
	for i, d := range convDims {
		add(fmt.Sprintf("encoder.%d.reparam_conv.weight", i), 0.15, int64(d.outputs), int64(d.inputs), taps)
		add(fmt.Sprintf("encoder.%d.reparam_conv.bias", i), 0.2, int64(d.outputs))
	}
	add("decoder.rnn.weight_ih", 0.2, 4*cellSize, cellSize)
	add("decoder.rnn.weight_hh", 0.2, 4*cellSize, cellSize)
	add("decoder.rnn.bias_ih", 0.2, 4*cellSize)
	add("decoder.rnn.bias_hh", 0.2, 4*cellSize)
	add("decoder.decoder.2.weight", 0.5, 1, cellSize, 1)
	add("decoder.decoder.2.bias", 0.2, 1)
	return out
}

// file encodes the arrays like the known file, in one branch of an If.
func (a arrays) file() []byte {
	var then []byte
	for name, x := range a {
		then = append(then, constant("If_0__"+name, tensorMessage(name, x.values, x.dims...))...)
	}
	other := constant("If_1__"+basisName, tensorMessage(basisName, make([]float32, 130*128), 130, 1, 128))
	return model(branches(then, other))
}

// naive computes the network as defined, in double precision, with channels outermost,
// explicit zeros, and the Fourier transform as a matrix.
type naive struct {
	arrays
	context []float64
	h, c    [cellSize]float64
}

func (n *naive) window(chunk []int16) float64 {
	x := append([]float64{}, n.context...)
	for _, v := range chunk {
		x = append(x, float64(v)/32768)
	}
	n.context = append([]float64{}, x[len(x)-context:]...)
	for i := range padding {
		x = append(x, x[context+chunkSize-2-i])
	}
	basis := n.arrays[basisName].values
	signal := make([][]float64, bins)
	for k := range signal {
		for at := 0; at+fftSize <= len(x); at += hop {
			re, im := 0.0, 0.0
			for i := range fftSize {
				re += float64(basis[k*fftSize+i]) * x[at+i]
				im += float64(basis[(bins+k)*fftSize+i]) * x[at+i]
			}
			signal[k] = append(signal[k], math.Hypot(re, im))
		}
	}
	for i, stride := range []int{1, 2, 2, 1} {
		signal = n.conv(i, stride, signal)
	}
	return n.lstm(signal)
}

func (n *naive) conv(i, stride int, in [][]float64) [][]float64 {
	w := n.arrays[fmt.Sprintf("encoder.%d.reparam_conv.weight", i)].values
	b := n.arrays[fmt.Sprintf("encoder.%d.reparam_conv.bias", i)].values
	out := make([][]float64, len(b))
	for o := range out {
		for t := -1; t+taps <= len(in[0])+1; t += stride {
			sum := float64(b[o])
			for c := range in {
				for k := range taps {
					if at := t + k; at >= 0 && at < len(in[c]) {
						sum += float64(w[(o*len(in)+c)*taps+k]) * in[c][at]
					}
				}
			}
			out[o] = append(out[o], max(sum, 0))
		}
	}
	return out
}

func (n *naive) lstm(signal [][]float64) float64 {
	wi, wh := n.arrays["decoder.rnn.weight_ih"].values, n.arrays["decoder.rnn.weight_hh"].values
	bi, bh := n.arrays["decoder.rnn.bias_ih"].values, n.arrays["decoder.rnn.bias_hh"].values
	logistic := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	var sums [4 * cellSize]float64
	for i := range sums {
		sums[i] = float64(bi[i]) + float64(bh[i])
		for j := range cellSize {
			sums[i] += float64(wi[i*cellSize+j])*signal[j][0] + float64(wh[i*cellSize+j])*n.h[j]
		}
	}
	out := float64(n.arrays["decoder.decoder.2.bias"].values[0])
	for i := range cellSize {
		n.c[i] = logistic(sums[cellSize+i])*n.c[i] + logistic(sums[i])*math.Tanh(sums[2*cellSize+i])
		n.h[i] = logistic(sums[3*cellSize+i]) * math.Tanh(n.c[i])
		out += max(n.h[i], 0) * float64(n.arrays["decoder.decoder.2.weight"].values[i])
	}
	return logistic(out)
}

// TestNetworkMatchesDefinition compares the network with its definition, using random
// weights.
func TestNetworkMatchesDefinition(t *testing.T) {
	a := randomArrays()
	m, err := Read(bytes.NewReader(a.file()))
	if err != nil {
		t.Fatal(err)
	}
	if m.Pinned() {
		t.Error("made-up weights are taken for the known file")
	}
	s, n := &Stream{model: m}, &naive{arrays: a, context: make([]float64, context)}
	const tolerance = 1e-6
	low, high, worst := 1.0, 0.0, 0.0
	pcm := synthetic()[sampleRate/2:]
	for i := range 60 {
		chunk := pcm[i*chunkSize : (i+1)*chunkSize]
		got, want := s.Write(chunk), n.window(chunk)
		worst = max(worst, math.Abs(got-want))
		if worst > tolerance {
			t.Fatalf("window %d: probability %.7f, by the definition %.7f", i, got, want)
		}
		low, high = min(low, want), max(high, want)
	}
	if high-low < 0.05 {
		t.Errorf("probabilities lie between %.4f and %.4f: the comparison shows nothing", low, high)
	}
	t.Logf("probabilities from %.3f to %.3f, largest difference %.1e", low, high, worst)
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct {
		name, want string
		change     func(arrays)
	}{
		{"missing", `array "decoder.rnn.bias_hh" is missing`, func(a arrays) { delete(a, "decoder.rnn.bias_hh") }},
		{"no 16 kHz branch", "16 kHz branch", func(a arrays) { delete(a, basisName) }},
		{"shape", `array "encoder.1.reparam_conv.bias": shape is [32]: expected [64]`, func(a arrays) {
			x := a["encoder.1.reparam_conv.bias"]
			x.dims, x.values = []int64{32}, x.values[:32]
			a["encoder.1.reparam_conv.bias"] = x
		}},
		{"infinite", "number 3 is not finite", func(a arrays) {
			a["decoder.rnn.weight_ih"].values[3] = float32(math.Inf(1))
		}},
		{"another basis", "not a Fourier transform", func(a arrays) { a[basisName].values[1000] += 0.01 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := randomArrays()
			c.change(a)
			if _, err := Read(bytes.NewReader(a.file())); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, expected %q", err, c.want)
			}
		})
	}
	t.Run("empty", func(t *testing.T) {
		if _, err := Read(bytes.NewReader(nil)); err == nil {
			t.Error("an empty file was accepted")
		}
	})
	t.Run("endless", func(t *testing.T) {
		if _, err := Read(zeros{}); err == nil || !strings.Contains(err.Error(), "more than") {
			t.Errorf("error is %v, expected one about the size", err)
		}
	})
}

// zeros is an endless stream of zeros.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
