package audio

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// constant makes n samples of one value.
func constant(value int16, n int) []int16 {
	return slices.Repeat([]int16{value}, n)
}

func TestMixSaturates(t *testing.T) {
	dst := []int16{30000, -30000, 100, math.MaxInt16, math.MinInt16, 5}
	src := []int16{10000, -10000, -300, math.MaxInt16, math.MinInt16}
	if n := Mix(dst, src); n != len(src) {
		t.Errorf("mixed %d samples, want %d", n, len(src))
	}
	want := []int16{math.MaxInt16, math.MinInt16, -200, math.MaxInt16, math.MinInt16, 5}
	if !slices.Equal(dst, want) {
		t.Errorf("mixed to %v, want %v", dst, want)
	}
	if n := Mix(dst[:1], src); n != 1 {
		t.Errorf("mixed %d samples into one", n)
	}
}

func TestRampIsAStraightLine(t *testing.T) {
	pcm := constant(10000, 320)
	Ramp(pcm, 0, 1)
	for i, s := range pcm {
		if want := int16(math.RoundToEven(10000 * float64(i+1) / 320)); s != want {
			t.Fatalf("sample %d is %d, want %d", i, s, want)
		}
	}
	pcm = constant(10000, 320)
	Ramp(pcm, 1, 0)
	if pcm[0] != 9969 || pcm[319] != 0 {
		t.Errorf("a fade out runs from %d to %d, want 9969 to 0", pcm[0], pcm[319])
	}
}

func TestRampBounds(t *testing.T) {
	for _, c := range []struct {
		name     string
		from, to float64
		in, want int16
	}{
		{"unity changes nothing", 1, 1, -12345, -12345},
		{"a mute is exact", 0, 0, -12345, 0},
		{"too loud saturates", 4, 4, 12345, math.MaxInt16},
		{"too loud saturates below", 4, 4, -12345, math.MinInt16},
		{"NaN mutes", math.NaN(), math.NaN(), 1, 0},
		{"negative mutes", -3, -1, 1, 0},
		{"infinite saturates", math.Inf(1), math.Inf(1), 1, math.MaxInt16},
		{"rounding is to even", 0.5, 0.5, 3, 2},
	} {
		pcm := constant(c.in, 4)
		Ramp(pcm, c.from, c.to)
		if !slices.Equal(pcm, constant(c.want, 4)) {
			t.Errorf("%s: %v, want %d", c.name, pcm, c.want)
		}
	}
	Ramp(nil, 0, 1) // Empty slices.
}

// However the sound is divided into calls, a fade is one straight line, and
// neighboring samples differ by no more than its slope and a rounding error.
func TestFaderIsTheSameHoweverCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		over := rapid.IntRange(1, 500).Draw(t, "over")
		from := rapid.Float64Range(0, 1).Draw(t, "from")
		to := rapid.Float64Range(0, 1).Draw(t, "to")
		var whole, cut Fader
		whole.Set(from)
		whole.FadeTo(to, Pos(over))
		cut = whole

		want := constant(20000, 1000)
		whole.Apply(want)
		got := constant(20000, 1000)
		for rest := got; len(rest) > 0; {
			n := rapid.IntRange(0, len(rest)).Draw(t, "cut")
			if n == 0 {
				n = min(160, len(rest))
			}
			cut.Apply(rest[:n])
			rest = rest[n:]
		}
		if !slices.Equal(got, want) {
			t.Fatal("the result depends on the cuts")
		}
		slope := 20000*math.Abs(to-from)/float64(over) + 1
		last := 20000 * from
		for i, s := range got {
			if math.Abs(float64(s)-last) > slope {
				t.Fatalf("a click at sample %d: from %v to %d", i, last, s)
			}
			last = float64(s)
		}
		if !cut.Settled() || cut.Gain() != to || got[999] != scaled(20000, to) {
			t.Fatalf("ended at gain %v (settled: %v) and sample %d, want %v", cut.Gain(), cut.Settled(), got[999], to)
		}
	})
}

func TestFader(t *testing.T) {
	var f Fader
	pcm := constant(1000, 10)
	f.Apply(pcm)
	if !slices.Equal(pcm, constant(1000, 10)) || f.Gain() != 1 || !f.Settled() {
		t.Fatalf("the zero value has gain %v and makes 1000 to %v", f.Gain(), pcm)
	}

	// A new target during a ramp continues from the current gain.
	f.FadeTo(0, 10)
	f.Apply(pcm[:5])
	if f.Gain() != 0.5 || f.Settled() {
		t.Fatalf("half way down the gain is %v, want 0.5", f.Gain())
	}
	f.FadeTo(1, 5)
	f.Apply(pcm[5:])
	want := []int16{900, 800, 700, 600, 500, 600, 700, 800, 900, 1000}
	if !slices.Equal(pcm, want) {
		t.Errorf("down and up again: %v, want %v", pcm, want)
	}

	f.FadeTo(0.25, 0)
	if f.Gain() != 0.25 || !f.Settled() {
		t.Errorf("a fade over nothing has gain %v, want 0.25 at once", f.Gain())
	}
	f.Set(math.NaN())
	if f.Gain() != 0 {
		t.Errorf("NaN became gain %v, want 0", f.Gain())
	}
}
