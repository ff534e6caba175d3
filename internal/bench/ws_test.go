package bench

import (
	"testing"
	"time"

	"github.com/hocketvoice/hocket/porttest"
)

// TestWS checks that a few clients are answered and leave nothing behind.
func TestWS(t *testing.T) {
	r, err := WS(t.Context(), WSOptions{
		Calls: 3, Duration: 18 * time.Second, Synthesizer: &porttest.Synthesizer{}, Detector: &porttest.Detector{},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", r)
	if r.Turns < 3 || r.Deltas < 3*20 || r.Answer <= 0 {
		t.Errorf("nobody was answered: %+v", r)
	}
	if r.P50 > r.P99 || r.P99 > r.Max || r.Memory <= 0 {
		t.Errorf("%+v", r)
	}
	if r.After > r.Before {
		t.Errorf("%d goroutines before, %d after", r.Before, r.After)
	}
}
