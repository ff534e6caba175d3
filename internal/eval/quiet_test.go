//go:build pocketsphinx && flite && silero_embed && cgo

package eval

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/turn"
)

// recordings returns the digits of the set fsdd-digits-8k by file name, or skips the test.
func recordings(t *testing.T) map[string][]int16 {
	t.Helper()
	paths, _ := filepath.Glob(filepath.Join("..", "..", "..", "shared", "data", "fsdd-digits-8k", "recordings", "*.wav"))
	if len(paths) == 0 {
		t.Skip("the recordings are not here")
	}
	out := map[string][]int16{}
	for _, p := range paths {
		pcm, err := readWAV(p)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(p), ".wav")] = pcm
	}
	return out
}

// onsets reports whether speech begins in the last sound of a stream.
func onsets(t *testing.T, s Services, reset bool, sounds ...[]int16) bool {
	t.Helper()
	d, err := s.Detector.Open()
	if err != nil {
		t.Fatal(err)
	}
	o, err := turn.NewOnset(s.Onset)
	if err != nil {
		t.Fatal(err)
	}
	started, at := false, time.Duration(0)
	n := audio.FrameSamples(Rate)
	for i, pcm := range sounds {
		started = false
		if i > 0 && reset {
			d.Reset()
		}
		for ; len(pcm) >= n; pcm = pcm[n:] {
			at += audio.FrameDuration
			_, edge := o.Update(turn.Acoustic{At: at, Energy: audio.RMS(pcm[:n]), VAD: d.Write(pcm[:n])}, 0, false)
			started = started || edge == turn.Started
		}
	}
	return started
}

// TestEvalQuiet prints how many digits are heard by a fresh detector, and by one that has
// heard a loud sentence before.
func TestEvalQuiet(t *testing.T) {
	evaluate(t)
	s := services(t)
	loud, err := speak(t.Context(), s.Synthesizer, "slt", "I would like to enter the number of my account, please.")
	if err != nil {
		t.Fatal(err)
	}
	peak := 0
	for _, v := range loud {
		peak = max(peak, int(v), -int(v))
	}
	for i := range loud {
		loud[i] = int16(int(loud[i]) * 30000 / peak)
	}
	quiet := make([]int16, 3*Rate)
	var missed [3]int
	all := recordings(t)
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		digit := slices.Concat(make([]int16, Rate/2), all[name], make([]int16, Rate))
		before := slices.Concat(loud, quiet)
		var heard [3]bool
		heard[0] = onsets(t, s, false, digit)
		heard[1] = onsets(t, s, false, before, digit)
		heard[2] = onsets(t, s, true, before, digit)
		for i, h := range heard {
			if !h {
				missed[i]++
			}
		}
		if !heard[1] {
			t.Logf("%s level %.4f: fresh %v after reset %v", name, audio.RMS(all[name]), heard[0], heard[2])
		}
	}
	t.Logf("not heard of %d: fresh %d, after a loud sentence %d, after it and a reset %d", len(names), missed[0], missed[1], missed[2])
}
