package dialing

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
)

// scene is what is heard behind an answer.
type scene struct {
	s     Screen
	at    int // samples
	rand  *rand.Rand
	times map[Verdict]time.Duration // of the first of each verdict
}

func newScene() *scene {
	return &scene{rand: rand.New(rand.NewPCG(1, 2)), times: make(map[Verdict]time.Duration)}
}

// play plays sound of a function of the time in seconds.
func (c *scene) play(d time.Duration, sound func(t float64) float64) *scene {
	for range d / audio.FrameDuration {
		f := audio.Frame{Rate: 8000, PCM: make([]int16, 160)}
		for i := range f.PCM {
			f.PCM[i] = int16(32767 * sound(float64(c.at)/8000))
			c.at++
		}
		v := c.s.Frame(f)
		if _, ok := c.times[v]; !ok {
			c.times[v] = audio.Pos(c.at).Duration(8000)
		}
	}
	return c
}

// talk plays something like a voice: harmonics of a pitch that moves.
func (c *scene) talk(d time.Duration) *scene {
	phase := 0.0
	return c.play(d, func(t float64) float64 {
		phase += 2 * math.Pi * (140 + 30*math.Sin(3*t)) / 8000
		v := 0.0
		for k := 1.0; k < 12; k++ {
			v += math.Sin(k*phase) / k
		}
		return 0.1*v + 0.01*(c.rand.Float64()-0.5)
	})
}

// hush plays the noise of a line.
func (c *scene) hush(d time.Duration) *scene {
	return c.play(d, func(float64) float64 { return 0.002 * (c.rand.Float64() - 0.5) })
}

func (c *scene) beep(d time.Duration, pitch float64) *scene {
	return c.play(d, func(t float64) float64 { return 0.2*math.Sin(2*math.Pi*pitch*t) + 0.01*(c.rand.Float64()-0.5) })
}

// want checks when a verdict was reached.
func (c *scene) want(t *testing.T, v Verdict, from, to time.Duration) {
	t.Helper()
	at, ok := c.times[v]
	if !ok || at < from || at > to {
		t.Errorf("%s after %v (%v), expected %v to %v; all: %v", v, at, ok, from, to, c.times)
	}
}

func (c *scene) never(t *testing.T, v Verdict) {
	t.Helper()
	if at, ok := c.times[v]; ok {
		t.Errorf("%s after %v", v, at)
	}
}

const (
	ms = time.Millisecond
	s  = time.Second
)

func TestPeople(t *testing.T) {
	for _, hello := range []time.Duration{300 * ms, 800 * ms, 2 * s} {
		c := newScene().hush(s).talk(hello).hush(2 * s)
		c.want(t, Human, s+hello+600*ms, s+hello+900*ms)
		c.never(t, Machine)
		c.never(t, Recording)
	}
	newScene().hush(7*s).want(t, Human, 5*s, 5*s+100*ms)
}

func TestMachines(t *testing.T) {
	c := newScene().hush(500*ms).talk(3*s).hush(400*ms).talk(4*s).hush(500*ms).beep(400*ms, 1000).hush(s)
	c.want(t, Machine, 4*s, 5500*ms)
	c.want(t, Recording, 8400*ms, 9*s)
	c.never(t, Human)
	// One that does not beep.
	c = newScene().talk(6 * s).hush(4 * s)
	c.want(t, Recording, 7900*ms, 8200*ms)
	c.never(t, Human)
	// One whose greeting is short, and beeps.
	c = newScene().talk(1500*ms).hush(400*ms).beep(300*ms, 440)
	c.want(t, Recording, 1900*ms, 2200*ms)
	c.never(t, Human)
	// One that talks for ever.
	newScene().talk(50*s).want(t, Recording, 40*s, 41*s)
}

// TestBeeps checks which tones are a beep.
func TestBeeps(t *testing.T) {
	for _, pitch := range []float64{400, 440, 850, 1000, 1400, 2000, 2400} {
		newScene().hush(200*ms).beep(300*ms, pitch).want(t, Recording, 350*ms, 500*ms)
	}
	newScene().hush(200*ms).beep(100*ms, 1000).hush(200*ms).never(t, Recording)
	newScene().talk(3*s).never(t, Recording)
	two := func(t float64) float64 { return 0.1*math.Sin(2*math.Pi*697*t) + 0.1*math.Sin(2*math.Pi*1209*t) } // a key
	newScene().play(300*ms, two).never(t, Recording)
	newScene().play(300*ms, func(t float64) float64 { return 0.2 * math.Sin(2*math.Pi*(500+2000*t)*t) }).never(t, Recording)
}

func TestCarrierDecides(t *testing.T) {
	var c Screen
	if v := c.Carrier("unsure"); v != Undecided {
		t.Errorf("unsure: %s", v)
	}
	if v := c.Carrier(ReportMachine); v != Machine {
		t.Errorf("machine: %s", v)
	}
	if v := c.Carrier(ReportHuman); v != Machine {
		t.Errorf("a second opinion: %s", v)
	}
	if v := c.Carrier(ReportBeep); v != Recording {
		t.Errorf("beep: %s", v)
	}
	c = Screen{}
	if v := c.Carrier(ReportHuman); v != Human {
		t.Errorf("human: %s", v)
	}
	if v := c.Carrier(ReportMachine); v != Human {
		t.Errorf("a machine behind a person: %s", v)
	}
}

func TestMeter(t *testing.T) {
	var m Meter
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	l := Limits{PerNumber: 2, PerDay: 3}
	for i, tc := range []struct {
		after time.Duration
		to    string
		want  error
	}{
		{0, "a", nil},
		{time.Hour, "a", nil},
		{time.Hour, "a", ErrNumberLimit},
		{0, "b", nil},
		{0, "c", ErrDayLimit},
		{22*time.Hour - time.Second, "c", ErrDayLimit},
		{time.Second, "c", nil}, // the first has left the day
		{0, "a", ErrDayLimit},
		{time.Hour, "a", nil},
	} {
		now = now.Add(tc.after)
		if err := m.Admit(now, tc.to, l); !errors.Is(err, tc.want) || (err == nil) != (tc.want == nil) {
			t.Errorf("call %d: %v, expected %v", i, err, tc.want)
		}
	}
	if err := m.Admit(now, "z", Limits{}); err != nil {
		t.Errorf("without limits: %v", err)
	}
}
