package echo

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/dsp/fourier"

	"github.com/hocketvoice/hocket/audio"
)

const (
	rate  = 16000
	block = rate / 50 // samples of a frame
	bins  = block + 1
	// parts is the number of blocks of the filter: an echo of audio.MaxEchoDelay and a part of the
	// room behind it.
	parts = int(audio.MaxEchoDelay/audio.FrameDuration) + 1
	// largestStep is the largest step of the adaptation, relative to that which removes the whole
	// error at once.
	largestStep = 0.5
	// firstStep is the step until the filter is known to model an echo.
	firstStep = 0.35
	// proportion is the share of a step that goes to the blocks of the filter by their
	// weight: an echo is short against the filter.
	proportion = 0.8
	// floor is the power of a sample below which nothing is adapted: -66 dBFS.
	floor = 0.0005 * 0.0005
	// silence is the power of an echo that samples of 16 bits can hardly show.
	silence = 1.0 / 32768 / 32768
	// useful is the power of what remains relative to what was heard, averaged, from
	// which the filter counts as a model of the echo.
	useful = 0.5
)

// Canceller removes the agent's own voice from the sound of the microphone, as far as it comes
// back by a linear path within [audio.MaxEchoDelay]. It adapts a filter to the path from what was sent
// and what is heard, in the frequency domain (Soo and Pang, IEEE Transactions on Acoustics, Speech
// and Signal Processing, 1990), block by block in proportion to the filter's weight. The step
// follows from the share of the echo in what remains (Valin, IEEE Transactions on Audio, Speech
// and Language Processing, 2007), so that the user's voice over the echo does not lead it astray.
//
// Until the filter removes half of what is heard while the agent speaks, nothing is changed: where
// there is no echo, sound passes as it is.
//
// A Canceller works at 16 kHz. It allocates nothing after it was made, and is not safe for
// concurrent use.
type Canceller struct {
	fft     *fourier.FFT
	at      int // the block of the newest frame in sent
	sent    [parts][bins]complex64
	sums    [parts]float64 // the power of each block of sent
	weights [parts][bins]complex64
	share   [parts]float64 // of the step of each block; they sum up to 1
	turn    int            // the block whose filter is shortened next

	last   [block]float64 // the samples sent before
	time   [2 * block]float64
	freq   [bins]complex128
	echo   [block]float64
	rest   [block]float64
	powerY [bins]float64 // of the modelled echo, and of what remains
	powerE [bins]float64
	meanY  [bins]float64 // their averages
	meanE  [bins]float64
	power  [bins]float64 // of what was sent, weighted by share

	crossed, squared float64 // averaged products of the deviations of powerY with powerE, and with itself
	heard, remains   float64 // averaged powers while the agent speaks
	models           bool    // the filter is a model of an echo
}

// New returns a canceller that knows nothing of the echo.
func New() *Canceller {
	c := &Canceller{fft: fourier.NewFFT(2 * block)}
	c.reset()
	return c
}

func (c *Canceller) reset() {
	c.weights = [parts][bins]complex64{}
	for p := range c.share {
		c.share[p] = 1.0 / float64(parts)
	}
	c.crossed, c.squared, c.heard, c.remains, c.models = 0, 0, 0, 0, false
}

// Models reports whether an echo was found.
func (c *Canceller) Models() bool { return c.models }

// Cancel removes the echo from heard, the next 20 ms of the microphone at 16 kHz. sent is the last
// 20 ms that were sent. Other lengths are ignored.
func (c *Canceller) Cancel(sent, heard []int16) {
	if len(sent) != block || len(heard) != block || c.send(sent) < floor {
		return
	}
	d := c.model(heard)
	e := 0.0
	for _, v := range &c.rest {
		e += v * v / block
	}
	if d == 0 && e > silence { // a microphone that is off says nothing about the echo
		return
	}
	c.heard += 0.04 * (d - c.heard)
	c.remains += 0.04 * (e - c.remains)
	switch {
	case c.remains > 2*c.heard && c.heard > 0: // astray
		c.reset()
		return
	case c.remains < useful*c.heard:
		c.models = true
	}
	c.adapt()
	if c.models && e < d {
		c.replace(heard)
	}
}

// send takes a frame that was sent. It returns the power of the loudest frame that can come back.
func (c *Canceller) send(sent []int16) float64 {
	c.at = (c.at + 1) % parts
	copy(c.time[:block], c.last[:])
	for i, s := range sent {
		v := float64(s) / 32768
		c.time[block+i], c.last[i] = v, v
	}
	c.fft.Coefficients(c.freq[:], c.time[:])
	sum := 0.0
	for k, v := range &c.freq {
		c.sent[c.at][k] = complex64(v)
		sum += real(v)*real(v) + imag(v)*imag(v)
	}
	c.sums[c.at] = sum / (2 * block * block)
	return slices.Max(c.sums[:])
}

// before returns the spectrum of the frame that was sent p frames ago.
func (c *Canceller) before(p int) *[bins]complex64 {
	return &c.sent[(c.at-p+parts)%parts]
}

// model computes the echo and what remains of a frame without it. It returns the power of the frame.
func (c *Canceller) model(heard []int16) float64 {
	var sum [bins]complex64
	for p := range parts {
		x, w := c.before(p), &c.weights[p]
		for k := range sum {
			sum[k] += x[k] * w[k]
		}
	}
	for k, v := range &sum {
		c.freq[k] = complex128(v)
	}
	c.fft.Sequence(c.time[:], c.freq[:])
	power := 0.0
	for i, s := range heard {
		v := float64(s) / 32768
		c.echo[i] = c.time[block+i] / (2 * block)
		c.rest[i] = v - c.echo[i]
		power += v * v / block
	}
	return power
}

// replace writes what remains.
func (c *Canceller) replace(heard []int16) {
	for i, v := range &c.rest {
		heard[i] = int16(math.Round(min(max(v*32768, math.MinInt16), math.MaxInt16)))
	}
}

// adapt moves the filter towards the echo.
func (c *Canceller) adapt() {
	c.power = [bins]float64{}
	for p := range parts {
		share := c.share[p]
		for k, v := range c.before(p) {
			c.power[k] += share * float64(real(v)*real(v)+imag(v)*imag(v))
		}
	}
	c.spectrum(&c.echo, &c.powerY)
	c.spectrum(&c.rest, &c.powerE) // its spectrum stays in c.freq
	leak := c.leak()
	var step [bins]complex64
	for k, e := range &c.freq {
		mu := firstStep
		if c.models {
			mu = min(leak*c.powerY[k]/max(c.powerE[k], 1e-12), largestStep)
		}
		step[k] = complex64(e * complex(mu/(c.power[k]+1e-3), 0))
	}
	total := 0.0
	for p := range parts {
		x, w, share := c.before(p), &c.weights[p], float32(c.share[p])
		sum := float32(0)
		for k, s := range &step {
			v := x[k]
			w[k] += complex(share, 0) * complex(real(v), -imag(v)) * s
			sum += real(w[k])*real(w[k]) + imag(w[k])*imag(w[k])
		}
		c.share[p] = math.Sqrt(float64(sum))
		total += c.share[p]
	}
	for p := range c.share {
		even := 1.0 / float64(parts)
		if total > 0 {
			c.share[p] = (1-proportion)*even + proportion*c.share[p]/total
		} else {
			c.share[p] = even
		}
	}
	c.shorten(0)
	c.turn = c.turn%(parts-1) + 1
	c.shorten(c.turn)
}

// shorten removes what a block's filter has beyond its length.
func (c *Canceller) shorten(p int) {
	for k, v := range &c.weights[p] {
		c.freq[k] = complex128(v)
	}
	c.fft.Sequence(c.time[:], c.freq[:])
	for i := range block {
		c.time[i] /= 2 * block
		c.time[block+i] = 0
	}
	c.fft.Coefficients(c.freq[:], c.time[:])
	for k, v := range &c.freq {
		c.weights[p][k] = complex64(v)
	}
}

// spectrum computes the powers of a block that stands behind zeros. Its spectrum stays in c.freq.
func (c *Canceller) spectrum(sound *[block]float64, power *[bins]float64) {
	for i, v := range sound {
		c.time[i], c.time[block+i] = 0, v
	}
	c.fft.Coefficients(c.freq[:], c.time[:])
	for k, v := range &c.freq {
		power[k] = real(v)*real(v) + imag(v)*imag(v)
	}
}

// leak estimates how much of the modelled echo remains: where its power changes and that of what
// remains changes with it, the filter is wrong by that share. The user's voice changes by itself.
func (c *Canceller) leak() float64 {
	ey, yy := 0.0, 0.0
	for k := range bins {
		y, e := c.powerY[k]-c.meanY[k], c.powerE[k]-c.meanE[k]
		ey += y * e
		yy += y * y
		c.meanY[k] += 0.1 * y
		c.meanE[k] += 0.1 * e
	}
	c.crossed += 0.05 * (ey - c.crossed)
	c.squared += 0.05 * (yy - c.squared)
	if c.squared <= 0 {
		return 1
	}
	return min(max(c.crossed/c.squared, 0.005), 1)
}
