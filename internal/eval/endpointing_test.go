//go:build pocketsphinx && flite && silero_embed && cgo

package eval

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/detector/smartturn"
	"github.com/hocketvoice/hocket/internal/onnx"
)

// heardFree returns the turns of free speech by voice, heard with the end-of-turn model if it is
// installed. Those of the voices slt and rms were looked at when the numbers of the policy were
// chosen.
func heardFree(t *testing.T) map[string][]Heard {
	t.Helper()
	s := services(t)
	models := filepath.Join("..", "..", "third_party", "models")
	m, err := smartturn.New(smartturn.Options{Library: filepath.Join(models, onnx.Library()), Network: filepath.Join(models, "smart-turn-v3.2-cpu.onnx")})
	switch {
	case errors.Is(err, onnx.ErrMissing) || errors.Is(err, fs.ErrNotExist):
		t.Logf("without the end-of-turn model: %v", err)
	case err != nil:
		t.Fatal(err)
	default:
		s.EndOfTurn = m
		t.Cleanup(func() { _ = m.Close() })
	}
	out := map[string][]Heard{}
	listen := func(answers []Answer) {
		heard, err := Listen(t.Context(), s, answers)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range heard {
			out[h.Voice] = append(out[h.Voice], h)
		}
	}
	for i, voice := range []string{"slt", "rms", "kal16"} {
		answers, err := SayFree(t.Context(), s.Synthesizer, voice, uint64(i))
		if err != nil {
			t.Fatal(err)
		}
		listen(answers)
	}
	answers, err := Recorded(filepath.Join("..", "..", "..", "shared", "data", "vap-phrases"), 1)
	if err != nil {
		t.Logf("without the recorded phrases: %v", err)
		return out
	}
	listen(answers)
	return out
}

// TestEvalFreeSpeech prints the sweep for free speech, by voice.
func TestEvalFreeSpeech(t *testing.T) {
	evaluate(t)
	byVoice := heardFree(t)
	groups := map[string][]Heard{}
	for voice, list := range byVoice {
		group := "unseen"
		if voice == "slt" || voice == "rms" {
			group = "seen"
		}
		groups[group] = append(groups[group], list...)
		groups["voice "+voice] = list
	}
	for name, list := range groups {
		printSweep(t, name, list)
	}
}

func printSweep(t *testing.T, name string, list []Heard) {
	t.Helper()
	curves, err := Sweep(list, trained)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range curves {
		at10, _ := c.DeadAirAt(0.1)
		t.Logf("%-24s %-9s of %3d: cut off at 600 ms of dead air %5.1f %%; dead air at 10 %% cut off %4d ms", name, c.Policy, len(list),
			100*c.CutOffsAt(600*time.Millisecond), at10.Milliseconds())
		for _, p := range c.Points {
			if p.Silence == 600*time.Millisecond {
				t.Logf("%-24s %-9s at 600 ms: cut off %5.1f %%, dead air mean %4d median %4d ms, never %d", name, c.Policy, 100*p.CutOffs, p.DeadAir.Milliseconds(), p.Median.Milliseconds(), p.Never)
			}
		}
	}
}
