package text_test

import (
	"context"
	"errors"
	"runtime/metrics"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/leg/text"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/session"
)

// chat is a conversation that runs in a synctest bubble.
type chat struct {
	*session.Session
	t    *testing.T
	leg  *text.Leg
	done chan error

	mu    sync.Mutex // guards the fields below
	steps []string
	lines []session.Spoken
}

// begin starts a conversation with a model. change, if not nil, changes its options.
func begin(t *testing.T, model port.Model, change func(*session.Options)) *chat {
	t.Helper()
	c := &chat{t: t, leg: text.New(text.Options{}), done: make(chan error, 1)}
	o := session.Options{Leg: c.leg, Model: model, Conv: conv.Options{Greeting: "Good day."}}
	if change != nil {
		change(&o)
	}
	s, err := session.New(text.Session(o))
	if err != nil {
		t.Fatal(err)
	}
	c.Session = s
	s.OnStep(func(s session.Step) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.steps = append(c.steps, conv.EventType(s.Event))
	})
	s.OnSpoken(func(s session.Spoken) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.lines = append(c.lines, s)
	})
	go func() { c.done <- s.Run(t.Context()) }()
	synctest.Wait()
	return c
}

// took returns the events stepped since the last call.
func (c *chat) took() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	steps := c.steps
	c.steps = nil
	return steps
}

func (c *chat) said() (texts []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, l := range c.lines {
		texts = append(texts, l.Text)
	}
	return texts
}

// end makes the person leave.
func (c *chat) end() {
	c.t.Helper()
	if err := c.leg.Close(); err != nil {
		c.t.Error(err)
	}
	if err := <-c.done; err != nil {
		c.t.Error(err)
	}
}

// replies is a model that calls a function.
type replies func(ctx context.Context, emit func(port.Delta) error) error

func (r replies) Reply(ctx context.Context, _ port.Request, emit func(port.Delta) error) error {
	return r(ctx, emit)
}

var echo = replies(func(_ context.Context, emit func(port.Delta) error) error {
	return emit(port.Delta{Text: "So it is."})
})

// switches returns how often goroutines of this process were scheduled so far, divided
// by about eight: the runtime counts one time in eight.
func switches(t *testing.T) (n uint64) {
	t.Helper()
	sample := []metrics.Sample{{Name: "/sched/latencies:seconds"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindFloat64Histogram {
		t.Fatal("the runtime does not tell")
	}
	for _, count := range sample[0].Value.Float64Histogram().Counts {
		n += count
	}
	return n
}

// TestIdle checks that a conversation in which nobody types makes no step and uses no
// timer before its next deadline, and then reacts in time.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := begin(t, echo, func(o *session.Options) {
			o.Conv.Limits.Session, o.Conv.Limits.SessionWarning = 3*time.Hour, time.Hour
		})
		if said := c.said(); !slices.Equal(said, []string{"Good day."}) || c.State().Phase != conv.ListeningReady {
			t.Fatalf("said %q, %v: expected the greeting, and that it listens", said, c.State().Phase)
		}
		began := time.Now()
		c.took()
		for _, next := range []struct {
			at    time.Duration
			steps []string
		}{
			{5 * time.Minute, []string{"deadline"}}, // the prompt for an inactive person
			{2 * time.Hour, []string{"deadline", "session.renewed"}},
			{4 * time.Hour, []string{"deadline", "session.renewed"}},
		} {
			before := switches(t)
			time.Sleep(next.at - time.Since(began) - 1)
			synctest.Wait()
			if steps := c.took(); len(steps) > 0 {
				t.Errorf("before %v it stepped %q", next.at, steps)
			}
			// Ticks of 20 ms would be 15,000 in the first five minutes.
			if n := switches(t) - before; n > 300 {
				t.Errorf("before %v goroutines ran %d times eight", next.at, n)
			}
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			if steps := c.took(); !slices.Equal(steps, next.steps) || c.State().Phase != conv.ListeningReady {
				t.Errorf("at %v, %v it stepped %q, expected %q", next.at, c.State().Phase, steps, next.steps)
			}
		}
		c.end()
	})
}

// TestTurnTakesNoTime checks that a reply does not wait for a tick.
func TestTurnTakesNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := begin(t, echo, nil)
		began := time.Now()
		for _, line := range []string{"it rains", "it pours"} {
			if err := c.SendText(line); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		want := []string{"Good day.", "it rains", "So it is.", "it pours", "So it is."}
		if said := c.said(); !slices.Equal(said, want) || time.Since(began) != 0 {
			t.Errorf("said %q after %v, expected %q at once", said, time.Since(began), want)
		}
		c.end()
	})
}

// TestInterruptedLine checks that a line that arrives while the agent is writing
// interrupts it. What was written counts as read.
func TestInterruptedLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := true
		c := begin(t, replies(func(ctx context.Context, emit func(port.Delta) error) error {
			if !first {
				return emit(port.Delta{Text: "Very well."})
			}
			first = false
			for _, piece := range []string{"This is long. ", "It goes on. ", "And on. "} {
				if err := emit(port.Delta{Text: piece}); err != nil {
					return err
				}
				select {
				case <-time.After(time.Second):
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		}), nil)
		if err := c.SendText("tell me"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(1500 * time.Millisecond)
		if err := c.SendText("enough"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // the machine waits after an interruption
		want := []string{"Good day.", "tell me", "This is long. It goes on.", "enough", "Very well."}
		if said := c.said(); !slices.Equal(said, want) {
			t.Errorf("said %q, expected %q", said, want)
		}
		c.end()
	})
}

// TestPauseAndAbsence checks that nothing is lost by a pause, or by a person who leaves
// and returns.
func TestPauseAndAbsence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := begin(t, echo, nil)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		must(c.Suspend("diagnostics"))
		must(c.SendText("it rains"))
		must(c.Resume())
		c.leg.Present(false)
		time.Sleep(5 * time.Second)
		if p := c.State().Phase; p != conv.Reconnecting {
			t.Errorf("without the person it is %v", p)
		}
		c.leg.Present(true)
		synctest.Wait()
		must(c.SendText("it pours"))
		want := []string{"Good day.", "it rains", "So it is.", "it pours", "So it is."}
		if said := c.said(); !slices.Equal(said, want) {
			t.Errorf("said %q, expected %q", said, want)
		}
		c.end()
	})
}

// TestTextIsNotVirtual checks that frames are not the clock of a conversation by text.
func TestTextIsNotVirtual(t *testing.T) {
	s, err := session.New(text.Session(session.Options{Leg: text.New(text.Options{})}))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.RunVirtual(t.Context(), time.Now()); err == nil {
		t.Error("it runs in virtual time")
	}
	if err := s.Run(cancelled(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("after that it runs to its end: %v", err)
	}
}

func cancelled(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
