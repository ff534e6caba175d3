package bench

import (
	"testing"
	"time"

	"github.com/hocketvoice/hocket/porttest"
)

// TestPhone runs a small measurement: each kind of server returns the frames.
func TestPhone(t *testing.T) {
	r, err := Phone(t.Context(), PhoneOptions{Calls: 2, Duration: 200 * time.Millisecond, Detector: &porttest.Detector{SampleRate: 16000}})
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]PhoneRow{"bare": r.Bare, "leg": r.Echo, "detector": r.Detector} {
		if row.Frames == 0 || row.P50 > row.P99 || row.P99 > row.Max {
			t.Errorf("%s: %+v", name, row)
		}
	}
}
