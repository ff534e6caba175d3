package wait

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestFor checks that For waits for the duration, or until the context ends.
func TestFor(t *testing.T) {
	for name, c := range map[string]struct {
		d, limit time.Duration
		took     time.Duration
		want     error
	}{
		"whole":             {time.Minute, time.Hour, time.Minute, nil},
		"broken off":        {time.Hour, time.Minute, time.Minute, context.DeadlineExceeded},
		"nothing":           {0, time.Minute, 0, nil},
		"less than nothing": {-time.Minute, time.Minute, 0, nil},
		"over":              {0, 0, 0, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), c.limit)
				defer cancel()
				begin := time.Now()
				if err := For(ctx, c.d); !errors.Is(err, c.want) || time.Since(begin) != c.took {
					t.Errorf("error %v after %v, expected %v after %v", err, time.Since(begin), c.want, c.took)
				}
			})
		})
	}
}

// TestLonger checks that the context ends a minute after the other, or when end is
// called, and not before.
func TestLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		longer, end := Longer(ctx, time.Minute)
		defer end()
		ended, endEarly := Longer(ctx, time.Minute)
		time.Sleep(time.Hour)
		if err := errors.Join(longer.Err(), ended.Err()); err != nil {
			t.Errorf("it has ended: %v", err)
		}
		endEarly()
		if ended.Err() == nil {
			t.Error("it has not ended")
		}
		begin := time.Now()
		cancel()
		<-longer.Done()
		if took := time.Since(begin); took != time.Minute {
			t.Errorf("it lasted %v longer, expected a minute", took)
		}
	})
}
