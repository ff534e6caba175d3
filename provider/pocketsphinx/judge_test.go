package pocketsphinx

import (
	"math"
	"strings"
	"testing"
)

func TestAccepts(t *testing.T) {
	strong := evidence{words: 1, frames: 50, margin: 50}
	lm := evidence{words: 1, frames: 50, margin: 50, posterior: 0.9, misfit: 25}
	for _, tc := range []struct {
		name     string
		g, lm    evidence
		versusLM int
		apart    float64
		want     bool
	}{
		{"the same words", strong, lm, 0, 0, true},
		{"a little worse than the model's words", strong, lm, -700, 0.8, true},
		{"far worse per frame", strong, lm, -1100, 0.8, false},
		{"far worse in total", evidence{frames: 400, margin: 50}, lm, -1500, 0.8, false},
		{"given up by the search", evidence{frames: 50, margin: -maxMargin}, lm, -hopeless, 0.8, false},
		{"no better than no words", evidence{frames: 50, margin: 5}, lm, 0, 0, false},
		{"weak, other words", evidence{frames: 50, margin: 15}, lm, -400, 0.8, false},
		{"weak, but the model heard nearly the same", evidence{frames: 50, margin: 15}, lm, -1200, 0.4, true},
		{"nothing heard by the model, strong", strong, evidence{}, hopeless, 1, true},
		{"nothing heard by the model, weak", evidence{frames: 50, margin: 15}, evidence{}, hopeless, 1, false},
		{"no words in the grammar's result", evidence{}, lm, 0, 1, false},
	} {
		if got := accepts(tc.g, tc.lm, tc.versusLM, tc.apart); got != tc.want {
			t.Errorf("%s: accepts = %v", tc.name, got)
		}
	}
}

func TestNoiseHasNoWords(t *testing.T) {
	for _, tc := range []struct {
		confidence     float64
		expected, want bool
	}{{0, false, true}, {0.025, false, true}, {0.1, false, false}, {0.005, true, true}, {0.025, true, false}} {
		if got := isNoise(tc.confidence, tc.expected); got != tc.want {
			t.Errorf("isNoise(%v, %v) = %v", tc.confidence, tc.expected, got)
		}
	}
}

func TestConfidenceFollowsTheEvidence(t *testing.T) {
	speech := evidence{words: 7, frames: 180, misfit: 23, posterior: 0.86, margin: maxMargin}
	noise := evidence{words: 2, frames: 90, misfit: 44, posterior: 0.3, margin: 5}
	if c := speech.confidence(); c < 0.8 {
		t.Errorf("clear speech has %.2f", c)
	}
	if c := noise.confidence(); c > 0.2 {
		t.Errorf("noise has %.2f", c)
	}
	if s, n := speech.partialConfidence(), noise.partialConfidence(); s < 0.6 || n > 0.4 {
		t.Errorf("partials: speech has %.2f, noise %.2f", s, n)
	}
	none := evidence{}
	if none.confidence() != 0 || none.partialConfidence() != 0 {
		t.Error("no words have a confidence")
	}
	better := speech
	better.posterior = 1
	if better.confidence() <= speech.confidence() {
		t.Error("a better posterior does not raise the confidence")
	}
	if a, b := acceptance(speech, speech, 0), acceptance(noise, speech, -900); a < 0.9 || b > 0.5 {
		t.Errorf("acceptance of the same words %.2f, of doubtful ones %.2f", a, b)
	}
}

func TestEvidenceOf(t *testing.T) {
	path := []segment{
		{word: "<s>", start: 0, end: 9, ascr: -5000},
		{word: "yes(2)", start: 10, end: 29, ascr: -400, post: 0.5},
		{word: "[NOISE]", start: 30, end: 39, ascr: -9000},
		{word: "sir", start: 40, end: 49, ascr: -500, post: 0.8},
		{word: "<sil>", start: 50, end: 80},
	}
	e := evidenceOf(path, false)
	if e.words != 2 || e.frames != 30 || e.misfit != 30 || math.Abs(e.posterior-0.6) > 1e-9 {
		t.Errorf("evidence %+v", e)
	}
	if l := evidenceOf(path, true); math.Abs(l.misfit-30.0/1024) > 1e-9 {
		t.Errorf("in lattice units %+v", l)
	}
	if b := path[1].base(); b != "yes" {
		t.Errorf("base of yes(2) is %q", b)
	}
}

func TestMargin(t *testing.T) {
	for _, tc := range []struct {
		score  int
		ok     bool
		none   int
		noneOK bool
		frames int
		want   float64
	}{
		{-1000, true, -2000, true, 50, 20},
		{-1000, true, -90000, true, 50, maxMargin},
		{-1000, true, 0, false, 50, maxMargin},
		{0, false, -2000, true, 50, -maxMargin},
		{0, false, 0, false, 0, 0},
	} {
		if got := margin(tc.score, tc.ok, tc.none, tc.noneOK, tc.frames); got != tc.want {
			t.Errorf("margin(%+v) = %g", tc, got)
		}
	}
}

func TestApart(t *testing.T) {
	f := strings.Fields
	for _, tc := range []struct {
		a, b string
		want float64
	}{
		{"N OW", "N AW", 0.5},
		{"N OW", "N OW", 0},
		{"", "", 0},
		{"Y EH S", "", 1},
		{"L AH N D AH N", "P EH R AH S", 5.0 / 6},
	} {
		if got := apart(f(tc.a), f(tc.b)); math.Abs(got-tc.want) > 1e-9 {
			t.Errorf("apart(%q, %q) = %.3f, want %.3f", tc.a, tc.b, got, tc.want)
		}
	}
}

func TestMeans(t *testing.T) {
	a := cepstralMean{n: 2, frames: 100}
	a.value[0], a.value[1] = 40, 0
	b := cepstralMean{n: 2, frames: 300}
	b.value[0], b.value[1] = 44, 3
	if d := a.distance(&b); d != 5 {
		t.Errorf("distance %g, want 5", d)
	}
	var m cepstralMean
	m.add(&cepstralMean{n: 2})
	if m.frames != 0 {
		t.Error("nothing heard counts")
	}
	m.add(&a)
	m.add(&b)
	if m.value[0] != 43 || m.frames != 400 {
		t.Errorf("mean %g of %g frames, want 43 of 400", m.value[0], m.frames)
	}
	for range 10 {
		m.add(&b)
	}
	if m.frames != memory || math.Abs(float64(m.value[0])-44) > 0.1 {
		t.Errorf("mean %g of %g frames: the past does not fade", m.value[0], m.frames)
	}
}

func TestDitherIsSmallAndTheSame(t *testing.T) {
	in := make([]int16, 1000)
	in[0], in[1] = 32767, -32768
	var a, b dither
	x := a.appendTo(nil, in)
	y := b.appendTo(b.appendTo(nil, in[:300]), in[300:])
	sum := 0
	for i := range x {
		if x[i] != y[i] {
			t.Fatalf("sample %d depends on how the sound is cut", i)
		}
		if d := int(x[i]) - int(in[i]); d > ditherAmplitude || d < -ditherAmplitude {
			t.Fatalf("noise of %d", d)
		}
		sum += int(x[i]) - int(in[i])
	}
	if sum > 1000 || sum < -2000 {
		t.Errorf("the noise has a mean of %d/1000", sum)
	}
}

func TestHush(t *testing.T) {
	frame := func(level int16) []int16 {
		out := make([]int16, 320)
		for i := range out {
			out[i] = level * int16(1-i%2*2)
		}
		return out
	}
	var h hush
	add := func(n int, level int16) {
		for range n {
			h.add(frame(level))
		}
	}
	add(20, 3000)
	if h.start(10) {
		t.Error("speech is taken for a pause")
	}
	add(12, 50)
	if !h.start(10) {
		t.Fatal("silence behind speech is not a pause")
	}
	add(20, 60)
	if h.broken() || h.doubtful() {
		t.Error("silence ends the pause")
	}
	add(4, 110)
	if h.broken() || !h.doubtful() {
		t.Errorf("a doubtful level: broken %v, doubtful %v", h.broken(), h.doubtful())
	}
	add(2, 2000)
	if !h.broken() {
		t.Error("speech does not end the pause")
	}
}
