package text

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/port"
)

// TestLinger checks that an absent person may return within the time limit, after
// which the leg ends.
func TestLinger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(Options{Linger: time.Minute})
		ended := make(chan time.Time, 1)
		began := time.Now()
		go func() {
			if _, err := l.Read(t.Context()); errors.Is(err, io.EOF) {
				ended <- time.Now()
			}
			close(ended)
		}()
		var line port.Line
		next := func(want port.Line) {
			t.Helper()
			got, err := l.Watch(t.Context(), line)
			if err != nil || got != want {
				t.Fatalf("the line is %v, %v; expected %v", got, err, want)
			}
			line = got
		}
		l.Present(true) // not a change
		time.Sleep(time.Hour)
		l.Present(false)
		next(port.LineShaky)
		time.Sleep(59 * time.Second)
		l.Present(true)
		next(port.LineUp)
		time.Sleep(time.Hour)
		l.Present(false)
		next(port.LineShaky)
		if _, err := l.Watch(t.Context(), line); !errors.Is(err, io.EOF) {
			t.Errorf("the end of the line is %v", err)
		}
		if at := (<-ended).Sub(began).Truncate(time.Second); at != 2*time.Hour+59*time.Second+time.Minute {
			t.Errorf("it ended after %v", at)
		}
	})
}

func TestReadEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New(Options{}).Read(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("it is %v", err)
	}
}
