package porttest

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

// This file tests the rules of port.Watcher.

func watcher(t *testing.T, l Line) port.Watcher {
	t.Helper()
	w, ok := l.Leg.(port.Watcher)
	if !ok {
		t.Skip("the leg is not a port.Watcher")
	}
	return w
}

// watchEnds checks that Watch does not return without a change, and returns when
// its context ends.
func watchEnds(t *testing.T, l Line) {
	w := watcher(t, l)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if line, err := w.Watch(ctx, port.LineUp); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Watch of a connection that is up returned %v, %v", line, err)
	}
	if line, err := w.Watch(t.Context(), port.LineLost); line != port.LineUp || err != nil {
		t.Errorf("Watch after LineLost returned %v, %v", line, err)
	}
}

// watchSeesTheEnd checks that Watch returns when the leg ends.
func watchSeesTheEnd(t *testing.T, l Line) {
	w := watcher(t, l)
	if l.HangUp == nil {
		t.Skip("the test provides no HangUp")
	}
	if _, err := read(t.Context(), t, l.Leg); err != nil {
		t.Fatal(err)
	}
	l.HangUp()
	ctx, cancel := context.WithTimeout(t.Context(), 2*legPatience)
	defer cancel()
	last := port.LineUp
	for {
		line, err := w.Watch(ctx, last)
		switch {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			t.Fatalf("Watch returned %v after the end, want io.EOF", err)
		}
		last = line
	}
}

// lineLost checks that a loss is reported, that the leg works during it, and that
// sound passes again afterwards.
func lineLost(t *testing.T, l Line) {
	w := watcher(t, l)
	if l.Cut == nil || l.Mend == nil {
		t.Skip("the test provides no Cut")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*legPatience)
	defer cancel()
	readPast(t, l)
	l.Cut()
	line, err := w.Watch(ctx, port.LineUp)
	if err != nil || line == port.LineUp {
		t.Fatalf("Watch of an interrupted connection returned %v, %v", line, err)
	}
	readPast(t, l)
	frame := audio.Frame{Rate: l.Leg.Rate(), PCM: Tone(l.Leg.Rate(), audio.FrameDuration)}
	for range 10 {
		if err := l.Leg.Write(ctx, frame); err != nil {
			t.Fatalf("Write during the loss: %v", err)
		}
	}
	if err := l.Leg.Clear(ctx); err != nil {
		t.Fatalf("Clear during the loss: %v", err)
	}
	l.Mend()
	for line != port.LineUp {
		if line, err = w.Watch(ctx, line); err != nil {
			t.Fatalf("Watch of a restored connection returned %v, %v", line, err)
		}
	}
	if l.Say == nil {
		return
	}
	l.Say(Tone(l.Leg.Rate(), 400*time.Millisecond))
	for {
		f, err := l.Leg.Read(ctx)
		if err != nil {
			t.Fatalf("the person is not heard after the loss: %v", err)
		}
		if audio.RMS(f.PCM) > 0.05 {
			return
		}
	}
}

// readPast reads for a moment. A leg without a connection may pause.
func readPast(t *testing.T, l Line) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	for range 5 {
		if _, err := l.Leg.Read(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("Read: %v", err)
		}
	}
}
