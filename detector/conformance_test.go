package detector_test

import (
	"path/filepath"
	"testing"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/detector/energy"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// aPhrase returns a recording of speech at the given rate, or nil if there are no
// recordings; the rule that needs one is then skipped.
func aPhrase(t *testing.T, to int) []int16 {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "shared", "data", "vap-phrases", "audio", "*.wav"))
	if err != nil || len(files) == 0 {
		return nil
	}
	pcm, err := audio.Resample(readWAV(t, files[0]), rate, to)
	if err != nil {
		t.Fatal(err)
	}
	return pcm
}

func TestEnergyKeepsThePortsRules(t *testing.T) {
	for _, rate := range []int{8000, 16000, 48000} {
		porttest.TestDetector(t, func(t *testing.T) port.Detector {
			d, err := energy.New(energy.Options{Rate: rate})
			if err != nil {
				t.Fatal(err)
			}
			return d
		}, porttest.DetectorCapabilities{Speech: aPhrase(t, rate)})
	}
}

func TestSileroKeepsThePortsRules(t *testing.T) {
	for _, d := range detectors(t) {
		if d.Name() != "silero" {
			continue
		}
		porttest.TestDetector(t, func(*testing.T) port.Detector { return d },
			porttest.DetectorCapabilities{Speech: aPhrase(t, d.Rate())})
		return
	}
	t.Skip("the weights are not installed: put silero_vad_v6.onnx into third_party, or name it in HOCKET_SILERO")
}
