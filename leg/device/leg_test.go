package device

import (
	"errors"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/porttest"
)

func TestMain(m *testing.M) {
	// What Close leaves of a device that is gone.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/gen2brain/malgo.(*Device).Uninit"))
}

// fake is a device whose clock is the leg: it exchanges a frame when the leg has read
// nearly all samples.
type fake struct {
	rate     int
	channels int
	exchange func(played, heard []int16)
	stopped  func()

	mu    sync.Mutex // guards the fields below
	say   []int16
	heard []int16

	stop, done chan struct{}
}

// open is the opener of the fake, which has no clock if there is only a speaker.
func (d *fake) open(rate, heard, played int, exchange func(played, heard []int16), stopped func()) (stream, error) {
	d.rate, d.channels, d.exchange, d.stopped = rate, played, exchange, stopped
	d.stop, d.done = make(chan struct{}), make(chan struct{})
	if heard == 0 {
		close(d.done)
	}
	return d, nil
}

// run is the device's thread.
func (d *fake) run(l *Leg) {
	defer close(d.done)
	for {
		select {
		case <-d.stop:
			return
		default:
		}
		l.mu.Lock()
		full := l.in.ring.Len() >= 2*len(l.pcm)
		l.mu.Unlock()
		if full {
			runtime.Gosched()
			continue
		}
		d.frame()
	}
}

// frame exchanges 20 ms.
func (d *fake) frame() {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := audio.FrameSamples(d.rate)
	in, out := make([]int16, n), make([]int16, n*d.channels)
	d.say = d.say[copy(in, d.say):]
	d.exchange(out, in)
	d.heard = append(d.heard, out...)
}

func (d *fake) Close() error {
	close(d.stop)
	<-d.done
	return nil
}

// line returns a leg with a fake device.
func line(t *testing.T, rate int) (porttest.Line, *Leg, *fake) {
	t.Helper()
	d := &fake{}
	l, err := open(Options{Rate: rate}, d.open)
	if err != nil {
		t.Fatal(err)
	}
	go d.run(l)
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return porttest.Line{
		Leg: l, HangUp: l.HangUp,
		Say: func(pcm []int16) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.say = append(d.say, pcm...)
		},
		Heard: func() []int16 {
			for range audio.PosOf(longest, rate) / audio.Pos(audio.FrameSamples(rate)) {
				d.frame()
			}
			d.mu.Lock()
			defer d.mu.Unlock()
			heard := slices.Clone(d.heard)
			for len(heard) > 0 && heard[0] == 0 {
				heard = heard[1:]
			}
			for len(heard) > 0 && heard[len(heard)-1] == 0 {
				heard = heard[:len(heard)-1]
			}
			return heard
		},
	}, l, d
}

func TestLeg(t *testing.T) {
	porttest.TestLeg(t, func(t *testing.T) porttest.Line {
		l, _, _ := line(t, 48000)
		return l
	})
}

func TestOptions(t *testing.T) {
	for _, rate := range []int{-1, 1, 11025, 96001} {
		if _, err := open(Options{Rate: rate}, (&fake{}).open); err == nil {
			t.Errorf("rate %d: no error", rate)
		}
	}
	missing := func(int, int, int, func(_, _ []int16), func()) (stream, error) { return nil, ErrNoSound }
	if _, err := open(Options{}, missing); !errors.Is(err, ErrNoSound) {
		t.Errorf("without a device: %v", err)
	}
	if _, err := openSpeaker(Options{}, missing); !errors.Is(err, ErrNoSound) {
		t.Errorf("without a speaker: %v", err)
	}
}

// If a device plays more slowly than the agent speaks, the delay is limited. Dropped
// samples count as played, so that positions do not fall behind.
func TestDrift(t *testing.T) {
	q := newQueue(1000, reserve)
	frame, played := make([]int16, 20), make([]int16, 19)
	for i := range 2000 {
		for k := range frame {
			frame[k] = int16(20*i + k)
		}
		q.put(frame)
		q.take(played)
		if q.ring.Len() > 500 {
			t.Fatalf("frame %d: %d ms wait", i, q.ring.Len())
		}
	}
	if q.taken()+audio.Pos(q.ring.Len()) != 40000 {
		t.Errorf("%d were taken and %d wait of 40000", q.taken(), q.ring.Len())
	}
}

// Samples leave the queue in order, whatever the sizes are.
func TestQueueKeepsTheOrder(t *testing.T) {
	q := newQueue(1000, 0)
	var next, expected int16
	for i := range 500 {
		in := make([]int16, i%37)
		for k := range in {
			in[k] = next
			next++
		}
		q.put(in)
		out := make([]int16, (i*7)%41)
		for _, v := range out[:q.take(out)] {
			if v != expected {
				t.Fatalf("step %d: %d, expected %d", i, v, expected)
			}
			expected++
		}
	}
	if expected == 0 {
		t.Error("nothing came out")
	}
}

// If more samples are added than there is room for, the newest ones are kept.
func TestQueueTakesTooMuch(t *testing.T) {
	q := newQueue(1000, 0)
	in := make([]int16, 1300)
	for i := range in {
		in[i] = int16(i)
	}
	q.put(in[:10])
	q.put(in)
	out := make([]int16, 1300)
	n := q.take(out)
	if n != 500 || out[0] != 800 || out[n-1] != 1299 || q.taken() != 1310 {
		t.Errorf("%d samples from %d to %d, %d taken", n, out[0], out[n-1], q.taken())
	}
}

// The speaker plays the caller on the left and the agent on the right. A silent side is
// zero.
func TestSpeaker(t *testing.T) {
	d := &fake{}
	s, err := openSpeaker(Options{Rate: 8000}, d.open)
	if err != nil {
		t.Fatal(err)
	}
	s.Play(Caller, slices.Repeat([]int16{1}, 480))
	for range 3 {
		d.frame()
	}
	s.Play(Agent, slices.Repeat([]int16{2}, 480))
	s.Play(Caller, slices.Repeat([]int16{3}, 480))
	for range 3 {
		d.frame()
	}
	want := slices.Concat(slices.Repeat([]int16{1, 0}, 480), slices.Repeat([]int16{3, 2}, 480))
	if !slices.Equal(d.heard, want) {
		t.Errorf("%d samples were played, expected %d", len(d.heard), len(want))
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestExchangeAllocatesNothing(t *testing.T) {
	d := &fake{}
	l, err := open(Options{}, d.open)
	if err != nil {
		t.Fatal(err)
	}
	in, out := make([]int16, 960), make([]int16, 960)
	if n := testing.AllocsPerRun(100, func() { l.exchange(out, in) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestDeviceIsUnplugged: a call ends with an error when its device stops, whether the device
// says so or only exchanges nothing any more. What it has said before is heard.
func TestDeviceIsUnplugged(t *testing.T) {
	for name, unplug := range map[string]func(*fake){
		"it has stopped":             func(d *fake) { d.stopped() },
		"it has not answered for 5s": func(*fake) {},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &fake{}
				l, err := open(Options{}, d.open)
				if err != nil {
					t.Fatal(err)
				}
				close(d.done)
				for range 3 {
					time.Sleep(silence - time.Millisecond)
					d.frame()
					if _, err := l.Read(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				unplug(d)
				if _, err := l.Read(t.Context()); !errors.Is(err, ErrGone) || !strings.HasSuffix(err.Error(), name) {
					t.Errorf("%v", err)
				}
				if err := l.Close(); err != nil {
					t.Error(err)
				}
				if _, err := l.Read(t.Context()); !errors.Is(err, io.EOF) {
					t.Errorf("after Close: %v", err)
				}
			})
		})
	}
}
