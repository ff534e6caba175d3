package session

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/turn"
)

// live carries a plan out with the goroutines of Run, on the clock of a bubble.
// The bubble's end fails if one of them is left.
func live(t *testing.T, p plan, check func(*call)) {
	t.Helper()
	liveFor(t, func(t *testing.T) context.Context { return t.Context() }, p, check)
}

func liveFor(t *testing.T, ctx func(*testing.T) context.Context, p plan, check func(*call)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p.leg.Live = true
		c := newCall(t, p)
		c.live = true
		c.err = c.s.Run(ctx(t))
		synctest.Wait()
		c.check()
		check(c)
	})
}

// Virtual and real time run the same steps: the same calls, with the same ends.
func TestLiveCalls(t *testing.T) {
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			live(t, sc.plan(), func(c *call) {
				c.ok()
				sc.want(c)
				if t.Failed() {
					t.Logf("phases:\n%s", strings.Join(c.log, "\n"))
					t.Logf("marks: %v", c.marks)
				}
			})
		})
	}
}

// beats are the times of the frames that were written, since the first.
type beats struct {
	mu sync.Mutex
	at []time.Time
}

func (b *beats) note() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at = append(b.at, time.Now())
}

// The n-th frame is written at n times 20 ms, however long a Write takes now and
// then: being late once does not make all others late.
func TestLivePacing(t *testing.T) {
	for _, c := range []struct {
		name string
		slow func(n int) time.Duration
		last time.Duration // how late frames may be at most
		drop int           // beats that are let go
	}{
		{"on time", func(int) time.Duration { return 0 }, 0, 0},
		{"a few milliseconds each", func(int) time.Duration { return 15 * ms }, 0, 0},
		{"one too long now and then", func(n int) time.Duration {
			if n%50 == 10 {
				return 70 * ms
			}
			return 0
		}, 60 * ms, 0},
		{"one by the bound", func(n int) time.Duration {
			if n == 100 {
				return 120 * ms
			}
			return 0
		}, 100 * ms, 0},
		{"a stall", func(n int) time.Duration {
			if n == 100 {
				return time.Second
			}
			return 0
		}, 0, 49},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b beats
			p := plan{stay: true}
			p.leg.OnWrite = func(_ context.Context, n int, _ audio.Frame) error {
				b.note()
				if d := c.slow(n); d > 0 {
					pass(d)
				}
				return nil
			}
			p.each = func(c *call, n int) {
				if n == 400 {
					c.leg.HangUp()
				}
			}
			live(t, p, func(call *call) {
				call.ok()
				dropped := 0
				for n, at := range b.at {
					late := at.Sub(b.at[0]) - time.Duration(n+dropped)*20*ms
					if n == 101 && c.drop > 0 {
						dropped = int(late / (20 * ms))
						late = 0
						if dropped != c.drop {
							t.Errorf("%d beats were let go, want %d", dropped, c.drop)
						}
					}
					if late < 0 || late > c.last {
						t.Fatalf("frame %d is written at %v: %v late", n, at.Sub(b.at[0]), late)
					}
				}
				if n := len(b.at); n < 400-c.drop-2 {
					t.Errorf("%d frames in 8 s", n)
				}
				// No burst: never more frames in a stretch than belong there, and those
				// that were late within the bound.
				for i := range b.at {
					for k := i + 1; k < len(b.at) && b.at[k].Sub(b.at[i]) < 200*ms; k++ {
						if k-i >= 10+int(maxLag/audio.FrameDuration) {
							t.Fatalf("%d frames within 200 ms", k-i)
						}
					}
				}
			})
		})
	}
}

// A sender that pauses where nobody speaks: the silence is heard all the same,
// and the turn ends.
func TestLiveSenderPauses(t *testing.T) {
	said := false
	p := plan{
		conv: conv.Options{Greeting: greeting}, texts: []string{"book a flight to boston"}, replies: []string{answer}, stay: true,
	}
	tone := porttest.Tone(16000, 20*ms)
	var frames int
	p.leg.Person = func(m porttest.Moment) porttest.Sound {
		switch {
		case answers(m) && !said:
			said = true
			frames = 60
		case m.State == "listening.ready" && said && m.Quiet > 75 && frames == 0:
			return porttest.Sound{Err: io.EOF}
		}
		if frames > 0 {
			frames--
			return porttest.Sound{PCM: tone}
		}
		return porttest.Sound{Absent: true}
	}
	var c *call
	p.setup = func(made *call) {
		c = made
		perform := c.s.Machine.o.Perform
		c.s.Machine.o.Perform = func(l *Loop, e conv.Effect) {
			if r, ok := e.(conv.RequestReply); ok {
				go c.s.postFact(conv.ReplyDone{Turn: r.Turn, Request: r.Request, Text: answer})
				return
			}
			perform(l, e)
		}
	}
	live(t, p, func(c *call) {
		c.ok()
		c.wantPhases("speaking", "listening.ready", "listening.capturing speech.started", "processing.understanding turn.ended", "speaking", "listening.ready")
		c.wantSaid(conv.RoleUser, "book a flight to boston")
	})
}

// A recognizer slower than the clock loses the oldest frames, and only those.
func TestFrameQueueDropsTheOldest(t *testing.T) {
	q := newFrameQueue(audio.MaxRate)
	pcm := make([]int16, 320)
	for n := range queuedFrames + 7 {
		pcm[0], pcm[319] = int16(n), int16(n)
		q.push(audio.Frame{Rate: 16000, PCM: pcm})
	}
	if q.dropped != 7 || len(q.ready) != 1 {
		t.Errorf("%d frames dropped, want 7; ready %d", q.dropped, len(q.ready))
	}
	out := make([]int16, audio.FrameSamples(audio.MaxRate))
	for n := 7; n < queuedFrames+7; n++ {
		k, ok := q.pop(out)
		if !ok || k != 320 || out[0] != int16(n) || out[319] != int16(n) {
			t.Fatalf("frame %d of %d samples, there %v, want frame %d", out[0], k, ok, n)
		}
	}
	if _, ok := q.pop(out); ok {
		t.Error("a frame that was never pushed")
	}
	if n := testing.AllocsPerRun(100, func() {
		q.push(audio.Frame{Rate: 16000, PCM: pcm})
		q.pop(out)
	}); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
	q.push(audio.Frame{Rate: 16000, PCM: make([]int16, 5000)}) // longer than any frame
	if k, ok := q.pop(out); !ok || k != len(out) {
		t.Errorf("%d samples of an overlong frame", k)
	}
}

// The whole way of a frame allocates nothing: from the leg's reader through the
// queue, the turn controller, the detector and the recognizer, and from the
// playout to the pacer.
func TestFramePathAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	for _, loud := range []bool{false, true} {
		s, err := New(Options{
			Leg: porttest.NewLeg(porttest.LegOptions{Rate: 48000}), Detector: &porttest.Detector{}, Recognizer: &porttest.Recognizer{},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.open(t.Context(), start, func(...conv.Event) {}); err != nil {
			t.Fatal(err)
		}
		path := s.sound
		path.frames = newFrameQueue(path.rate)
		f := audio.Frame{Rate: 48000, PCM: make([]int16, 960)}
		if loud {
			f.PCM = porttest.Tone(48000, 20*ms)
		}
		in, out := make([]int16, 960), make([]int16, 960)
		frame := func() {
			path.frames.push(f)
			n, _ := path.frames.pop(in)
			path.hear(in[:n])
			path.down.Frame(out)
			if path.down.TakeClear() {
				t.Error("nothing was flushed")
			}
		}
		for range 50 {
			frame() // the beginning of speech, and every buffer's growth
		}
		if n := testing.AllocsPerRun(200, frame); n != 0 {
			t.Errorf("speech %v: %v allocations a frame", loud, n)
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}
}

// An engine that stalls holds up nothing but itself: the agent is heard in time,
// and what the engine could not take is dropped and counted.
func TestLiveRecognizerStalls(t *testing.T) {
	var b beats
	p := plan{conv: conv.Options{Greeting: greeting}, stay: true, texts: []string{"one two three"}, replies: []string{answer}}
	p.rec = func(r *porttest.Recognizer) {
		r.Fail = func(call string, n int) error {
			if call == "write" && n == 40 {
				pass(3 * time.Second)
			}
			return nil
		}
	}
	p.lines = []line{{answers, 4 * time.Second}}
	p.leg.OnWrite = func(context.Context, int, audio.Frame) error { b.note(); return nil }
	p.each = func(c *call, n int) {
		if n == 500 {
			c.leg.HangUp()
		}
	}
	live(t, p, func(c *call) {
		c.ok()
		if n := c.s.sound.frames.dropped; n < 100 || n > 150 {
			t.Errorf("%d frames were dropped in 3 s with room for half a second", n)
		}
		for n, at := range b.at {
			if late := at.Sub(b.at[0]) - time.Duration(n)*20*ms; late != 0 {
				t.Fatalf("frame %d is %v late", n, late)
			}
		}
	})
}

// A voice that blocks until it is cancelled, and one that is deaf for a while:
// the call goes on, says what is wrong, and ends nothing twice.
func TestLiveVoiceBlocks(t *testing.T) {
	for name, block := range map[string]func(ctx context.Context) error{
		"until it is cancelled": func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"and then speaks on": func(ctx context.Context) error {
			<-ctx.Done()
			pass(5 * time.Second) // deaf to its context
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan{conv: conv.Options{}, texts: []string{"book a flight", "are you there"}, replies: []string{"Blocked.", "Here I am."}}
			p.lines = []line{{answers, 700 * ms}, {func(m porttest.Moment) bool { return m.N > 2500 && answers(m) }, 900 * ms}}
			p.synth = func(s *porttest.Synthesizer) {
				s.Before = func(ctx context.Context, text string, emit func(port.Speech) error) error {
					if text != "Blocked." {
						return nil
					}
					if err := block(ctx); err != nil {
						return err
					}
					// It has not heard of its end: nothing of this may be heard.
					err := emit(port.Speech{PCM: porttest.Tone(16000, time.Second)})
					if err == nil {
						t.Error("speech is taken from a voice that was cancelled")
					}
					return nil
				}
			}
			live(t, p, func(c *call) {
				c.ok()
				c.wantPhases("processing.generating", "faulted reply.stalled", "preparing", "listening.ready", "listening.capturing", "speaking")
				c.wantSaid(conv.RoleUser, "book a flight", "are you there")
				if said := c.said(conv.RoleAgent); said[len(said)-1] != "Here I am." {
					t.Errorf("the agent said %q", said)
				}
			})
		})
	}
}

// The context ends at any time, in the middle of whatever: Run returns its cause
// and leaves nothing.
func TestLiveContextEnds(t *testing.T) {
	cause := errors.New("the program ends")
	for at := time.Duration(0); at < 9*time.Second; at += 310 * ms {
		liveFor(t, func(t *testing.T) context.Context {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(at, func() { cancel(cause) })
			return ctx
		}, interrupted(turn.BargeInOptions{}, 50, 900*ms, "no in the evening"), func(c *call) {
			if c.err != nil && !errors.Is(c.err, cause) || c.err == nil && at < 8*time.Second {
				t.Errorf("ended after %v: Run returned %v", at, c.err)
			}
			if err := c.s.Post(conv.UserStop{}); !errors.Is(err, ErrEnded) {
				t.Errorf("Post after the end: %v", err)
			}
		})
	}
	liveFor(t, func(t *testing.T) context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		t.Cleanup(cancel)
		return ctx
	}, plan{}, func(c *call) {
		if !errors.Is(c.err, context.DeadlineExceeded) {
			t.Errorf("Run returned %v", c.err)
		}
	})
}

func TestLiveLegFails(t *testing.T) {
	broken := errors.New("the socket is closed")
	for frame := 1; frame < 400; frame += 57 {
		for _, where := range []string{"read", "write", "clear"} {
			p := interrupted(turn.BargeInOptions{}, 50, 900*ms, "no in the evening")
			p.breakLeg(where, frame, broken)
			live(t, p, func(c *call) {
				if !errors.Is(c.err, broken) || !strings.Contains(c.err.Error(), where) {
					t.Errorf("%s fails at frame %d: Run returned %v", where, frame, c.err)
				}
			})
		}
	}
}

// Posters that never stop: the end of the call must free each of them.
func TestLiveFloodAtShutdown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plan{conv: conv.Options{Greeting: greeting}, stay: true}
		p.leg.Live = true
		c := newCall(t, p)
		var posters sync.WaitGroup
		for range 8 {
			posters.Go(func() {
				for {
					err := c.s.Post(conv.TaskProgress{ID: "nobody"}, conv.STTPartial{Utterance: 99, Turn: 99})
					if err != nil {
						if !errors.Is(err, ErrEnded) {
							t.Errorf("Post: %v", err)
						}
						return
					}
					if _, err := c.s.CanTransition(conv.UserStop{}); err != nil && !errors.Is(err, ErrEnded) {
						t.Errorf("CanTransition: %v", err)
					}
					pass(time.Millisecond) // else no time passes
				}
			})
		}
		time.AfterFunc(2*time.Second, func() {
			for range 3 {
				posters.Go(func() { // and these do not even breathe
					for c.s.Post(conv.TaskProgress{ID: "nobody"}) == nil {
					}
				})
			}
			if err := c.s.EndConversation("enough"); err != nil {
				t.Error(err)
			}
		})
		if err := c.s.Run(t.Context()); err != nil {
			t.Errorf("Run returned %v", err)
		}
		posters.Wait()
	})
}

// One owner has one conversation at a time.
func TestLiveOneOwnerOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		owners := &Owners{}
		run := func(stop <-chan struct{}) error {
			leg := porttest.NewLeg(porttest.LegOptions{Live: true})
			s, err := New(Options{ID: "x", Leg: leg, Owner: "ann", Owners: owners, Synthesizer: &porttest.Synthesizer{}})
			if err != nil {
				return err
			}
			go func() { <-stop; leg.HangUp() }()
			return s.Run(t.Context())
		}
		first := make(chan struct{})
		ended := make(chan error)
		go func() { ended <- run(first) }()
		synctest.Wait()
		closed := make(chan struct{})
		close(closed)
		var active *ActiveError
		if err := run(closed); !errors.As(err, &active) || active.Owner != "ann" {
			t.Errorf("a second call of the same owner: %v", err)
		}
		close(first)
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := run(closed); err != nil {
			t.Errorf("a call after the first has ended: %v", err)
		}
		if release, err := owners.Acquire("ann"); err != nil {
			t.Errorf("the owner's place was not given back: %v", err)
		} else {
			release()
		}
	})
}

// Observers come and go from within callbacks, while the call runs.
func TestLiveObserversUnsubscribe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plan{conv: conv.Options{Greeting: greeting}, texts: []string{"book a flight"}, replies: []string{"Yes."}, lines: []line{{answers, 700 * ms}}}
		p.leg.Live = true
		c := newCall(t, p)
		var log []string
		var cancelOther, cancelSelf func()
		cancelSelf = c.s.OnStateChanged(func(s StateChanged) {
			log = append(log, "first "+s.Transition.To.String())
			cancelSelf()
			cancelSelf() // twice is harmless
			cancelOther()
			c.s.OnStateEnter(conv.Speaking, func(StateChanged) { log = append(log, "new speaking") })
		})
		cancelOther = c.s.OnStateChanged(func(s StateChanged) { log = append(log, "other "+s.Transition.To.String()) })
		if err := c.s.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if want := []string{"first preparing", "new speaking", "new speaking"}; !slices.Equal(log, want) {
			t.Errorf("%q, want %q", log, want)
		}
	})
}

// Many read the state while the call runs.
func TestLiveStateIsReadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := interrupted(turn.BargeInOptions{}, 50, 900*ms, "no in the evening")
		p.leg.Live = true
		c := newCall(t, p)
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				seen := map[conv.Phase]bool{}
				for open := true; open; {
					select {
					case <-c.s.Done():
						open = false
					case <-time.After(7 * ms):
					}
					s := c.s.State()
					seen[s.Phase] = true
					if s.Label == "" || s.Phase == conv.Speaking && s.PlayoutTurn == 0 {
						t.Errorf("%+v", s)
					}
					if recent, err := c.s.Recent(); err == nil && len(recent) > 20 {
						t.Errorf("%d transitions", len(recent))
					}
				}
				if !seen[conv.Speaking] || !seen[conv.ListeningCapturing] {
					t.Errorf("seen %v", seen)
				}
			})
		}
		if err := c.s.Run(t.Context()); err != nil {
			t.Error(err)
		}
		readers.Wait()
	})
}

// Before it runs a session can be observed and asked, and is in Idle.
func TestSessionBeforeItRuns(t *testing.T) {
	s, err := New(Options{Leg: porttest.NewLeg(porttest.LegOptions{})})
	if err != nil {
		t.Fatal(err)
	}
	if s.State().Phase != conv.Idle {
		t.Errorf("phase %v", s.State().Phase)
	}
	if can, err := s.CanTransition(conv.UserStart{}); can || err != nil {
		t.Errorf("a start goes on when the session is there: %v, %v", can, err)
	}
	if recent, err := s.Recent(); len(recent) != 0 || err != nil {
		t.Errorf("%v, %v", recent, err)
	}
	s.OnStateChanged(func(StateChanged) { t.Error("it changes before it runs") })()
}
