package realtime

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/audio"
	wire "github.com/hocketvoice/hocket/internal/wire/realtime"
	"github.com/hocketvoice/hocket/porttest"
)

// The leg follows the rules of port.Leg. Its client sends sound all the time.
func TestLeg(t *testing.T) {
	porttest.TestLeg(t, func(t *testing.T) porttest.Line {
		l := newLeg(func(int, []int16) {})
		stop, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			for beat := time.NewTicker(5 * time.Millisecond); ; {
				select {
				case <-beat.C:
				case <-stop:
					beat.Stop()
					return
				}
				_ = l.push(t.Context(), chunk{pcm: make([]int16, 480)}) // ends with the test
			}
		}()
		t.Cleanup(func() { close(stop); <-done })
		return porttest.Line{
			Leg:    l,
			Say:    func(pcm []int16) { _ = l.push(t.Context(), chunk{pcm: slices.Clone(pcm)}) },
			HangUp: l.end,
		}
	})
}

// A marker is reached when all sound before it has been heard, and not sooner. Sound
// recognized elsewhere counts.
func TestLegMoments(t *testing.T) {
	ctx := t.Context()
	l := newLeg(func(int, []int16) {})
	var at []int
	then := func() { at = append(at, l.heard()) }
	for _, c := range []chunk{
		{pcm: make([]int16, 720)}, {then: then}, // 30 ms, in the middle of the second frame
		{pcm: make([]int16, 240)}, {then: then}, // 40 ms
		{skip: 2400}, {then: then}, // 140 ms
		{pcm: make([]int16, 480)},
	} {
		if err := l.push(ctx, c); err != nil {
			t.Fatal(err)
		}
	}
	var pos []audio.Pos
	for range 3 {
		f, err := l.Read(ctx)
		if err != nil || len(f.PCM) != 480 {
			t.Fatal(len(f.PCM), err)
		}
		pos = append(pos, f.Pos)
	}
	if !slices.Equal(at, []int{30, 40, 140}) || !slices.Equal(pos, []audio.Pos{0, 480, 3360}) {
		t.Errorf("moments at %v ms, frames at %v", at, pos)
	}
	l.end()
	if _, err := l.Read(ctx); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// If the queue is full, the client waits until there is room.
func TestLegIsFull(t *testing.T) {
	l := newLeg(func(int, []int16) {})
	if err := l.push(t.Context(), chunk{pcm: make([]int16, maxInput)}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := l.push(ctx, chunk{pcm: make([]int16, 1)}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a full leg takes more: %v", err)
	}
	l.drop()
	if err := l.push(t.Context(), chunk{pcm: make([]int16, 1)}); err != nil {
		t.Error(err)
	}
	if ms := l.heard(); ms != maxInput/24 {
		t.Errorf("%d ms heard and dropped", ms)
	}
}

// Each format decodes to what was encoded, in pieces of any size.
func TestCodecs(t *testing.T) {
	tone := make([]int16, 24000)
	for i := range tone {
		tone[i] = int16(8000 * (i / 50 % 2)) // 240 Hz
	}
	for _, f := range []wire.Format{{Type: wire.PCM, Rate: 24000}, {Type: wire.PCMU}, {Type: wire.PCMA}} {
		enc, err := newEncoder(f)
		if err != nil {
			t.Fatal(err)
		}
		var b []byte
		for at := 0; at < len(tone); at += 480 {
			b = append(b, enc.encode(tone[at:at+480])...)
		}
		b = append(b, enc.rest()...)
		if want := f.SampleRate() * map[bool]int{true: 2, false: 1}[f.Type == wire.PCM]; len(b) < want-16 || len(b) > want+16 {
			t.Errorf("%s: %d bytes, expected %d", f.Type, len(b), want)
		}
		var d decoder
		var pcm []int16
		for len(b) > 0 {
			n := min(len(b), 333)
			got, err := d.decode(f, b[:n])
			if err != nil {
				t.Fatal(err)
			}
			pcm, b = append(pcm, got...), b[n:]
		}
		if len(pcm) < 23800 || audio.RMS(pcm) < 0.8*audio.RMS(tone) || audio.RMS(pcm) > 1.2*audio.RMS(tone) {
			t.Errorf("%s: %d samples at %.3f, expected 24000 at %.3f", f.Type, len(pcm), audio.RMS(pcm), audio.RMS(tone))
		}
	}
}

// A recording is read faster than real time, but not as fast as possible, because of
// the other calls. Closing does not wait for it.
func TestLegIsPaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeg(func(int, []int16) {})
		took := func(d time.Duration) time.Duration {
			began := time.Now()
			for left := d; left > 0; left -= 20 * time.Millisecond {
				if err := l.push(t.Context(), chunk{pcm: make([]int16, 480)}); err != nil {
					t.Fatal(err)
				}
				if _, err := l.Read(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			return time.Since(began)
		}
		if d := took(30 * time.Second); d > 0 {
			t.Errorf("half a minute takes %v", d)
		}
		if d := took(time.Minute); d < 7*time.Second || d > 8*time.Second {
			t.Errorf("the next takes %v", d)
		}
		time.Sleep(time.Minute)
		if d := took(30 * time.Second); d > 0 {
			t.Errorf("behind a pause it takes %v", d)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_ = l.push(t.Context(), chunk{pcm: make([]int16, 480*20)})
		for range 20 {
			if _, err := l.Read(ctx); err != nil {
				if !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				return
			}
		}
		t.Error("it does not end with its context")
	})
}
