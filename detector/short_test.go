package detector_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/port"
)

// answers are the recordings of short answers to an agent; the other recordings of
// the folder are noises.
var answers = []string{
	"check_order_12345", "hello", "help_me", "hi_how_are_you", "no", "order_status", "thank_you", "yes",
}

// TestShortAnswers checks that each short word is detected. It prints for each
// recording how long the probability exceeds the threshold of speech.
func TestShortAnswers(t *testing.T) {
	dir := sharedData(t, "tau2-voice")
	var recs []recording
	for _, name := range answers {
		recs = append(recs, recording{name: name, pcm: readWAV(t, filepath.Join(dir, name+".wav"))}.padded(1))
	}
	digits, err := filepath.Glob(filepath.Join(sharedData(t, "fsdd-digits-8k"), "recordings", "*.wav"))
	if err != nil || len(digits) == 0 {
		t.Fatalf("no recordings of digits: %v", err)
	}
	for _, file := range digits {
		name := "digit " + strings.TrimSuffix(filepath.Base(file), ".wav")
		recs = append(recs, recording{name: name, pcm: readWAV(t, file)}.padded(1))
	}
	// In frames. Some digits last a quarter of a second with little voicing.
	const least, leastDigit = 10, 1
	for _, d := range detectors(t) {
		missed := 0
		for _, r := range recs {
			heard := speakingFrames(t, d, r.pcm)
			digit := strings.HasPrefix(r.name, "digit ")
			if !digit {
				t.Logf("%-7s %-20s %3d of %d frames", d.Name(), r.name, heard, (len(r.pcm)-2*rate)/frame)
			}
			if !digit && heard < least || heard < leastDigit {
				missed++
				t.Logf("%-7s %s: hardly heard, %d frames", d.Name(), r.name, heard)
			}
		}
		t.Logf("%-7s %d of %d are hardly heard", d.Name(), missed, len(recs))
		if d.Name() == "silero" && missed > 0 {
			t.Errorf("silero: %d of %d short answers are hardly heard, expected none", missed, len(recs))
		}
	}
}

// speakingFrames counts the frames whose probability is above the threshold.
func speakingFrames(t *testing.T, d port.Detector, pcm []int16) int {
	t.Helper()
	s, err := d.Open()
	if err != nil {
		t.Fatal(err)
	}
	heard := 0
	for at := 0; at+frame <= len(pcm); at += frame {
		count(&heard, s.Write(pcm[at:at+frame]) > speaking)
	}
	return heard
}

// TestQuietAnswerAfterALoudSentence: a quiet caller who has spoken loudly before is heard as
// well as one who has not. The quietest speakers of the set answer with a digit.
func TestQuietAnswerAfterALoudSentence(t *testing.T) {
	digits, err := filepath.Glob(filepath.Join(sharedData(t, "fsdd-digits-8k"), "recordings", "*_theo_*.wav"))
	if err != nil || len(digits) == 0 {
		t.Fatalf("no recordings of digits: %v", err)
	}
	phrases, err := filepath.Glob(filepath.Join(sharedData(t, "vap-phrases"), "audio", "*.wav"))
	if err != nil || len(phrases) == 0 {
		t.Fatalf("no recordings of phrases: %v", err)
	}
	loud := readWAV(t, phrases[0])
	peak := 0
	for _, v := range loud {
		peak = max(peak, int(v), -int(v))
	}
	for i, v := range loud {
		loud[i] = int16(int(v) * 30000 / peak)
	}
	for _, d := range detectors(t) {
		if d.Name() != "silero" {
			continue
		}
		missed := 0
		for _, file := range digits {
			digit := slices.Concat(make([]int16, rate/2), readWAV(t, file), make([]int16, rate/2))
			sentence := slices.Concat(make([]int16, rate/2), loud, make([]int16, 2*rate))
			if speakingFrames(t, d, slices.Concat(sentence, digit))-speakingFrames(t, d, sentence) < 1 {
				missed++
			}
		}
		t.Logf("%d of %d are not heard", missed, len(digits))
		if missed > 0 {
			t.Errorf("%d of %d digits are not heard after a loud sentence, expected none", missed, len(digits))
		}
	}
}
