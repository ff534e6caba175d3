package file

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
)

func TestParseEcho(t *testing.T) {
	e, err := ParseEcho("-20dB@200ms")
	if err != nil || math.Abs(e.Gain-0.1) > 1e-9 || e.Delay != 200*time.Millisecond {
		t.Errorf("%+v, error %v", e, err)
	}
	for _, bad := range []string{"", "-20dB", "-20@200ms", "3dB@200ms", "-20dB@", "-20dB@-1s", "-20dB@3s", "xdB@200ms", "NaNdB@200ms", "-InfdB@20ms"} {
		if _, err := ParseEcho(bad); err == nil || !strings.Contains(err.Error(), "-15dB@200ms") {
			t.Errorf("%q: error %v", bad, err)
		}
	}
}

// TestEcho checks that what the agent says comes back at its level and after its delay, through
// the room, and that the caller's own voice is added.
func TestEcho(t *testing.T) {
	for _, room := range [][]float64{nil, {3, 0, 0, 4}} {
		var spoke []bool
		a := newAgent(t, Options{
			Echo:       Echo{Gain: 0.5, Delay: 105 * ms, Room: room},
			Microphone: func(_ []int16, speaking bool) { spoke = append(spoke, speaking) },
			Utterances: []Utterance{{PCM: voice(200*ms, 1), BargeIn: 300 * ms}},
		})
		for range 60 {
			a.frame(true)
		}
		lag := int(audio.PosOf(105*ms, 16000))
		began := len(a.caller)
		for i, s := range spoke {
			if s {
				began = min(began, i*a.l.frame)
			}
		}
		if began == len(a.caller) {
			t.Fatal("the caller never speaks")
		}
		for i, got := range a.caller[:began] {
			at := func(n int) float64 {
				if n < 0 {
					return 0
				}
				return float64(a.spoken[n])
			}
			want := 0.5 * at(i-lag)
			if room != nil {
				want = 0.5 * (0.6*at(i-lag) + 0.8*at(i-lag-3))
			}
			if math.Abs(want-float64(got)) > 1 {
				t.Fatalf("room %v: sample %d is %d, want %.1f", room, i, got, want)
			}
		}
	}
	for _, e := range []Echo{{Gain: -1}, {Gain: 2}, {Gain: math.NaN()}, {Gain: 0.5, Delay: -1}, {Gain: 0.5, Delay: time.Minute}, {Gain: 0.5, Room: []float64{0}}} {
		if _, err := New(Options{Echo: e}); err == nil {
			t.Errorf("%+v is valid", e)
		}
	}
}
