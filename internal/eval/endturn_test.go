//go:build pocketsphinx && flite && silero_embed && cgo

package eval

import (
	"os"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/detector/silero"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/provider/flite"
	"github.com/hocketvoice/hocket/provider/pocketsphinx"
	"github.com/hocketvoice/hocket/turn"
)

// evaluate skips the test unless HOCKET_EVAL is set, since it takes minutes.
func evaluate(t *testing.T) {
	t.Helper()
	if os.Getenv("HOCKET_EVAL") == "" {
		t.Skip("set HOCKET_EVAL=1 to measure")
	}
}

func services(t *testing.T) Services {
	t.Helper()
	voice, err := flite.New(flite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ears, err := pocketsphinx.New(pocketsphinx.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ears.Close() })
	d, err := silero.New(silero.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return Services{Recognizer: ears, Synthesizer: voice, Detector: d, Onset: settings.Options{}.Trained().Onset}
}

// trained sets the thresholds of a call with a trained detector.
func trained(o turn.Options) turn.Options { return settings.Options{Turn: o}.Trained().Turn }

// TestEvalEndOfTurn prints cut-offs against dead air.
func TestEvalEndOfTurn(t *testing.T) {
	evaluate(t)
	s := services(t)
	byVoice := map[string][]Heard{}
	var all []Heard
	for i, voice := range flite.Voices() {
		for seed := range uint64(2) {
			answers, err := Say(t.Context(), s, voice, uint64(i)*10+seed)
			if err != nil {
				t.Fatal(err)
			}
			heard, err := Listen(t.Context(), s, answers)
			if err != nil {
				t.Fatal(err)
			}
			byVoice[voice] = append(byVoice[voice], heard...)
			all = append(all, heard...)
		}
	}
	show := func(name string, o turn.Options, list []Heard) {
		f, err := Sum(trained(o), list)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%-26s cut %3d of %3d (%4.1f %%), never %d; dead air median %4d, mean %4d ms; %d complete: median %4d ms", name, f.Cut, f.N, 100*float64(f.Cut)/float64(f.N), f.Never, f.Median.Milliseconds(), f.Mean.Milliseconds(), f.Complete, f.CompleteDeadAir.Milliseconds())
	}
	for _, policy := range []string{"timer", "easyturn", "auto"} {
		for _, ms := range []int{200, 300, 400, 500, 600, 700, 800, 1000, 1200} {
			silence := time.Duration(ms) * time.Millisecond
			show(policy+" "+silence.String(), Policies(silence)[policy], all)
		}
	}
	show("easyturn as it is", turn.Options{Policy: turn.PolicyEasyTurn}, all)
	show("auto as it is", turn.Options{}, all)
	for _, voice := range flite.Voices() {
		show("auto as it is, "+voice, turn.Options{}, byVoice[voice])
	}
	for _, h := range byVoice["slt"] {
		e, _ := Decide(trained(turn.Options{}), h)
		last := ""
		if n := len(h.frames); n > 0 {
			last = h.frames[n-1].linguistic.Text
		}
		t.Logf("%-8s %-40q heard %-36q %+v", h.Slot, h.Want, last, e)
	}
}
