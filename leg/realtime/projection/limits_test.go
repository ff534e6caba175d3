package projection

import (
	"testing"
	"time"
)

// TestLimits checks the count of responses and tokens per minute.
func TestLimits(t *testing.T) {
	now := time.Now()
	l := limits{responses: 2, tokens: 10, since: now}
	for i, want := range []bool{true, true, false} {
		if got := l.take(now); got != want {
			t.Errorf("response %d: %v", i+1, got)
		}
	}
	now = now.Add(time.Minute)
	if !l.take(now) {
		t.Error("a new minute")
	}
	l.spend(now, 12)
	if l.take(now) {
		t.Error("the tokens are spent")
	}
	if left := l.left(now).RateLimits; left[0].Remaining != 1 || left[1].Remaining != 0 || left[1].ResetSeconds != 60 {
		t.Errorf("%+v", left)
	}
}
