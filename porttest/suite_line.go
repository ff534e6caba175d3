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
		t.Skip("this leg's connection is never lost")
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
		t.Errorf("a line that is up: %v, %v", line, err)
	}
	if line, err := w.Watch(t.Context(), port.LineLost); line != port.LineUp || err != nil {
		t.Errorf("who believes the line lost learns %v, %v", line, err)
	}
}

// watchSeesTheEnd checks that Watch returns when the leg ends.
func watchSeesTheEnd(t *testing.T, l Line) {
	w := watcher(t, l)
	if l.HangUp == nil {
		t.Skip("the far end cannot hang up")
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
			t.Fatalf("Watch returned %v behind the end, want io.EOF", err)
		}
		last = line
	}
}

// lineLost checks that a loss is reported, that the leg works during it, and that
// sound passes again afterwards.
func lineLost(t *testing.T, l Line) {
	w := watcher(t, l)
	if l.Cut == nil || l.Mend == nil {
		t.Skip("this line cannot be cut here")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*legPatience)
	defer cancel()
	readPast(t, l)
	l.Cut()
	line, err := w.Watch(ctx, port.LineUp)
	if err != nil || line == port.LineUp {
		t.Fatalf("a line that is cut: %v, %v", line, err)
	}
	readPast(t, l)
	frame := audio.Frame{Rate: l.Leg.Rate(), PCM: Tone(l.Leg.Rate(), audio.FrameDuration)}
	for range 10 {
		if err := l.Leg.Write(ctx, frame); err != nil {
			t.Fatalf("Write while the line is lost: %v", err)
		}
	}
	if err := l.Leg.Clear(ctx); err != nil {
		t.Fatalf("Clear while the line is lost: %v", err)
	}
	l.Mend()
	for line != port.LineUp {
		if line, err = w.Watch(ctx, line); err != nil {
			t.Fatalf("a line that is mended: %v, %v", line, err)
		}
	}
	if l.Say == nil {
		return
	}
	l.Say(Tone(l.Leg.Rate(), 400*time.Millisecond))
	for {
		f, err := l.Leg.Read(ctx)
		if err != nil {
			t.Fatalf("the person is not heard behind the loss: %v", err)
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
