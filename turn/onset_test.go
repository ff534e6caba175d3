package turn

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func onset(t rapid.TB, o OnsetOptions) Onset {
	t.Helper()
	d, err := NewOnset(o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// line passes frames of 20 ms to an onset detector.
type line struct {
	t         rapid.TB
	d         Onset
	at        time.Duration
	echo      float64
	interrupt bool
	last      Acoustic
}

// feed passes that many frames and returns the edges with their times: "started@60ms
// stopped@300ms".
func (l *line) feed(n int, energy, vad float64) string {
	var edges []string
	for range n {
		l.at += 20 * ms
		var edge Edge
		l.last, edge = l.d.Update(Acoustic{At: l.at, Energy: energy, VAD: vad}, l.echo, l.interrupt)
		if edge != NoEdge {
			edges = append(edges, edge.String()+"@"+l.at.String())
		}
	}
	return strings.Join(edges, " ")
}

func (l *line) want(n int, energy, vad float64, want string, silence time.Duration) {
	l.t.Helper()
	if got := l.feed(n, energy, vad); got != want {
		l.t.Errorf("until %v: %q, want %q", l.at, got, want)
	}
	if l.last.Silence != silence {
		l.t.Errorf("at %v: silence is %v, want %v", l.at, l.last.Silence, silence)
	}
	if wantSpeaking := strings.HasSuffix(want, "started@"+l.at.String()); want != "" && strings.Count(want, "@") == 1 && strings.HasPrefix(want, "started") && wantSpeaking && !l.d.Speaking() {
		l.t.Errorf("at %v: not speaking", l.at)
	}
}

func TestOnsetSpeechAndSilence(t *testing.T) {
	l := line{t: t, d: onset(t, OnsetOptions{})}
	l.want(10, 0.001, 0.1, "", 200*ms)
	l.want(2, 0.1, 0.9, "", 240*ms) // not confirmed: the silence goes on
	l.want(1, 0.1, 0.9, "started@260ms", 0)
	if at := l.d.Began(); at != 200*ms { // the end of the last frame without speech
		t.Errorf("it began at %v, want 200ms", at)
	}
	l.want(20, 0.1, 0.9, "", 0)
	l.want(9, 0.001, 0.1, "", 180*ms)
	l.want(1, 0.001, 0.1, "stopped@860ms", 200*ms)
	l.want(50, 0.001, 0.1, "", 1200*ms)
}

func TestOnsetThresholds(t *testing.T) {
	nan := math.NaN()
	for _, tc := range []struct {
		energy, vad float64
		starts      bool
		silent      bool // what it does to speech that is going on
	}{
		{0.02, 0.7, false, false},
		{math.Nextafter(0.02, 1), 0, true, false},
		{0, math.Nextafter(0.7, 1), true, false},
		{0.019, 0.69, false, false},
		{0.005, 0.29, false, false}, // energy at its limit is not silence
		{0.0049, 0.3, false, false}, // nor is voice activity
		{0.0049, 0.29, false, true},
		{nan, 0.29, false, true},
		{0.0049, nan, false, true},
		{nan, nan, false, false}, // nothing is known: what was goes on
		{nan, 0.71, true, false},
		{0.021, nan, true, false},
	} {
		l := line{t: t, d: onset(t, OnsetOptions{})}
		l.feed(3, tc.energy, tc.vad)
		if l.d.Speaking() != tc.starts {
			t.Errorf("energy %v, vad %v: speaking %v, want %v", tc.energy, tc.vad, l.d.Speaking(), tc.starts)
		}
		l = line{t: t, d: onset(t, OnsetOptions{})}
		l.feed(5, 1, 1)
		l.feed(10, tc.energy, tc.vad)
		if l.d.Speaking() == tc.silent {
			t.Errorf("energy %v, vad %v: speaking %v after speech, want %v", tc.energy, tc.vad, l.d.Speaking(), !tc.silent)
		}
	}
}

func TestOnsetInterruptThresholds(t *testing.T) {
	for _, tc := range []struct {
		energy, vad float64
		want        string
	}{
		{0.015, 0.6, ""},
		{math.Nextafter(0.015, 1), 0, "started@20ms"},
		{0, math.Nextafter(0.6, 1), "started@20ms"},
	} {
		l := line{t: t, d: onset(t, OnsetOptions{}), interrupt: true}
		l.want(1, tc.energy, tc.vad, tc.want, map[bool]time.Duration{true: 20 * ms}[tc.want == ""])
	}
	// Without it the same frames start nothing.
	l := line{t: t, d: onset(t, OnsetOptions{})}
	l.want(10, 0.0151, 0.61, "", 200*ms)
}

func TestOnsetClicksStartNothing(t *testing.T) {
	l := line{t: t, d: onset(t, OnsetOptions{})}
	for range 20 {
		if got := l.feed(2, 0.5, 0.9); got != "" {
			t.Fatalf("a click of 40 ms: %s", got)
		}
		l.feed(3, 0.001, 0.1)
	}
	if l.last.Silence != l.at {
		t.Errorf("clicks set the silence back to %v at %v", l.last.Silence, l.at)
	}
	// Nor does a click on a line that hisses start speech.
	l = line{t: t, d: onset(t, OnsetOptions{})}
	l.feed(1, 0.5, 0.9)
	l.want(200, 0.01, 0.2, "", 201*20*ms)
}

func TestOnsetShortPauseIsOneSpeech(t *testing.T) {
	l := line{t: t, d: onset(t, OnsetOptions{})}
	l.want(5, 0.1, 0.9, "started@60ms", 0)
	for range 10 {
		l.want(9, 0.001, 0.1, "", 180*ms) // below 200 ms
		l.want(1, 0.1, 0.9, "", 0)
	}
	l.want(10, 0.001, 0.1, "stopped@2.3s", 200*ms)
}

func TestOnsetBetweenTheThresholdsIsBounded(t *testing.T) {
	l := line{t: t, d: onset(t, OnsetOptions{})}
	l.want(5, 0.1, 0.9, "started@60ms", 0)
	l.want(50, 0.01, 0.2, "", 0)                   // a second of hiss prolongs the speech
	l.want(1, 0.01, 0.2, "stopped@1.12s", 1020*ms) // no longer
	l.want(50, 0.01, 0.2, "", 2020*ms)             // and it starts nothing
	l.want(4, 0.1, 0.9, "started@2.18s", 0)
}

func TestOnsetWithVoiceActivityAlone(t *testing.T) {
	l := line{t: t, d: onset(t, OnsetOptions{Thresholds: Thresholds{EnergyHigh: Off, EnergyLow: Off, InterruptEnergy: Off}})}
	l.want(100, 0.05, 0.1, "", 2*time.Second) // a car
	l.want(5, 0.1, 0.9, "started@2.06s", 0)
	l.want(10, 0.05, 0.1, "stopped@2.3s", 200*ms)
}

// TestOnsetEchoGate checks that the agent does not interrupt itself if nothing cancels the
// echo, and that a user who is louder than the echo is heard (pains row 17).
func TestOnsetEchoGate(t *testing.T) {
	const sent, coupling = 0.2, 0.25
	l := line{t: t, d: onset(t, OnsetOptions{}), echo: sent * coupling}
	l.feed(100, 0.045, 0.95) // the echo: clearly speech to any detector
	if l.d.Speaking() {
		t.Error("the agent's echo started speech")
	}
	if l.last.Energy != 0 || l.last.VAD != 0 {
		t.Errorf("the endpointer sees %+v of the echo", l.last)
	}
	l.want(3, 0.08, 0.95, "started@2.06s", 0) // the user on top
	l.feed(10, 0.045, 0.95)
	if l.d.Speaking() {
		t.Error("the echo keeps the user's speech alive")
	}
	// The threshold is raised by the echo: at it, and above.
	l = line{t: t, d: onset(t, OnsetOptions{}), echo: 0.05}
	if got := l.feed(10, math.Hypot(0.05, 0.02)-1e-9, 0); got != "" {
		t.Errorf("below the raised threshold: %s", got)
	}
	if got := l.feed(3, math.Hypot(0.05, 0.02)+1e-9, 0); got == "" {
		t.Error("nothing above the raised threshold")
	}
	// It applies to interruptions too.
	l = line{t: t, d: onset(t, OnsetOptions{}), echo: 0.05, interrupt: true}
	if got := l.feed(10, math.Hypot(0.05, 0.004), 0.95); got != "" {
		t.Errorf("the echo interrupts: %s", got)
	}
	l.want(1, math.Hypot(0.05, 0.016), 0, "started@220ms", 0)
	// Energy switched off: the gate still knows what is audible.
	l = line{t: t, d: onset(t, OnsetOptions{Thresholds: Thresholds{EnergyHigh: Off, EnergyLow: Off}}), echo: 0.05}
	if got := l.feed(10, 0.05, 0.95); got != "" {
		t.Errorf("the echo by voice activity alone: %s", got)
	}
	if got := l.feed(3, 0.1, 0.95); got == "" {
		t.Error("the user by voice activity alone is not heard")
	}
}

func TestOnsetLostFrames(t *testing.T) {
	l := line{t: t, d: onset(t, OnsetOptions{})}
	l.feed(10, 0.001, 0.1)
	l.at += time.Second // lost
	l.want(1, 0.1, 0.9, "started@1.22s", 0)
	l = line{t: t, d: onset(t, OnsetOptions{MinSpeech: 100 * ms})}
	l.feed(10, 0.001, 0.1)
	l.at += time.Second // a single frame does not stand for the second that is missing
	if got := l.feed(1, 0.1, 0.9); got != "" {
		t.Errorf("one frame after a gap: %s", got)
	}
}

func TestOnsetReset(t *testing.T) {
	l := line{t: t, d: onset(t, OnsetOptions{})}
	fresh := l.d
	l.feed(10, 0.1, 0.9)
	copied := l.d
	l.d.Reset()
	if l.d != fresh {
		t.Error("reset leaves something behind")
	}
	if !copied.Speaking() {
		t.Error("a copy shares state with the original")
	}
}

func TestOnsetOff(t *testing.T) {
	l := line{t: t, d: onset(t, OnsetOptions{MinSpeech: Off, MinSilence: Off})}
	l.want(1, 0.1, 0.9, "started@20ms", 0)
	l.want(1, 0.001, 0.1, "stopped@40ms", 20*ms)
}

func TestOnsetOptionsValidate(t *testing.T) {
	for want, o := range map[string]OnsetOptions{
		"MinSpeech is -2":        {MinSpeech: -2},
		"MinSilence is -2":       {MinSilence: -2},
		"MaxBetween is -1":       {MaxBetween: -1},
		"VADSpeaking is 2":       {Thresholds: Thresholds{VADSpeaking: 2}},
		"InterruptEnergy is NaN": {Thresholds: Thresholds{InterruptEnergy: math.NaN()}},
	} {
		if _, err := NewOnset(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: error %v, want %q in it", o, err, want)
		}
	}
}

// TestOnsetProperties checks that edges alternate, that speech and silence have lasted long
// enough, and that the silence is 0 or grows with time.
func TestOnsetProperties(t *testing.T) {
	edges := 0
	rapid.Check(t, func(t *rapid.T) {
		l := line{t: t, d: onset(t, OnsetOptions{})}
		speaking := false
		var silence, startedAt time.Duration
		for range rapid.IntRange(1, 40).Draw(t, "stretches") {
			energy := rapid.SampledFrom([]float64{0, 0.004, 0.01, 0.019, 0.03, 0.2, math.NaN()}).Draw(t, "energy")
			vad := rapid.SampledFrom([]float64{0, 0.29, 0.5, 0.71, 1, math.NaN()}).Draw(t, "vad")
			l.echo = rapid.SampledFrom([]float64{0, 0, 0.01, 0.1}).Draw(t, "echo")
			for range rapid.IntRange(1, 25).Draw(t, "frames") {
				found := l.feed(1, energy, vad)
				switch {
				case strings.HasPrefix(found, "started"):
					edges++
					if speaking || l.last.Silence != 0 {
						t.Fatalf("started while speaking or with a silence of %v", l.last.Silence)
					}
					speaking, startedAt = true, l.at
				case strings.HasPrefix(found, "stopped"):
					edges++
					if !speaking || l.last.Silence < 200*ms || l.at-startedAt < 200*ms {
						t.Fatalf("stopped after a silence of %v", l.last.Silence)
					}
					speaking = false
				}
				if speaking != l.d.Speaking() {
					t.Fatal("the edges do not tell the state")
				}
				if !speaking && found == "" && l.last.Silence != silence+20*ms {
					t.Fatalf("the silence goes from %v to %v", silence, l.last.Silence)
				}
				if l.last.Silence < 0 || l.last.Silence > l.at {
					t.Fatalf("a silence of %v at %v", l.last.Silence, l.at)
				}
				silence = l.last.Silence
			}
		}
	})
	if edges < 10 {
		t.Errorf("%d edges: the courses are too weak", edges)
	}
}

func TestOnsetAllocatesNothing(t *testing.T) {
	d := onset(t, OnsetOptions{})
	at := time.Duration(0)
	edges := 0
	if n := testing.AllocsPerRun(1000, func() {
		at += 20 * ms
		a := Acoustic{At: at, Energy: 0.001, VAD: 0.1}
		if at/(500*ms)%2 == 1 {
			a.Energy, a.VAD = 0.1, 0.9
		}
		if _, e := d.Update(a, 0.01, false); e != NoEdge {
			edges++
		}
	}); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
	if edges == 0 {
		t.Error("nothing was found")
	}
}

// Goal: below 100 ns a frame, 0 allocations.
func BenchmarkOnset(b *testing.B) {
	d := onset(b, OnsetOptions{})
	b.ReportAllocs()
	for i := range b.N {
		at := time.Duration(i) * 20 * ms
		d.Update(Acoustic{At: at, Energy: float64(i/50%2) * 0.1, VAD: float64(i / 50 % 2)}, 0.01, false)
	}
}
