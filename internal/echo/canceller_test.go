package echo

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hocketvoice/hocket/audio"
)

// babble returns sound with the spectrum and the rhythm of a voice, roughly.
func babble(seed uint64, frames int, level float64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 2))
	pcm := make([]float64, frames*block)
	low, syllable := 0.0, 0.0
	for i := range pcm {
		if i%2400 == 0 { // a syllable of 150 ms, or a pause
			syllable = max(0, rng.Float64()*1.5-0.4)
		}
		low = 0.9*low + rng.NormFloat64()
		pcm[i] = low * syllable
	}
	sum := 0.0
	for _, v := range pcm {
		sum += v * v
	}
	for i := range pcm {
		pcm[i] *= level / math.Sqrt(sum/float64(len(pcm)))
	}
	return pcm
}

func toPCM(v []float64) []int16 {
	pcm := make([]int16, len(v))
	for i, x := range v {
		pcm[i] = int16(min(max(math.Round(x*32768), math.MinInt16), math.MaxInt16))
	}
	return pcm
}

func powerOf(v []float64) (sum float64) {
	for _, x := range v {
		sum += x * x
	}
	return sum
}

// cancelled passes a voice over the echo of what was sent through a canceller. It returns what
// remains beside the voice, and fails if a frame becomes louder.
func cancelled(t *testing.T, c *Canceller, sent, echo, voice []float64) []float64 {
	t.Helper()
	mic := make([]float64, len(sent))
	for i := range mic {
		mic[i] = echo[i] + voice[i]
	}
	far, near := toPCM(sent), toPCM(mic)
	rest := make([]float64, len(sent))
	for i := 0; i < len(sent); i += block {
		frame := near[i : i+block]
		before := audio.RMS(frame)
		c.Cancel(far[i:i+block], frame)
		if after := audio.RMS(frame); after > before+1e-4 {
			t.Fatalf("frame %d becomes louder: %v, then %v", i/block, before, after)
		}
		for k, s := range frame {
			rest[i+k] = float64(s)/32768 - voice[i+k]
		}
	}
	return rest
}

// delayed returns an echo: what was sent, later, softer and, with a room, over several ways.
func delayed(sent []float64, samples int, gain float64, room bool) []float64 {
	echo := make([]float64, len(sent))
	for way, more := range []int{0, 37, 210, 555} {
		if way > 0 && !room {
			break
		}
		for i := samples + more; i < len(sent); i++ {
			echo[i] += gain / float64(1+way) * sent[i-samples-more]
		}
	}
	return echo
}

func decibels(ratio float64) float64 { return 10 * math.Log10(ratio) }

// TestCancel checks that an echo becomes at least 10 dB softer within four seconds, that a voice
// over it stays, and that the canceller follows when the way of the echo changes.
func TestCancel(t *testing.T) {
	const second = 50 * block
	for _, tc := range []struct {
		delay int // samples
		level float64
		room  bool
	}{{800, -10, false}, {3200, -12, true}, {6000, -20, true}, {1600, -30, false}} {
		sent := babble(1, 800, 0.15)
		echo := delayed(sent, tc.delay, audio.FromDBFS(tc.level), tc.room)
		moved := delayed(sent, tc.delay+480, audio.FromDBFS(tc.level), tc.room)
		voice := babble(2, 800, 0.1)
		for i := range voice {
			if i < 5*second || i >= 8*second { // it speaks over the echo for three seconds
				voice[i] = 0
			}
			if i >= 10*second {
				echo[i] = moved[i]
			}
		}
		c := New()
		rest := cancelled(t, c, sent, echo, voice)
		for _, part := range []struct {
			what     string
			from, to int
			of       []float64
			want     float64
		}{
			{"the echo alone", 4 * second, 5 * second, echo, 10},
			{"an echo after a voice", 9 * second, 10 * second, echo, 10},
			{"an echo by another way", 14 * second, 16 * second, echo, 10},
			{"a voice over the echo", 5*second + second/2, 8 * second, voice, 8},
		} {
			if got := decibels(powerOf(part.of[part.from:part.to]) / powerOf(rest[part.from:part.to])); got < part.want {
				t.Errorf("%+v: %s: what remains is %.1f dB softer, want %.0f", tc, part.what, got, part.want)
			}
		}
	}
}

// TestMicrophoneOff checks that a microphone that is off for two seconds while the agent speaks
// does not make the canceller unlearn the echo.
func TestMicrophoneOff(t *testing.T) {
	const second = 50 * block
	sent := babble(5, 500, 0.15)
	echo, voice := delayed(sent, 1600, audio.FromDBFS(-12), true), make([]float64, len(sent))
	clear(echo[5*second : 7*second])
	rest := cancelled(t, New(), sent, echo, voice)
	back := func(v []float64) float64 { return powerOf(v[7*second : 8*second]) }
	if got := decibels(back(echo) / back(rest)); got < 10 {
		t.Errorf("when the microphone is on again, what remains is %.1f dB softer, want 10", got)
	}
}

// TestNoEchoToCancel checks that sound without an echo passes as it is, whatever is sent.
func TestNoEchoToCancel(t *testing.T) {
	sent, voice := babble(3, 1000, 0.2), babble(4, 1000, 0.1)
	none := make([]float64, len(sent))
	if got := powerOf(cancelled(t, New(), sent, none, voice)); got > powerOf(voice)*1e-6 {
		t.Errorf("a voice without an echo is changed by %.1f dB of it", decibels(got/powerOf(voice)))
	}
	c := New()
	cancelled(t, c, none, none, voice)
	if c.Models() {
		t.Error("an echo of silence is found")
	}
	wrong := []int16{1, 2, 3}
	c.Cancel(wrong, wrong)
	c.Cancel(nil, nil)
	if !slices.Equal(wrong, []int16{1, 2, 3}) {
		t.Error("a frame of another length is changed")
	}
}

func TestCancelAllocates(t *testing.T) {
	c := New()
	sent := toPCM(babble(5, 60, 0.2))
	i := 0
	if n := testing.AllocsPerRun(50, func() {
		frame := sent[i*block : (i+1)*block]
		c.Cancel(frame, frame)
		i++
	}); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

func BenchmarkCancel(b *testing.B) {
	c := New()
	sent := toPCM(babble(6, 100, 0.2))
	echo := toPCM(delayed(babble(6, 100, 0.2), 1600, 0.2, true))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		at := i % 100 * block
		c.Cancel(sent[at:at+block], echo[at:at+block])
	}
}
