//go:build pocketsphinx && flite && silero_embed && cgo

package eval

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

// TestEarsRun evaluates a few sounds that no engine gets wrong, and sweeps over what it recorded.
func TestEarsRun(t *testing.T) {
	if raceDetector {
		t.Skip("most of it is decoding, three times as slow with the race detector")
	}
	s := services(t)
	dir := t.TempDir()
	save := func(name string, pcm []int16) {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		w, err := audio.NewWAVWriter(f, audio.WAVWriterOptions{Rate: Rate, Channels: 1})
		if err == nil {
			err = w.Write(pcm)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"wrong.wav": "no that is wrong, I want something else", "three.wav": "three", "boston.wav": "boston"} {
		pcm, err := speak(t.Context(), s.Synthesizer, "slt", text)
		if err != nil {
			t.Fatal(err)
		}
		save(name, pcm)
	}
	save("quiet.wav", pieces(rand.New(rand.NewPCG(1, 1)), nil, make([]int16, 2*Rate)))
	m, err := ParseManifest(filepath.Join(dir, ManifestName), []byte(`sets:
  - name: sounds
    kind: answer
    recordings:
      - {file: wrong.wav, kind: interruption, text: "no that is wrong, I want something else"}
      - {file: quiet.wav, kind: noise}
      - {file: three.wav, slot: digit, value: 3}
      - {file: boston.wav, slot: city, text: boston, speech: [[0, 9]], speaker: a}
`))
	if err != nil {
		t.Fatal(err)
	}
	var recorded bytes.Buffer
	o := Options{
		Manifest: m, Services: s, Detectors: []port.Detector{s.Detector}, Trained: true, Record: &recorded,
		Parts: []string{PartBargeIn, PartAnswers, PartEndpointing},
	}
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	values := func(r *Report) map[string]float64 {
		out := map[string]float64{}
		for _, f := range r.Figures {
			out[f.Name] = f.Values[Unseen].Value
		}
		return out
	}
	got := values(r)
	for name, want := range map[string]float64{
		"interruptions for which the agent stops": 100, "noises that stop the agent within 1 s": 0,
		"digit, clear voice: right": 100, "digit, clear voice: wrong one taken": 0,
		"answers to a slot, as shipped: cut off": 0, "answers to a slot, as shipped: not ended within 3 s": 0,
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s: %v, expected %v", name, v, want)
		}
	}
	deadAir := "answers to a slot, as shipped: dead air, median"
	if v := got[deadAir]; v < 200 || v > 1500 {
		t.Errorf("%s: %v ms, expected the silence of the policy", deadAir, v)
	}
	if got := values(r)["time to yield, median"]; got <= 0 || got > float64(2*time.Second/time.Millisecond) {
		t.Errorf("time to yield: %v ms", got)
	}
	o.Record, o.Recorded, o.Parts = nil, &recorded, []string{PartEndpointing}
	o.Services.Recognizer = nil // not needed
	again, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range values(again) {
		if got[name] != v {
			t.Errorf("%s: %v from the recorded frames, %v in the call", name, v, got[name])
		}
	}
}
