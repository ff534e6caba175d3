package detector_test

import (
	"bufio"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hocketvoice/hocket/audio"
)

// rate is the sampling rate of all recordings after they were read.
const rate = 16000

// span is a section of speech, in seconds.
type span struct{ from, to float64 }

// recording is a sound with the sections that contain speech.
type recording struct {
	name   string
	pcm    []int16
	speech []span
}

// sharedData returns a folder of recordings, or skips the test.
func sharedData(t testing.TB, folder string) string {
	t.Helper()
	path := filepath.Join("..", "..", "shared", "data", folder)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the recordings are not here: %s is a folder beside the repository", filepath.Join("shared", "data", folder))
	}
	return path
}

// readWAV reads a recording as mono sound and converts it to rate.
func readWAV(t testing.TB, path string) []int16 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := audio.NewWAVReader(f, audio.WAVReaderOptions{})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	pcm, err := r.ReadAllMono(0)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return resample(pcm, r.Format().Rate)
}

// resample converts the rate with a windowed sinc; it is slow, but sufficient for a
// test.
func resample(in []int16, from int) []int16 {
	if from == rate {
		return in
	}
	const reach = 24
	scale := min(1, float64(rate)/float64(from)) * 0.94
	out := make([]int16, len(in)*rate/from)
	for i := range out {
		at := float64(i) * float64(from) / rate
		sum := 0.0
		for k := int(at) - reach; k <= int(at)+reach; k++ {
			if k < 0 || k >= len(in) {
				continue
			}
			x := at - float64(k)
			w := 0.5 + 0.5*math.Cos(math.Pi*x/(reach+1))
			sum += float64(in[k]) * scale * sinc(scale*x) * w
		}
		out[i] = clip(sum)
	}
	return out
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

func clip(v float64) int16 { return int16(max(-32768, min(32767, math.Round(v)))) }

// phrases reads every step-th of the synthetic questions, each with a second of faint
// noise before and after it.
func phrases(t testing.TB, step int) []recording {
	dir := sharedData(t, "vap-phrases")
	files, err := filepath.Glob(filepath.Join(dir, "audio", "*.wav"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no phrases in %s: %v", dir, err)
	}
	var out []recording
	for i := 0; i < len(files); i += step {
		name := strings.TrimSuffix(filepath.Base(files[i]), ".wav")
		r := recording{
			name:   name,
			pcm:    readWAV(t, files[i]),
			speech: readTextGrid(t, filepath.Join(dir, "alignment", name+".TextGrid")),
		}
		out = append(out, r.padded(1))
	}
	return out
}

// padded adds seconds of silence before and after the recording.
func (r recording) padded(seconds float64) recording {
	n := int(seconds * rate)
	pcm := make([]int16, n+len(r.pcm)+n)
	copy(pcm[n:], r.pcm)
	r.pcm = pcm
	var speech []span
	for _, s := range r.speech {
		speech = append(speech, span{s.from + seconds, s.to + seconds})
	}
	r.speech = speech
	return r
}

// scaled changes the level by decibels.
func (r recording) scaled(db float64) recording {
	gain := math.Pow(10, db/20)
	pcm := make([]int16, len(r.pcm))
	for i, v := range r.pcm {
		pcm[i] = clip(float64(v) * gain)
	}
	r.pcm = pcm
	return r
}

// with adds noise, repeated as needed.
func (r recording) with(noise []int16) recording {
	pcm := make([]int16, len(r.pcm))
	for i, v := range r.pcm {
		pcm[i] = clip(float64(v) + float64(noise[i%len(noise)]))
	}
	r.pcm = pcm
	return r
}

// hiss returns white noise with a level in dBFS, the same in every run.
func hiss(n int, dbfs float64) []int16 {
	amplitude := math.Pow(10, dbfs/20) * 32768 * math.Sqrt(3)
	out := make([]int16, n)
	seed := uint32(1)
	for i := range out {
		seed = seed*1664525 + 1013904223
		out[i] = clip((float64(seed)/(1<<31) - 1) * amplitude)
	}
	return out
}

// dbfs returns the level of the loudest frames (the 90th percentile).
func dbfs(pcm []int16) float64 {
	var levels []float64
	for at := 0; at+320 <= len(pcm); at += 320 {
		sum := 1e-9
		for _, v := range pcm[at : at+320] {
			sum += float64(v) * float64(v)
		}
		levels = append(levels, 10*math.Log10(sum/320)-20*math.Log10(32768))
	}
	return percentile(levels, 90)
}

// readTextGrid returns the words of a Praat TextGrid by the Montreal Forced Aligner, as
// one span for each section without a gap.
func readTextGrid(t testing.TB, path string) []span {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var (
		spans []span
		s     span
		words bool
	)
	for sc := bufio.NewScanner(f); sc.Scan(); {
		key, value, ok := strings.Cut(strings.TrimSpace(sc.Text()), " = ")
		if !ok {
			continue
		}
		value = strings.Trim(strings.TrimSpace(value), `"`)
		switch key {
		case "name":
			words = value == "words"
		case "xmin":
			s.from, _ = strconv.ParseFloat(value, 64)
		case "xmax":
			s.to, _ = strconv.ParseFloat(value, 64)
		case "text":
			if words && value != "" {
				spans = addSpan(spans, s)
			}
		}
	}
	if len(spans) == 0 {
		t.Fatalf("%s: no words", path)
	}
	return spans
}

// meetings reads the excerpts of meetings.
func meetings(t testing.TB) []recording {
	dir := sharedData(t, "pyannote-ami-excerpts")
	data, err := os.ReadFile(filepath.Join(dir, "train.rttm"))
	if err != nil {
		t.Fatal(err)
	}
	var out []recording
	for line := range strings.Lines(string(data)) {
		f := strings.Fields(line)
		if len(f) < 5 || f[0] != "SPEAKER" {
			continue
		}
		from, err1 := strconv.ParseFloat(f[3], 64)
		length, err2 := strconv.ParseFloat(f[4], 64)
		if err1 != nil || err2 != nil {
			t.Fatalf("train.rttm: %q: expected numbers", line)
		}
		if len(out) == 0 || out[len(out)-1].name != f[1] {
			out = append(out, recording{name: f[1], pcm: readWAV(t, filepath.Join(dir, f[1]+".wav"))})
		}
		r := &out[len(out)-1]
		r.speech = addSpan(r.speech, span{from, from + length})
	}
	return out
}

// addSpan appends a span that starts no earlier than the last one, and merges adjacent
// spans.
func addSpan(spans []span, s span) []span {
	if n := len(spans); n > 0 && s.from <= spans[n-1].to+1e-6 {
		spans[n-1].to = max(spans[n-1].to, s.to)
		return spans
	}
	return append(spans, s)
}

// noises reads the clips of one class.
func noises(t testing.TB, class string) []recording {
	dir := filepath.Join(sharedData(t, "esc10-noise"), class)
	files, err := filepath.Glob(filepath.Join(dir, "*.wav"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no clips in %s: %v", dir, err)
	}
	var out []recording
	for _, f := range files {
		out = append(out, recording{name: class, pcm: readWAV(t, f)})
	}
	return out
}
