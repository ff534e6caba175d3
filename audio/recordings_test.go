package audio

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// openRecording opens a file of the recordings, which are not part of the
// repository. It skips the test if there are none.
func openRecording(t *testing.T, file string) *WAVReader {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "shared", "data", filepath.FromSlash(file)))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("the recordings are not here: they belong into shared/data beside the repository")
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	w, err := NewWAVReader(f, WAVReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// recording reads a whole recording.
func recording(t *testing.T, file string, rate int) []int16 {
	t.Helper()
	w := openRecording(t, file)
	pcm, err := readAll(w.ReadMono, 4096)
	if err != nil || w.Format().Rate != rate {
		t.Fatalf("%s has a rate of %d Hz, want %d; %v", file, w.Format().Rate, rate, err)
	}
	return pcm
}

// A recording of each kind that hocket's tests use.
func TestWAVRecordings(t *testing.T) {
	for _, c := range []struct {
		file     string
		rate     int
		duration time.Duration
	}{
		{"fsdd-digits-8k/recordings/0_george_0.wav", 8000, 298 * time.Millisecond},
		{"tau2-voice/dog_bark.wav", 16000, 3509062500 * time.Nanosecond},
		{"esc10-noise/rain/1-17367-A.wav", 16000, 5001 * time.Millisecond},
		{"pyannote-ami-excerpts/trn00.wav", 16000, 30*time.Second + 62500*time.Nanosecond},
		{"misc-audio/personaplex_input_service.wav", 24000, 20 * time.Second},
		{"misc-audio/silero_test_60s.wav", 16000, 60 * time.Second},
		{"vap-phrases/audio/experiment_short_male_en-US-Wavenet-A.wav", 24000, 3096250 * time.Microsecond},
	} {
		t.Run(c.file, func(t *testing.T) {
			w := openRecording(t, c.file)
			if want := (WAVFormat{WAVPCM, c.rate, 1, 16}); w.Format() != want {
				t.Errorf("the format is %+v, want %+v", w.Format(), want)
			}
			pcm, err := readAll(w.Read, FrameSamples(c.rate))
			if err != nil {
				t.Fatal(err)
			}
			if n, known := w.Length(); !known || int(n) != len(pcm) {
				t.Errorf("%d samples, and the header says %d (known: %v)", len(pcm), n, known)
			}
			if got := Pos(len(pcm)).Duration(c.rate); got != c.duration {
				t.Errorf("it lasts %v, want %v", got, c.duration)
			}
			if level := DBFS(RMS(pcm)); level < -60 || level > -3 || Peak(pcm) < 0.05 {
				t.Errorf("its level is %.1f dBFS with a peak of %.3f: expected a recording", level, Peak(pcm))
			}

			// The rate and law of telephony must have the expected effect: mu-law
			// has about 35 dB, less for quiet sound.
			phone, err := Resample(pcm, c.rate, G711Rate)
			if err != nil {
				t.Fatal(err)
			}
			want := make([]float64, len(phone))
			for i, s := range phone {
				want[i] = float64(s) / fullScale
			}
			decoded := MuLaw.AppendDecode(nil, MuLaw.AppendEncode(nil, phone))
			if got := snr(decoded, want); got < 25 {
				t.Errorf("%.1f dB of signal over noise after mu-law, want 25", got)
			}
		})
	}
}
