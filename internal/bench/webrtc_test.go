package bench

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hocketvoice/hocket/porttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestWebRTC checks that a few calls are answered and ended, and that the results are
// plausible.
func TestWebRTC(t *testing.T) {
	r, err := WebRTC(t.Context(), WebRTCOptions{
		Calls: 3, Duration: 5 * time.Second, Synthesizer: &porttest.Synthesizer{}, Detector: &porttest.Detector{},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", r)
	if r.Frames == 0 {
		t.Error("no frames came")
	}
	if r.P50 > r.P99 || r.P99 > r.Max || r.Memory <= 0 {
		t.Errorf("%+v", r)
	}
	if r.Turns == 0 || r.Heard == 0 {
		t.Errorf("%d turns, %d packets heard: nobody spoke", r.Turns, r.Heard)
	}
	if r.After > r.Before {
		t.Errorf("%d goroutines before, %d after", r.Before, r.After)
	}
}

func TestWebRTCEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	_, err := WebRTC(ctx, WebRTCOptions{Calls: 2, Synthesizer: &porttest.Synthesizer{}, Detector: &porttest.Detector{}})
	if err == nil {
		t.Error("it did not notice that its context has ended")
	}
}

func TestWebRTCOptions(t *testing.T) {
	for _, o := range []WebRTCOptions{{}, {Calls: -1}, {Calls: 2000}, {Duration: -1}, {Synthesizer: &porttest.Synthesizer{}}} {
		if _, err := WebRTC(t.Context(), o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}
