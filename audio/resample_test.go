package audio

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

var commonRates = []int{8000, 11025, 16000, 22050, 24000, 32000, 44100, 48000}

// ratePairs calls test for every pair of different common rates.
func ratePairs(t *testing.T, test func(t *testing.T, from, to int)) {
	for _, from := range commonRates {
		for _, to := range commonRates {
			if from != to {
				t.Run(fmt.Sprintf("%d-%d", from, to), func(t *testing.T) { test(t, from, to) })
			}
		}
	}
}

func newResampler(t interface{ Fatal(...any) }, from, to int) *Resampler {
	r, err := NewResampler(ResamplerOptions{From: from, To: to})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// ceilDiv rounds n/d up.
func ceilDiv(n, d int) int { return (n + d - 1) / d }

// dB is the ratio of two levels in decibels, never below -200.
func dB(level, reference float64) float64 {
	return 20 * math.Log10(max(level/reference, 1e-10))
}

// tone measures how much of a frequency is in pcm, as an amplitude, and the
// RMS of all the rest, both relative to full scale.
func tone(pcm []int16, frequency float64, rate int) (amplitude, rest float64) {
	// Least squares fit of sine and cosine, so that any number of samples works.
	var ss, cc, sc, sx, cx float64
	for i, x := range pcm {
		s, c := math.Sincos(2 * math.Pi * frequency * float64(i) / float64(rate))
		v := float64(x) / fullScale
		ss, cc, sc, sx, cx = ss+s*s, cc+c*c, sc+s*c, sx+s*v, cx+c*v
	}
	det := ss*cc - sc*sc
	a, b := (sx*cc-cx*sc)/det, (cx*ss-sx*sc)/det
	var sum float64
	for i, x := range pcm {
		s, c := math.Sincos(2 * math.Pi * frequency * float64(i) / float64(rate))
		d := float64(x)/fullScale - a*s - b*c
		sum += d * d
	}
	return math.Hypot(a, b), math.Sqrt(sum / float64(len(pcm)))
}

// settled resamples a tone of a quarter of a second and removes both ends.
func settled(t *testing.T, from, to int, frequency, amplitude float64) []int16 {
	t.Helper()
	r := newResampler(t, from, to)
	out := r.Append(nil, sine(frequency, from, amplitude, from/4, 0))
	return out[2*r.Latency()+to/100:]
}

// The comments contain the measured values over all 56 pairs of rates; the
// assertions allow slightly more.
func TestResamplerPassband(t *testing.T) {
	var worstRipple, worstEdge, worstRest float64 = 0, 0, -200
	ratePairs(t, func(t *testing.T, from, to int) {
		low := float64(min(from, to))
		for _, share := range []float64{0.01, 0.05, 0.1, 0.2, 0.3, 0.35, 0.38, 0.4, 0.425} {
			out := settled(t, from, to, share*low, 0.5)
			amplitude, rest := tone(out, share*low, to)
			gain, noise := dB(amplitude, 0.5), dB(rest, amplitude/math.Sqrt2)
			limit := 0.1 // measured: 0.067 dB
			if share > 0.4 {
				limit = 0.8 // measured: 0.71 dB
				worstEdge = min(worstEdge, gain)
			} else {
				worstRipple = max(worstRipple, math.Abs(gain))
			}
			worstRest = max(worstRest, noise)
			if math.Abs(gain) > limit {
				t.Errorf("the gain at %.0f Hz is %.3f dB, want 0 within %.1f", share*low, gain, limit)
			}
			// Images of the tone, and the rounding to 16 bits.
			if noise > -60 { // measured: -62.5 dB
				t.Errorf("beside %.0f Hz there is %.1f dB of other sound, want less than -60", share*low, noise)
			}
		}
	})
	t.Logf("ripple up to 0.4 of the lower rate %.3f dB, gain at 0.425 %.2f dB, other sound %.1f dB", worstRipple, worstEdge, worstRest)
}

func TestResamplerStopband(t *testing.T) {
	worst := -200.0
	ratePairs(t, func(t *testing.T, from, to int) {
		if to > from {
			return // Nothing can alias; the passband's test counts the images.
		}
		for share := 0.55; share*float64(to) < 0.5*float64(from); share += 0.0371 {
			frequency := share * float64(to)
			level := dB(RMS(settled(t, from, to, frequency, 0.9)), 0.9/math.Sqrt2)
			worst = max(worst, level)
			if level > -60 { // measured: -62.8 dB
				t.Errorf("%.0f Hz comes through with %.1f dB, want less than -60", frequency, level)
			}
		}
	})
	t.Logf("the loudest alias of a tone beyond 0.55 of the new rate: %.1f dB", worst)
}

// speechLike is a sound with a spectrum that falls by 6 dB per octave from 500 Hz,
// syllables at 4 Hz, and nothing above a limit. It is a sum of tones, so its value
// is known at any rate and time.
type speechLike struct{ frequency, amplitude, phase []float64 }

func newSpeechLike(limit float64) *speechLike {
	s := &speechLike{}
	random := uint64(1)
	for f := 80.0; f < limit; f *= 1.1 {
		random = random*6364136223846793005 + 1442695040888963407
		s.frequency = append(s.frequency, f)
		s.amplitude = append(s.amplitude, 0.05/math.Sqrt(max(1, f/500)))
		s.phase = append(s.phase, float64(random>>11)/(1<<53)*2*math.Pi)
	}
	return s
}

// at returns n samples at the given rate; 1 is full scale.
func (s *speechLike) at(rate, n int) []float64 {
	out := make([]float64, n)
	for k, f := range s.frequency {
		for i := range out {
			out[i] += s.amplitude[k] * math.Sin(2*math.Pi*f*float64(i)/float64(rate)+s.phase[k])
		}
	}
	for i := range out {
		out[i] *= 0.6 + 0.4*math.Sin(2*math.Pi*4*float64(i)/float64(rate))
	}
	return out
}

func toPCM(sound []float64) []int16 {
	pcm := make([]int16, len(sound))
	for i, v := range sound {
		pcm[i] = fromFloat(v)
	}
	return pcm
}

// snr compares the middle of pcm with the expected sound.
func snr(pcm []int16, want []float64) float64 {
	var signal, noise float64
	for i := len(pcm) / 10; i < len(want)*9/10; i++ {
		d := float64(pcm[i])/fullScale - want[i]
		signal, noise = signal+want[i]*want[i], noise+d*d
	}
	return 10 * math.Log10(signal/noise)
}

// Sound in the passband must be the same as if it had been sampled at the new rate:
// exact in level, and in time to a fraction of a sample.
func TestResampleSpeechLike(t *testing.T) {
	worst, worstTrip := 200.0, 200.0
	ratePairs(t, func(t *testing.T, from, to int) {
		speech := newSpeechLike(0.38 * float64(min(from, to)))
		sound := speech.at(from, from/4)
		out, err := Resample(toPCM(sound), from, to)
		if err != nil {
			t.Fatal(err)
		}
		if want := ceilDiv(from/4*to, from); len(out) != want {
			t.Fatalf("a quarter of a second became %d samples, want %d", len(out), want)
		}
		got := snr(out, speech.at(to, len(out)))
		worst = min(worst, got)
		if got < 62 { // measured: 65.4 dB
			t.Errorf("%.1f dB of signal over noise, want 62", got)
		}

		back, err := Resample(out, to, from)
		if err != nil {
			t.Fatal(err)
		}
		got = snr(back, sound)
		worstTrip = min(worstTrip, got)
		if got < 58 { // measured: 59.9 dB
			t.Errorf("there and back %.1f dB of signal over noise, want 58", got)
		}
	})
	t.Logf("signal over noise: %.1f dB, there and back %.1f dB", worst, worstTrip)
}

func TestResamplerConstantAndFullScale(t *testing.T) {
	ratePairs(t, func(t *testing.T, from, to int) {
		for _, value := range []int16{math.MinInt16, -1, 0, 1, 777, math.MaxInt16} {
			r := newResampler(t, from, to)
			out := r.Append(nil, constant(value, from/10))
			for i, s := range out[2*r.Latency()+1:] {
				if s != value {
					t.Fatalf("a constant %d became %d at sample %d", value, s, i)
				}
			}
		}
		// A square wave at full scale overshoots; it must saturate, not wrap.
		in := make([]int16, from/10)
		for i := range in {
			in[i] = math.MaxInt16
			if i*200/from%2 == 1 {
				in[i] = math.MinInt16
			}
		}
		out, err := Resample(in, from, to)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range out {
			phase := math.Mod(float64(i)*200/float64(to), 2)
			if phase > 0.3 && phase < 0.7 && s < 28000 || phase > 1.3 && phase < 1.7 && s > -28000 {
				t.Fatalf("sample %d of a square wave is %d", i, s)
			}
		}
	})
}

// Silence, then one click: the response must be centered exactly Latency samples
// later.
func TestResamplerLatency(t *testing.T) {
	for _, c := range []struct{ from, to, latency int }{
		{16000, 16000, 0},
		// 12 periods of 8 kHz: 1.5 ms.
		{8000, 16000, 24},
		{8000, 24000, 36},
		{8000, 48000, 72},
		{16000, 8000, 12},
		{24000, 8000, 12},
		{48000, 8000, 12},
		{44100, 8000, 12},
		// Of 16 kHz: 0.75 ms.
		{16000, 24000, 18},
		{16000, 48000, 36},
		{48000, 16000, 12},
		{44100, 16000, 12},
		// Of 24 kHz: 0.5 ms.
		{24000, 48000, 24},
		{48000, 24000, 12},
		// Of 44.1 kHz: 0.27 ms, rounded up to a whole sample of the output.
		{44100, 48000, 14},
		{48000, 44100, 12},
	} {
		r := newResampler(t, c.from, c.to)
		if r.Latency() != c.latency {
			t.Errorf("%d to %d Hz: a latency of %d samples, want %d", c.from, c.to, r.Latency(), c.latency)
		}
		in := make([]int16, c.from/10)
		in[c.from/20] = 20000
		out := r.Append(nil, in)
		if peak := slices.Index(out, slices.Max(out)); peak != c.to/20+c.latency {
			t.Errorf("%d to %d Hz: a click at sample %d comes out at %d, want %d", c.from, c.to, c.from/20, peak, c.to/20+c.latency)
		}
	}
}

// However the stream is divided, the samples are the same, and the number of
// samples is exact after every piece.
func TestResamplerIsTheSameHoweverCut(t *testing.T) {
	in := toPCM(newSpeechLike(3000).at(8000, 8000))
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.SampledFrom(commonRates).Draw(t, "from")
		to := rapid.SampledFrom(commonRates).Draw(t, "to")
		n := rapid.IntRange(0, len(in)).Draw(t, "n")
		whole := newResampler(t, from, to)
		want := whole.Flush(whole.Append(nil, in[:n]))

		cut := newResampler(t, from, to)
		var got []int16
		for done := 0; done < n; {
			piece := min(n-done, rapid.IntRange(1, 2000).Draw(t, "piece"))
			before := len(got)
			got = cut.Append(got, in[done:done+piece])
			done += piece
			if len(got)-before > cut.MaxOutput(piece) {
				t.Fatalf("%d samples made %d, and MaxOutput says %d", piece, len(got)-before, cut.MaxOutput(piece))
			}
			if len(got) != ceilDiv(done*to, from) {
				t.Fatalf("%d samples became %d, want %d", done, len(got), ceilDiv(done*to, from))
			}
		}
		got = cut.Flush(got)
		if len(got) != ceilDiv(n*to, from)+cut.Latency() {
			t.Fatalf("with the flush %d samples, want %d and %d of latency", len(got), ceilDiv(n*to, from), cut.Latency())
		}
		if !slices.Equal(got, want) {
			t.Fatal("the samples depend on the cuts")
		}
		// Flush leaves no state.
		if again := cut.Flush(cut.Append(nil, in[:n])); !slices.Equal(again, want) {
			t.Fatal("the resampler does not start afresh after Flush")
		}
	})
}

// One hour of 20 ms frames: the number of samples is exact after every frame, and a
// frame yields exactly 20 ms if these are a whole number of samples. The frames at
// 11025 Hz have 220 and 221 samples in turn.
func TestResamplerHour(t *testing.T) {
	frames := 3600 * 50
	if testing.Short() || raceDetector {
		frames = 60 * 50 // The race detector makes this 25 times slower, and the test uses one goroutine.
	}
	for _, c := range []struct{ from, to int }{{44100, 16000}, {11025, 8000}} {
		r := newResampler(t, c.from, c.to)
		in := sine(440, c.from, 0.5, c.from/50+1, 0)
		out := make([]int16, 0, r.MaxOutput(len(in)))
		taken, made := 0, 0
		for i := range frames {
			n := (i+1)*c.from/50 - taken
			out = r.Append(out[:0], in[:n])
			taken, made = taken+n, made+len(out)
			if made != ceilDiv(taken*c.to, c.from) {
				t.Fatalf("%d to %d Hz: %d samples became %d after frame %d, want %d", c.from, c.to, taken, made, i, ceilDiv(taken*c.to, c.from))
			}
			if c.from%50 == 0 && len(out) != FrameSamples(c.to) {
				t.Fatalf("%d to %d Hz: frame %d became %d samples, want %d", c.from, c.to, i, len(out), FrameSamples(c.to))
			}
		}
		if want := frames / 50 * c.to; made != want {
			t.Errorf("%d to %d Hz: %d samples, want %d", c.from, c.to, made, want)
		}
	}
}

func TestResamplerOptions(t *testing.T) {
	for _, o := range []ResamplerOptions{
		{},
		{From: 8000},
		{From: 7999, To: 16000},
		{From: 16000, To: 96000},
		{From: -8000, To: 8000},
		{From: 47999, To: 48000}, // a filter of 48000 phases
	} {
		if _, err := NewResampler(o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
		if _, err := Resample(nil, o.From, o.To); err == nil {
			t.Errorf("Resample accepted %+v", o)
		}
	}
	if out, err := Resample(nil, 8000, 16000); err != nil || len(out) != 0 {
		t.Errorf("nothing became %v, %v", out, err)
	}
}
