//go:build pocketsphinx && cgo

package provider_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/provider/pocketsphinx"
)

func TestPocketsphinxKeepsThePortsRules(t *testing.T) {
	pcm, text := phrase(t)
	porttest.TestRecognizer(t, func(t *testing.T) port.Recognizer {
		r, err := pocketsphinx.New(pocketsphinx.Options{})
		if err != nil {
			t.Skip(err) // the model is not installed
		}
		t.Cleanup(func() {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		})
		return r
	}, porttest.RecognizerCapabilities{Language: "en", Speech: pcm, Text: text})
}

// phrase returns a recorded sentence at 16 kHz, with silence before and after it, and
// its words.
func phrase(t *testing.T) (pcm []int16, text string) {
	t.Helper()
	path := filepath.Join("..", "..", "shared", "data", "vap-phrases", "audio", "student_short_female_en-US-Wavenet-C.wav")
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the recordings are not here: shared/data/vap-phrases is a folder beside the repository")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := audio.NewWAVReader(f, audio.WAVReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if pcm, err = w.ReadAllMono(0); err != nil {
		t.Fatal(err)
	}
	if pcm, err = audio.Resample(pcm, w.Format().Rate, pocketsphinx.Rate); err != nil {
		t.Fatal(err)
	}
	around := func(ms int) []int16 { return make([]int16, pocketsphinx.Rate/1000*ms) }
	return append(append(around(400), pcm...), around(600)...), "are you a student"
}
