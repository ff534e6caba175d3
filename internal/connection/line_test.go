package connection

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"github.com/hocketvoice/hocket/port"
)

// TestWatch checks that a watcher learns each lasting state and the end.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, seen := New(), make(chan port.Line)
		var err error
		go func() {
			defer close(seen)
			for line := port.LineUp; ; {
				if line, err = s.Watch(t.Context(), line); err != nil {
					return
				}
				seen <- line
			}
		}()
		for _, want := range []port.Line{port.LineShaky, port.LineLost, port.LineUp} {
			s.Set(want)
			s.Set(want) // not a change
			if got := <-seen; got != want {
				t.Fatalf("the line is %v, expected %v", got, want)
			}
		}
		synctest.Wait()
		s.Set(port.LineLost)
		s.Set(port.LineShaky)
		if got := <-seen; got != port.LineShaky && got != port.LineLost {
			t.Fatalf("the line is %v", got)
		}
		s.End()
		s.End()
		for range seen { // the state before the end may still be reported
		}
		if !errors.Is(err, io.EOF) {
			t.Errorf("the end is %v", err)
		}
	})
}

func TestWatchEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := New().Watch(ctx, port.LineUp); !errors.Is(err, context.Canceled) {
		t.Errorf("it is %v", err)
	}
}
