package cli

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/audio"
)

var answeredAfter = regexp.MustCompile(`after ([0-9.]+) s from the last word`)

// TestTimelineAgreesWithTheSound: what the timeline says of an answer's latency is the silence
// that can be heard in the recording of both sides. A recognizer tells the end of a word within
// some 50 ms.
func TestTimelineAgreesWithTheSound(t *testing.T) {
	dir := t.TempDir()
	mix, trace := filepath.Join(dir, "mix.wav"), filepath.Join(dir, "call.jsonl")
	_, stderr, status := run(t, "", "call", "--agent", "../../examples/flights", "--today", "2026-03-02",
		"--say", "I want to book a flight", "--say", "from Boston", "--say", "to Denver", "--mix", mix, "--trace", trace)
	for _, missing := range lacking {
		if strings.Contains(stderr, missing) {
			t.Skip(stderr)
		}
	}
	if status != statusOK {
		t.Fatalf("exit status %d: %s", status, stderr)
	}
	var said []float64
	for _, m := range answeredAfter.FindAllStringSubmatch(output(t, "", "replay", "--timeline", trace), -1) {
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		said = append(said, v)
	}
	heard := silences(t, mix)
	if len(said) != 3 || len(heard) != 3 {
		t.Fatalf("the timeline says %v, and the recording has %v: expected three answers", said, heard)
	}
	for i := range said {
		if math.Abs(said[i]-heard[i]) > 0.1 {
			t.Errorf("answer %d: the timeline says %.3f s, and %.3f s are heard", i+1, said[i], heard[i])
		}
	}
}

// silences returns, for each stretch of speech on the left of a recording, the time from its end
// to the next sound on the right.
func silences(t *testing.T, path string) []float64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := audio.NewWAVReader(f, audio.WAVReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	piece := r.Format().Rate / 100 // 10 ms
	var sound [2][]bool
	for buffer := make([]int16, 2*piece); ; {
		n, err := r.Read(buffer)
		if n < len(buffer) || err != nil {
			break
		}
		for side := range sound {
			one := make([]int16, 0, piece)
			for i := side; i < n; i += 2 {
				one = append(one, buffer[i])
			}
			sound[side] = append(sound[side], audio.RMS(one) > 0.002)
		}
	}
	var out []float64
	quiet := 0
	for i, on := range sound[0] {
		switch {
		case on:
			quiet = 1
		case quiet > 0:
			if quiet++; sound[1][i] {
				out = append(out, float64(quiet-1)/100)
				quiet = 0
			}
		}
	}
	return out
}
