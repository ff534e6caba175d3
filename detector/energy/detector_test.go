package energy

import (
	"math"
	"strings"
	"testing"
)

func newStream(t testing.TB, o Options) *Stream {
	t.Helper()
	d, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := d.Open()
	if err != nil {
		t.Fatal(err)
	}
	return s.(*Stream)
}

// sound is a test signal, with values from -1 to 1 as a function of the time in
// seconds.
type sound func(seconds float64) float64

// voice is a pulse train of 120 Hz through a formant at 700 Hz, in syllables of a
// quarter of a second.
func voice(seconds float64) float64 {
	phase := math.Mod(seconds, 1.0/120)
	syllable := math.Sin(math.Pi * math.Mod(seconds, 0.25) / 0.25)
	return syllable * math.Exp(-phase*300) * math.Sin(2*math.Pi*700*phase)
}

func tone(hertz float64) sound {
	return func(seconds float64) float64 { return math.Sin(2 * math.Pi * hertz * seconds) }
}

// noise returns white noise, the same in every run.
func noise() sound {
	seed := uint32(1)
	return func(float64) float64 {
		seed = seed*1664525 + 1013904223
		return float64(seed)/(1<<31) - 1
	}
}

// render returns samples of a sound with an overall level in dBFS.
func render(rate int, seconds, dbfs float64, s sound) []int16 {
	values := make([]float64, int(seconds*float64(rate)))
	sum := 0.0
	for i := range values {
		values[i] = s(float64(i) / float64(rate))
		sum += values[i] * values[i]
	}
	gain := 32768 * math.Pow(10, dbfs/20) / math.Sqrt(sum/float64(len(values))+1e-12)
	pcm := make([]int16, len(values))
	for i, v := range values {
		pcm[i] = int16(max(-32768, min(32767, math.Round(v*gain))))
	}
	return pcm
}

// feed writes the samples in frames of 20 ms and returns the probability after
// each.
func feed(s *Stream, rate int, pcm []int16) []float64 {
	var out []float64
	for n := rate / 50; len(pcm) >= n; pcm = pcm[n:] {
		out = append(out, s.Write(pcm[:n]))
	}
	return out
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{}, ""},
		{Options{Rate: 8000, Margin: 12}, ""},
		{Options{Rate: 48000}, ""},
		{Options{Rate: 44100}, "rate is 44100"},
		{Options{Rate: 4000}, "rate is 4000"},
		{Options{Rate: -8000}, "rate is -8000"},
		{Options{Rate: 96000}, "rate is 96000"},
		{Options{Margin: -1}, "margin is -1"},
		{Options{Margin: math.NaN()}, "margin is NaN"},
	} {
		_, err := New(c.o)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: error is %v, expected %q", c.o, err, c.want)
		}
	}
	d, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d.Name() != "energy" || d.Rate() != 16000 {
		t.Errorf("detector is %q at %d Hz, expected energy at 16000", d.Name(), d.Rate())
	}
}

// TestVoiceAtAnyLevel checks that the same voice is detected from -40 to -6 dBFS,
// soon after it starts and until it ends, at every rate.
func TestVoiceAtAnyLevel(t *testing.T) {
	for _, rate := range []int{8000, 16000, 24000, 48000} {
		for _, level := range []float64{-40, -26, -12, -6} {
			s := newStream(t, Options{Rate: rate})
			before := feed(s, rate, render(rate, 1, -70, noise()))
			during := feed(s, rate, render(rate, 2, level, voice))
			after := feed(s, rate, render(rate, 1, -70, noise()))
			for i, p := range before {
				if p >= 0.3 {
					t.Fatalf("%d Hz, %g dBFS: %.2f at %d ms of hiss, expected below 0.3", rate, level, p, 20*i)
				}
			}
			speech, first := 0, -1
			for i, p := range during {
				if p > 0.7 {
					speech++
					if first < 0 {
						first = i
					}
				}
			}
			if first < 0 || first > 5 || speech < 75 {
				t.Errorf("%d Hz, %g dBFS: %d of %d frames are speech from frame %d, expected 75 or more from frame 5 or before", rate, level, speech, len(during), first)
			}
			for i, p := range after[10:] {
				if p >= 0.3 {
					t.Fatalf("%d Hz, %g dBFS: %.2f at %d ms after the voice, expected below 0.3", rate, level, p, 200+20*i)
				}
			}
		}
	}
}

// TestNoiseIsNotSpeech checks that noise is not detected as speech, however loud.
func TestNoiseIsNotSpeech(t *testing.T) {
	for _, level := range []float64{-60, -40, -20, -8} {
		s := newStream(t, Options{})
		for i, p := range feed(s, 16000, render(16000, 5, level, noise())) {
			if p >= 0.3 {
				t.Fatalf("%g dBFS: %.2f at %d ms, expected below 0.3", level, p, 20*i)
			}
		}
	}
}

// TestSteadyToneBecomesBackground checks that a tone in the range of a voice counts
// as speech only for as long as speech can last without a gap.
func TestSteadyToneBecomesBackground(t *testing.T) {
	s := newStream(t, Options{})
	feed(s, 16000, render(16000, 1, -70, noise()))
	got := feed(s, 16000, render(16000, 5, -20, tone(200)))
	if got[25] < 0.7 {
		t.Errorf("%.2f after half a second of a tone of 200 Hz: the comment of this test is out of date", got[25])
	}
	for i, p := range got[150:] {
		if p >= 0.3 {
			t.Fatalf("%.2f at %d ms of a steady tone, expected below 0.3", p, 3000+20*i)
		}
	}
	// A voice above the tone is still detected.
	high := 0.0
	both := render(16000, 1, -20, tone(200))
	for i, v := range render(16000, 1, -8, voice) {
		both[i] = int16(max(-32768, min(32767, int(both[i])+int(v))))
	}
	for _, p := range feed(s, 16000, both) {
		high = max(high, p)
	}
	if high <= 0.7 {
		t.Errorf("a voice above a steady tone reaches %.2f, expected above 0.7", high)
	}
}

func TestExtremeSamples(t *testing.T) {
	s := newStream(t, Options{})
	square := func(seconds float64) float64 { return math.Copysign(1, math.Sin(2*math.Pi*3000*seconds)) }
	for _, pcm := range [][]int16{
		make([]int16, 16000), render(16000, 1, 20, square), render(16000, 1, 20, noise()),
		render(16000, 1, 0, func(float64) float64 { return -1 }), make([]int16, 48000),
	} {
		for i, p := range feed(s, 16000, pcm) {
			if !(p >= 0 && p <= 1) {
				t.Fatalf("frame %d: probability %v, expected 0 to 1", i, p)
			}
		}
	}
	if p := s.Write(make([]int16, 320)); p >= 0.3 {
		t.Errorf("%.2f after three seconds of nothing, expected below 0.3", p)
	}
}

func TestWriteInPieces(t *testing.T) {
	pcm := render(16000, 1, -20, voice)
	want := append([]float64{0}, feed(newStream(t, Options{}), 16000, pcm)...)
	for _, size := range []int{1, 7, 160, 319, 320, 321, 1600, len(pcm)} {
		s := newStream(t, Options{})
		for at := 0; at < len(pcm); at += size {
			end := min(at+size, len(pcm))
			if got := s.Write(pcm[at:end]); got != want[end/320] {
				t.Fatalf("pieces of %d: after %d samples %v, expected %v", size, end, got, want[end/320])
			}
		}
	}
}

func TestReset(t *testing.T) {
	pcm := render(16000, 3, -20, voice)
	s := newStream(t, Options{})
	first := feed(s, 16000, pcm)
	s.Write(pcm[:77])
	s.Reset()
	for i, p := range feed(s, 16000, pcm) {
		if p != first[i] {
			t.Fatalf("frame %d after Reset: %v, at the start %v", i, p, first[i])
		}
	}
}

func TestNoiseFloor(t *testing.T) {
	var n noiseFloor
	n.reset()
	at := func(level float64, frames int) (floor float64) {
		for range frames {
			floor = n.next(level)
		}
		return floor
	}
	if got := at(-80, 1); got != lowestFloor {
		t.Errorf("floor of silence is %.1f, expected %.1f", got, lowestFloor)
	}
	if got := at(-20, 90); got > assumedAtStart {
		t.Errorf("floor is %.1f after 1.8 s of -20 dBFS, expected the quiet before it", got)
	}
	if got := at(-20, 30); math.Abs(got-(-20+floorBias)) > 0.1 {
		t.Errorf("floor is %.1f after 2.4 s of -20 dBFS, expected %.1f", got, -20+floorBias)
	}
	if got := at(-50, 8); math.Abs(got-(-50+floorBias)) > 0.5 {
		t.Errorf("floor is %.1f soon after the level fell to -50 dBFS, expected %.1f", got, -50+floorBias)
	}
}

func TestPeriodicity(t *testing.T) {
	measure := func(s sound) float64 {
		var h pitchHistory
		for i := range h {
			h[i] = float32(s(float64(i) / pitchRate))
		}
		return h.periodicity()
	}
	for _, hertz := range []float64{62, 100, 163, 250, 390} {
		if p := measure(tone(hertz)); p < 0.95 || p > 1 {
			t.Errorf("periodicity of %g Hz is %.2f, expected 0.95 to 1", hertz, p)
		}
	}
	n, sum := noise(), 0.0
	for range 50 {
		sum += measure(n)
	}
	if mean := sum / 50; mean > 0.4 {
		t.Errorf("periodicity of noise is %.2f, expected below 0.4", mean)
	}
	if p := measure(func(float64) float64 { return 0 }); p != 0 {
		t.Errorf("periodicity of nothing is %v, expected 0", p)
	}
}

func TestFilters(t *testing.T) {
	gain := func(f biquad, hertz float64) float64 {
		in, out := 0.0, 0.0
		for i := range 32000 {
			x := math.Sin(2 * math.Pi * hertz * float64(i) / 16000)
			y := f.next(x)
			if i >= 16000 {
				in, out = in+x*x, out+y*y
			}
		}
		return 10 * math.Log10(out/in)
	}
	high, low := butterworth(16000, 150, true), butterworth(16000, 1400, false)
	for _, c := range []struct {
		name        string
		f           biquad
		hertz, want float64
	}{
		{"high-pass", high, 50, -19.1},
		{"high-pass", high, 150, -3},
		{"high-pass", high, 1000, 0},
		{"low-pass", low, 200, 0},
		{"low-pass", low, 1400, -3},
		{"low-pass", low, 4000, -21.9},
	} {
		if got := gain(c.f, c.hertz); math.Abs(got-c.want) > 0.3 {
			t.Errorf("%s at %g Hz: %.1f dB, expected %.1f", c.name, c.hertz, got, c.want)
		}
	}
}

func TestWriteAllocatesNothing(t *testing.T) {
	s := newStream(t, Options{})
	pcm := render(16000, 0.02, -20, voice)
	// No warm-up is needed: a stream allocates all its memory in Open.
	if n := testing.AllocsPerRun(100, func() { s.Write(pcm) }); n != 0 {
		t.Errorf("%v allocations a frame, expected none", n)
	}
}

// BenchmarkEnergy measures one frame of 20 ms. Goal: less than 10 us; it takes 3.1
// us during speech, and 1.8 us in silence, which needs no pitch detection.
func BenchmarkEnergy(b *testing.B) {
	for _, c := range []struct {
		name string
		pcm  []int16
	}{{"voice", render(16000, 4, -20, voice)}, {"silence", make([]int16, 16000)}} {
		b.Run(c.name, func(b *testing.B) {
			s := newStream(b, Options{})
			b.ReportAllocs()
			at := 0
			for b.Loop() {
				s.Write(c.pcm[at : at+320])
				if at += 320; at == len(c.pcm) {
					at = 0
				}
			}
		})
	}
}
