package porttest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

// DetectorCapabilities describes a detector under test.
type DetectorCapabilities struct {
	// Speech is sound at the detector's rate that the detector must recognize as
	// speech. If it is nil, this rule is skipped.
	Speech []int16
}

// TestDetector is the conformance suite of port.Detector. open must return a fresh
// detector for each rule.
func TestDetector(t *testing.T, open func(*testing.T) port.Detector, c DetectorCapabilities) {
	for _, rule := range []struct {
		name string
		test func(*testing.T, port.Detector, DetectorCapabilities)
	}{
		{"it has a name and a rate", named},
		{"whatever comes, it gives a probability", probabilities},
		{"the cut of the sound does not matter", anyCut},
		{"reset forgets", resetForgets},
		{"streams do not know each other", detectorStreams},
		{"samples are lent and left alone", lentSamples},
		{"silence is not speech", silenceIsNot},
		{"speech is", speechIs},
		{"a frame allocates nothing", detectorAllocates},
	} {
		t.Run(rule.name, func(t *testing.T) { rule.test(t, open(t), c) })
	}
}

func stream(t *testing.T, d port.Detector) port.DetectorStream {
	t.Helper()
	s, err := d.Open()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// noises returns sounds that a detector must process without failing.
func noises(rate int) map[string][]int16 {
	n := rate // one second
	random := rand.New(rand.NewPCG(1, 2))
	sounds := map[string][]int16{
		"silence": make([]int16, n), "tone": Tone(rate, time.Second), "noise": make([]int16, n),
		"square": make([]int16, n), "clicks": make([]int16, n), "constant": make([]int16, n),
	}
	for i := range n {
		sounds["noise"][i] = int16(random.IntN(1<<16) - 1<<15)
		sounds["square"][i] = math.MaxInt16
		if i/40%2 == 1 {
			sounds["square"][i] = math.MinInt16
		}
		if i%1000 == 0 {
			sounds["clicks"][i] = math.MinInt16
		}
		sounds["constant"][i] = math.MinInt16
	}
	return sounds
}

// run writes a sound in pieces of 20 ms and returns the probability for each.
func run(s port.DetectorStream, rate int, pcm []int16) []float64 {
	var p []float64
	for piece := range slices.Chunk(pcm, audio.FrameSamples(rate)) {
		p = append(p, s.Write(piece))
	}
	return p
}

func named(t *testing.T, d port.Detector, _ DetectorCapabilities) {
	if d.Name() == "" || d.Rate() < audio.MinRate || d.Rate() > audio.MaxRate {
		t.Errorf("name %q, rate %d", d.Name(), d.Rate())
	}
}

func probabilities(t *testing.T, d port.Detector, _ DetectorCapabilities) {
	for name, pcm := range noises(d.Rate()) {
		for i, p := range run(stream(t, d), d.Rate(), pcm) {
			if !(p >= 0 && p <= 1) {
				t.Fatalf("%s, frame %d: %v", name, i, p)
			}
		}
	}
	s := stream(t, d)
	if p := s.Write(nil); !(p >= 0 && p <= 1) {
		t.Errorf("probability before the first sample is %v", p)
	}
}

func anyCut(t *testing.T, d port.Detector, c DetectorCapabilities) {
	pcm := slices.Concat(noises(d.Rate())["noise"], c.Speech)
	random := rand.New(rand.NewPCG(3, 4))
	even, uneven := stream(t, d), stream(t, d)
	for piece := range slices.Chunk(pcm, audio.FrameSamples(d.Rate())) {
		want := even.Write(piece)
		var got float64
		for rest := piece; len(rest) > 0; {
			n := 1 + random.IntN(len(rest))
			got = uneven.Write(rest[:n])
			rest = rest[n:]
		}
		if got != want {
			t.Fatalf("%v in pieces, %v at once", got, want)
		}
		if again := uneven.Write(nil); again != want {
			t.Fatalf("the probability changed from %v to %v before the next window was complete", want, again)
		}
	}
}

func resetForgets(t *testing.T, d port.Detector, _ DetectorCapabilities) {
	pcm := noises(d.Rate())["noise"]
	s := stream(t, d)
	first := run(s, d.Rate(), pcm)
	s.Write(pcm[:77])
	s.Reset()
	if second := run(s, d.Rate(), pcm); !slices.Equal(first, second) {
		t.Error("the same sound has other probabilities after Reset")
	}
}

func detectorStreams(t *testing.T, d port.Detector, _ DetectorCapabilities) {
	sounds := noises(d.Rate())
	alone := run(stream(t, d), d.Rate(), sounds["tone"])
	a, b := stream(t, d), stream(t, d)
	frame := audio.FrameSamples(d.Rate())
	for i := range alone {
		b.Write(sounds["noise"][i*frame : (i+1)*frame])
		if p := a.Write(sounds["tone"][i*frame : (i+1)*frame]); p != alone[i] {
			t.Fatalf("frame %d: %v beside another stream, %v alone", i, p, alone[i])
		}
	}
}

func lentSamples(t *testing.T, d port.Detector, _ DetectorCapabilities) {
	pcm := noises(d.Rate())["noise"]
	want := run(stream(t, d), d.Rate(), pcm)
	s := stream(t, d)
	piece := make([]int16, audio.FrameSamples(d.Rate()))
	for i := range want {
		n := copy(piece, pcm[i*len(piece):])
		if p := s.Write(piece[:n]); p != want[i] {
			t.Fatalf("frame %d: %v, want %v: the stream reads samples after Write has returned", i, p, want[i])
		}
		if !slices.Equal(piece, pcm[i*len(piece):(i+1)*len(piece)]) {
			t.Fatal("Write modifies the samples")
		}
		for k := range piece {
			piece[k] = -piece[k] / 2
		}
	}
}

func silenceIsNot(t *testing.T, d port.Detector, _ DetectorCapabilities) {
	for i, p := range run(stream(t, d), d.Rate(), make([]int16, 2*d.Rate())) {
		if p >= 0.5 {
			t.Fatalf("frame %d of digital silence: %v", i, p)
		}
	}
}

func speechIs(t *testing.T, d port.Detector, c DetectorCapabilities) {
	if c.Speech == nil {
		t.Skip("the test provides no speech")
	}
	if p := slices.Max(run(stream(t, d), d.Rate(), c.Speech)); p <= 0.5 {
		t.Errorf("the highest probability of speech is %v", p)
	}
}

func detectorAllocates(t *testing.T, d port.Detector, _ DetectorCapabilities) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	pcm := noises(d.Rate())["noise"]
	s := stream(t, d)
	at, frame := 0, audio.FrameSamples(d.Rate())
	if n := testing.AllocsPerRun(200, func() {
		s.Write(pcm[at : at+frame])
		at = (at + frame) % (len(pcm) - frame)
	}); n != 0 {
		t.Errorf("%v allocations per frame, want none", n)
	}
}
