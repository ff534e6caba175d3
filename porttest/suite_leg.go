package porttest

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

// Line is a leg under test and the controls of its far end. A nil function means
// that the leg does not support it; the rules that need it are skipped.
type Line struct {
	Leg    port.Leg
	Say    func(pcm []int16) // the person says something
	HangUp func()
	Heard  func() []int16 // returns all that the agent has sent
	// Cut interrupts the connection and Mend restores it, for a port.Watcher.
	Cut, Mend func()
}

// legPatience bounds the wait for a leg, in real time.
const legPatience = 5 * time.Minute

// TestLeg is the conformance suite of port.Leg. open must return a fresh leg for
// each rule and end it when the test ends.
func TestLeg(t *testing.T, open func(*testing.T) Line) {
	for _, rule := range []struct {
		name string
		test func(*testing.T, Line)
	}{
		{"frames are 20 ms, in order and without gaps", framesInOrder},
		{"what the person says is read", personIsRead},
		{"what is written is heard, and is lent", agentIsHeard},
		{"the end of the context ends Read", readEnds},
		{"hanging up is io.EOF, and stays", hangUp},
		{"Notify never blocks", noticesFlood},
		{"reading, writing, clearing and notices go on at once", allAtOnce},
		{"what is reported as played was written", acknowledged},
		{"the end of the context ends Watch", watchEnds},
		{"Watch ends with the leg", watchSeesTheEnd},
		{"a lost line is told, and comes back", lineLost},
	} {
		t.Run(rule.name, func(t *testing.T) { rule.test(t, open(t)) })
	}
}

func read(ctx context.Context, t *testing.T, l port.Leg) (audio.Frame, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, legPatience)
	defer cancel()
	return l.Read(ctx)
}

func framesInOrder(t *testing.T, l Line) {
	rate := l.Leg.Rate()
	if rate < audio.MinRate || rate > audio.MaxRate || rate%50 != 0 {
		t.Fatalf("rate %d: want whole samples in 20 ms", rate)
	}
	var next audio.Pos
	for i := range 20 {
		f, err := read(t.Context(), t, l.Leg)
		if err != nil {
			t.Fatal(err)
		}
		if f.Rate != rate || len(f.PCM) != audio.FrameSamples(rate) {
			t.Fatalf("frame %d: %d samples at %d Hz", i, len(f.PCM), f.Rate)
		}
		if i > 0 && f.Pos != next {
			t.Fatalf("frame %d: position %d, want %d", i, f.Pos, next)
		}
		next = f.End()
	}
}

func personIsRead(t *testing.T, l Line) {
	if l.Say == nil {
		t.Skip("the test provides no Say")
	}
	said := Tone(l.Leg.Rate(), 400*time.Millisecond)
	l.Say(said)
	loud := 0
	for range 100 {
		f, err := read(t.Context(), t, l.Leg)
		if err != nil {
			t.Fatal(err)
		}
		if audio.RMS(f.PCM) > 0.05 {
			loud++
		}
	}
	if loud < 18 || loud > 22 {
		t.Errorf("%d of 100 frames contain sound, 20 were sent", loud)
	}
}

func agentIsHeard(t *testing.T, l Line) {
	if l.Heard == nil {
		t.Skip("the test provides no Heard")
	}
	tone := Tone(l.Leg.Rate(), 400*time.Millisecond)
	frame := make([]int16, audio.FrameSamples(l.Leg.Rate()))
	var pos audio.Pos
	for piece := range slices.Chunk(tone, len(frame)) {
		copy(frame, piece)
		if err := l.Leg.Write(t.Context(), audio.Frame{Pos: pos, Rate: l.Leg.Rate(), PCM: frame}); err != nil {
			t.Fatal(err)
		}
		pos += audio.Pos(len(frame))
		clear(frame)
	}
	heard := l.Heard()
	if a, b := audio.RMS(heard), audio.RMS(tone); len(heard) < len(tone)*9/10 || a < b*0.8 || a > b*1.2 {
		t.Errorf("heard %d samples at level %v, want %d at %v", len(heard), a, len(tone), b)
	}
}

func readEnds(t *testing.T, l Line) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		for {
			if _, err := l.Leg.Read(ctx); err != nil {
				done <- err
				return
			}
		}
	}()
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) && !errors.Is(err, io.EOF) {
			t.Errorf("Read returned %v", err)
		}
	case <-time.After(legPatience):
		t.Error("Read does not return when its context ends")
	}
}

func hangUp(t *testing.T, l Line) {
	if l.HangUp == nil {
		t.Skip("the test provides no HangUp")
	}
	if _, err := read(t.Context(), t, l.Leg); err != nil {
		t.Fatal(err)
	}
	l.HangUp()
	for deadline := time.Now().Add(legPatience); time.Now().Before(deadline); {
		if _, err := read(t.Context(), t, l.Leg); err != nil {
			if !errors.Is(err, io.EOF) {
				t.Fatalf("Read returned %v, want io.EOF", err)
			}
			if _, err := read(t.Context(), t, l.Leg); !errors.Is(err, io.EOF) {
				t.Errorf("Read after the end returned %v, want io.EOF", err)
			}
			return
		}
	}
	t.Error("Read does not return io.EOF after the person has left")
}

func noticesFlood(t *testing.T, l Line) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 10_000 {
			l.Leg.Notify(port.Notice{Type: "caption", Turn: i, Role: "agent", Text: "so much to read"})
		}
	}()
	select {
	case <-done:
	case <-time.After(legPatience):
		t.Error("Notify blocks when nobody reads")
	}
}

func allAtOnce(t *testing.T, l Line) {
	ctx := t.Context()
	var all sync.WaitGroup
	all.Go(func() {
		for range 25 {
			if _, err := read(ctx, t, l.Leg); err != nil {
				t.Error(err)
				return
			}
		}
	})
	all.Go(func() {
		frame := make([]int16, audio.FrameSamples(l.Leg.Rate()))
		for i := range 25 {
			if i == 10 {
				if err := l.Leg.Clear(ctx); err != nil {
					t.Error(err)
				}
			}
			if err := l.Leg.Write(ctx, audio.Frame{Pos: audio.Pos(i * len(frame)), Rate: l.Leg.Rate(), PCM: frame}); err != nil {
				t.Error(err)
				return
			}
		}
	})
	all.Go(func() {
		for range 25 {
			l.Leg.Notify(port.Notice{Type: "state", State: "speaking"})
		}
	})
	all.Wait()
}

func acknowledged(t *testing.T, l Line) {
	acks, ok := l.Leg.(port.Acknowledger)
	if !ok {
		t.Skip("the leg is not a port.Acknowledger")
	}
	frame := make([]int16, audio.FrameSamples(l.Leg.Rate()))
	var written, last audio.Pos
	for i := range 50 {
		if err := l.Leg.Write(t.Context(), audio.Frame{Pos: written, Rate: l.Leg.Rate(), PCM: frame}); err != nil {
			t.Fatal(err)
		}
		written += audio.Pos(len(frame))
		if i == 30 {
			if err := l.Leg.Clear(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		played := acks.Played()
		if played < last || played > written {
			t.Fatalf("played %d after %d, written %d", played, last, written)
		}
		last = played
	}
}
