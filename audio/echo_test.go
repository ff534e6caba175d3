package audio

import (
	"math"
	"testing"
	"time"
)

// echoLine is a call of which only the levels matter. The agent's level changes all the time, with
// pauses, as that of speech does.
type echoLine struct {
	e        EchoTracker
	coupling float64
	lag      int // frames
	noise    float64
	sent     []float64
}

func newEchoLine(t testing.TB, o EchoOptions, coupling float64, lag int) *echoLine {
	t.Helper()
	e, err := NewEchoTracker(o)
	if err != nil {
		t.Fatal(err)
	}
	return &echoLine{e: e, coupling: coupling, lag: lag, noise: 0.0005}
}

// frame passes 20 ms in which the user has the level voice. It returns the level that the echo
// has and the level that is expected of it.
func (l *echoLine) frame(speaks bool, voice float64) (echo, expected float64) {
	n := len(l.sent)
	level := 0.0
	if phase := n % 23; speaks && phase < 17 {
		level = 0.2 * (1.1 + math.Sin(float64(n)*0.9)) * (1 - float64(phase)/20)
	}
	l.sent = append(l.sent, level)
	if at := n - l.lag; at >= 0 {
		echo = l.coupling * l.sent[at]
	}
	return echo, l.e.Update(level, math.Sqrt(echo*echo+voice*voice+l.noise*l.noise))
}

// TestEchoTracker checks that the expected level covers the echo in each frame from the first
// on, and that the delay and the level are found.
func TestEchoTracker(t *testing.T) {
	for _, coupling := range []float64{0.01, 0.03, 0.1, 0.3} {
		for _, lag := range []int{0, 3, 10, 20, 25} {
			l := newEchoLine(t, EchoOptions{}, coupling, lag)
			for i := range 500 {
				if echo, expected := l.frame(i < 400, 0); echo > expected && echo > 0.003 {
					t.Fatalf("coupling %v, lag %d: frame %d has an echo of %v, expected %v", coupling, lag, i, echo, expected)
				}
			}
			c, d := l.e.Echo()
			if off := d - time.Duration(lag)*FrameDuration; off.Abs() > FrameDuration || c < coupling/2 || c > coupling*2 {
				t.Errorf("coupling %v, lag %d: found %v at %v", coupling, lag, c, d)
			}
			if _, expected := l.frame(false, 0); expected != 0 {
				t.Errorf("coupling %v, lag %d: %v is expected of an agent that is silent", coupling, lag, expected)
			}
		}
	}
}

// TestEchoTrackerWithoutEcho checks that on a line without an echo almost nothing is expected
// soon, also if the user speaks over the agent from the beginning.
func TestEchoTrackerWithoutEcho(t *testing.T) {
	for _, speaks := range []bool{false, true} {
		l := newEchoLine(t, EchoOptions{}, 0, 0)
		var expected float64
		for i := range 100 {
			voice := 0.0
			if speaks && i%25 < 15 { // words, and pauses between them
				voice = 0.1
			}
			_, expected = l.frame(true, voice)
		}
		if expected > 0.02 {
			t.Errorf("the user speaks: %v: an echo of %v is expected where there is none", speaks, expected)
		}
	}
}

// TestEchoTrackerFirstWord checks that a voice as loud as the agent's is louder than what is
// expected within 200 ms, also at the beginning of a greeting.
func TestEchoTrackerFirstWord(t *testing.T) {
	for _, from := range []int{2, 5, 10, 20, 30} {
		l := newEchoLine(t, EchoOptions{}, 0, 0)
		passed := 0
		for i := range from + 10 {
			voice := 0.0
			if i >= from {
				voice = 0.2 // the agent's mean level
			}
			if _, expected := l.frame(true, voice); i >= from && voice > 1.1*expected {
				passed++
			}
		}
		if passed < 3 {
			t.Errorf("of a voice %d frames after the beginning %d frames pass: expected 3 of 10", from, passed)
		}
	}
}

// TestEchoTrackerDoubleTalk checks that a user who speaks over the agent moves neither the level
// nor the delay by much.
func TestEchoTrackerDoubleTalk(t *testing.T) {
	l := newEchoLine(t, EchoOptions{}, 0.1, 10)
	for range 200 {
		l.frame(true, 0)
	}
	before, at := l.e.Echo()
	for i := range 150 { // 3 s
		voice := 0.0
		if i%25 < 19 {
			voice = 0.15
		}
		l.frame(true, voice)
	}
	after, then := l.e.Echo()
	if after > before*1.5 || after < before/1.5 || at != then {
		t.Errorf("%v at %v became %v at %v", before, at, after, then)
	}
}

// TestEchoTrackerFollows checks an echo that becomes louder, and one that comes back when the
// microphone is switched on again.
func TestEchoTrackerFollows(t *testing.T) {
	l := newEchoLine(t, EchoOptions{}, 0.03, 10)
	for range 300 {
		l.frame(true, 0)
	}
	l.coupling = 0.1
	for range 300 { // 10 dB at 3 dB a second of speech
		l.frame(true, 0)
	}
	if c, _ := l.e.Echo(); c < 0.05 || c > 0.2 {
		t.Errorf("the echo became 0.1, found %v", c)
	}
	l.coupling, l.noise = 0, 0
	for range 300 {
		l.frame(true, 0)
	}
	l.coupling, l.noise = 0.1, 0.0005
	for i := range 100 {
		if echo, expected := l.frame(true, 0); echo > expected && echo > 0.003 {
			t.Fatalf("frame %d after the microphone was off: an echo of %v, expected %v", i, echo, expected)
		}
	}
}

// TestEchoTrackerSilentFirst checks that a microphone that has sent zeros since the call began,
// as a file does, is believed: a voice over the agent is not taken for an echo.
func TestEchoTrackerSilentFirst(t *testing.T) {
	l := newEchoLine(t, EchoOptions{}, 0, 10)
	l.noise = 0
	for range 300 {
		l.frame(true, 0)
	}
	for i := range 50 {
		if _, expected := l.frame(true, 0.02); expected >= 0.02 {
			t.Fatalf("frame %d of the voice: an echo of %v is expected, the voice has 0.02", i, expected)
		}
	}
}

func TestEchoTrackerKnown(t *testing.T) {
	l := newEchoLine(t, EchoOptions{Coupling: 0.1, Delay: 200 * time.Millisecond}, 0.1, 10)
	for i := range 300 {
		if echo, expected := l.frame(i < 250, 0); echo > expected && echo > 0.001 {
			t.Fatalf("frame %d has an echo of %v, expected %v", i, echo, expected)
		}
	}
	l = newEchoLine(t, EchoOptions{Off: true}, 0.1, 10)
	for range 100 {
		if _, expected := l.frame(true, 0); expected != 0 {
			t.Fatalf("an echo of %v is expected, which is off", expected)
		}
	}
	for _, o := range []EchoOptions{{Coupling: -1}, {Coupling: 1.1}, {Coupling: math.NaN()}, {Delay: -1}, {Delay: MaxEchoDelay + 1}} {
		if _, err := NewEchoTracker(o); err == nil {
			t.Errorf("%+v is valid", o)
		}
	}
}

func TestEchoTrackerAllocatesNothing(t *testing.T) {
	l := newEchoLine(t, EchoOptions{}, 0.1, 10)
	if n := testing.AllocsPerRun(100, func() { l.e.Update(0.1, 0.02) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkEchoTracker(b *testing.B) {
	l := newEchoLine(b, EchoOptions{}, 0.1, 10)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		l.e.Update(0.1*float64(i%7), 0.02*float64(i%5))
	}
}
