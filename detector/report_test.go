package detector_test

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hocketvoice/hocket/detector/energy"
	"github.com/hocketvoice/hocket/detector/silero"
	"github.com/hocketvoice/hocket/port"
)

// The thresholds of seed 002 (decision tree: "Is user speaking?" and SPEAK).
const (
	speaking  = 0.7
	silence   = 0.3
	interrupt = 0.6
)

const frame = 320 // samples of 20 ms

// detectors returns the detectors that can run on this machine.
func detectors(t testing.TB) []port.Detector {
	t.Helper()
	e, err := energy.New(energy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := []port.Detector{e}
	path := os.Getenv("HOCKET_SILERO")
	if path == "" {
		path = filepath.Join("..", "third_party", "silero_vad_v6.onnx")
	}
	s, err := silero.New(silero.Options{Path: path})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// TestReport skips silero's half.
	case err != nil:
		t.Fatal(err)
	default:
		out = append(out, s)
	}
	return out
}

// counts contains the results of a detector for some recordings, in frames of 20 ms.
// Each frame is judged with the sound up to its end; the results are not shifted to
// compensate for a detector's delay.
type counts struct {
	speech, found       int // frames of speech, and those while the detector says "speaking"
	settled, settledHit int // the same without the first 100 ms of each stretch
	other, alarms       int // frames without speech (and not 300 ms after it), and those said to be speech
	interrupts          int // of other, with a probability above the threshold of barge-in
	unquiet             int // of other, with one that is not below the threshold of silence
	clips, clipAlarms   int // recordings, and those with any alarm
	onset, offset       []float64
	stretches, missed   int
}

// run feeds one recording and adds the results. "Speaking" begins above the upper
// threshold and ends below the lower one.
func (c *counts) run(t testing.TB, d port.Detector, r recording) {
	t.Helper()
	s, err := d.Open()
	if err != nil {
		t.Fatal(err)
	}
	var on []bool
	now, alarmed := false, false
	for at := 0; at+frame <= len(r.pcm); at += frame {
		p := s.Write(r.pcm[at : at+frame])
		if math.IsNaN(p) || p < 0 || p > 1 {
			t.Fatalf("%s on %s: probability %v, expected 0 to 1", d.Name(), r.name, p)
		}
		now = p > speaking || now && p >= silence
		on = append(on, now)
		middle := float64(at+frame/2) / rate
		switch since, inside := place(r.speech, middle); {
		case inside:
			c.speech++
			count(&c.found, now)
			if since >= 0.1 {
				c.settled++
				count(&c.settledHit, now)
			}
		case since > 0.3:
			c.other++
			count(&c.alarms, now)
			count(&c.interrupts, p > interrupt)
			count(&c.unquiet, p >= silence)
			alarmed = alarmed || now
		}
	}
	c.clips++
	count(&c.clipAlarms, alarmed)
	c.delays(r.speech, on)
}

func count(n *int, yes bool) {
	if yes {
		*n++
	}
}

// place reports whether a position is within speech, and its distance from the last
// border in seconds.
func place(speech []span, at float64) (since float64, inside bool) {
	since = math.Inf(1)
	for _, s := range speech {
		if at >= s.from && at < s.to {
			return at - s.from, true
		}
		if at >= s.to {
			since = at - s.to
		}
	}
	return since, false
}

// delays measures, in milliseconds, how long after the start of a period "speaking"
// begins, and how long after its end it ends.
func (c *counts) delays(speech []span, on []bool) {
	index := func(seconds float64) int { return min(int(seconds*50), len(on)) }
	for i, s := range speech {
		from, to := index(s.from), index(s.to)
		c.stretches++
		hit := slices.Index(on[from:to], true)
		if hit < 0 {
			c.missed++
			continue
		}
		if from > 0 && !on[from-1] { // else it was still on from before
			c.onset = append(c.onset, float64(from+hit+1)*20-s.from*1000)
		}
		next := len(on)
		if i+1 < len(speech) {
			next = index(speech[i+1].from)
		}
		if gone := slices.Index(on[to:next], false); gone >= 0 {
			c.offset = append(c.offset, float64(to+gone+1)*20-s.to*1000)
		}
	}
}

func (c *counts) recall() float64        { return ratio(c.found, c.speech) }
func (c *counts) settledRecall() float64 { return ratio(c.settledHit, c.settled) }
func (c *counts) falseAlarms() float64   { return ratio(c.alarms, c.other) }

func ratio(a, b int) float64 {
	if b == 0 {
		return math.NaN()
	}
	return float64(a) / float64(b)
}

func percentile(v []float64, p int) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(v))
	return s[(len(s)-1)*p/100]
}

// condition is a row of the table.
type condition struct {
	name string
	recs []recording
}

func speechConditions(t testing.TB) []condition {
	clean := phrases(t, phraseStep)
	each := func(change func(recording) recording) []recording {
		var out []recording
		for _, r := range clean {
			out = append(out, change(r))
		}
		return out
	}
	at := func(level float64) []recording {
		return each(func(r recording) recording { return r.scaled(level - dbfs(r.pcm)).with(hiss(rate, -75)) })
	}
	rain, sea := noises(t, "rain")[0], noises(t, "sea_waves")[0]
	in := func(n recording, snr float64) []recording {
		return each(func(r recording) recording { return r.with(n.scaled(dbfs(r.pcm) - snr - dbfs(n.pcm)).pcm) })
	}
	return []condition{
		{"phrases, digital silence", clean},
		{"phrases, hiss -60 dBFS", each(func(r recording) recording { return r.with(hiss(rate, -60)) })},
		{"phrases at -6 dBFS", at(-6)},
		{"phrases at -26 dBFS", at(-26)},
		{"phrases at -40 dBFS", at(-40)},
		{"phrases in rain, 20 dB", in(rain, 20)},
		{"phrases in rain, 10 dB", in(rain, 10)},
		{"phrases in sea, 10 dB", in(sea, 10)},
		{"meetings", meetings(t)},
	}
}

var noiseClasses = []string{
	"rain", "sea_waves", "clock_tick", "fire_crackling", "helicopter", "chainsaw",
	"person_sneeze", "dog_bark", "rooster", "baby_cry",
}

// TestReport prints the results of each detector (go test -v). It asserts only the
// minimum needed for calls; the numbers are in the log.
func TestReport(t *testing.T) {
	if testing.Short() {
		t.Skip("the report takes some seconds")
	}
	all := detectors(t)
	measure := func(d port.Detector, recs []recording) *counts {
		k := &counts{}
		for _, r := range recs {
			k.run(t, d, r)
		}
		return k
	}

	t.Logf("%-25s %-7s %7s %8s %7s %7s %11s %11s", "speech", "by", "recall", "settled", "alarms", "missed", "onset ms", "offset ms")
	for _, c := range speechConditions(t) {
		for _, d := range all {
			k := measure(d, c.recs)
			t.Logf("%-25s %-7s %7.3f %8.3f %7.3f %3d/%3d %5.0f %5.0f %5.0f %5.0f", c.name, d.Name(), k.recall(), k.settledRecall(), k.falseAlarms(),
				k.missed, k.stretches, percentile(k.onset, 50), percentile(k.onset, 90), percentile(k.offset, 50), percentile(k.offset, 90))
			checkSpeech(t, c.name, d.Name(), k)
		}
	}
	t.Logf("%-25s %-7s %7s %8s %8s %7s", "noise", "by", "alarms", "p > 0.6", "p >= 0.3", "clips")
	for _, class := range noiseClasses {
		recs := noises(t, class)
		for _, d := range all {
			k := measure(d, recs)
			t.Logf("%-25s %-7s %7.3f %8.3f %8.3f %3d/%3d", class, d.Name(), k.falseAlarms(), ratio(k.interrupts, k.other), ratio(k.unquiet, k.other), k.clipAlarms, k.clips)
			checkNoise(t, class, d.Name(), k)
		}
	}
	t.Run("silero", func(t *testing.T) {
		if len(all) == 1 {
			t.Skip("half of the report is missing, the weights are not installed: put silero_vad_v6.onnx into third_party, or name it in HOCKET_SILERO")
		}
	})
}

// leastRecall is the minimum share of speech to be detected in each condition.
var leastRecall = map[string]map[string]float64{
	"silero": {
		"phrases, digital silence": 0.95, "phrases, hiss -60 dBFS": 0.95,
		"phrases at -6 dBFS": 0.95, "phrases at -26 dBFS": 0.95, "phrases at -40 dBFS": 0.94,
		"phrases in rain, 20 dB": 0.94, "phrases in rain, 10 dB": 0.92, "phrases in sea, 10 dB": 0.92,
		"meetings": 0.6,
	},
	"energy": {
		"phrases, digital silence": 0.93, "phrases, hiss -60 dBFS": 0.93,
		"phrases at -6 dBFS": 0.93, "phrases at -26 dBFS": 0.93, "phrases at -40 dBFS": 0.92,
		"phrases in rain, 20 dB": 0.88, "phrases in rain, 10 dB": 0.6, "phrases in sea, 10 dB": 0.7,
		"meetings": 0.6,
	},
}

func checkSpeech(t *testing.T, condition, detector string, k *counts) {
	t.Helper()
	least, ok := leastRecall[detector][condition]
	if !ok {
		t.Errorf("%s, %s: no recall is stated for this condition", condition, detector)
	}
	if !(k.recall() >= least) {
		t.Errorf("%s, %s: recall is %.3f, expected %.2f or more", condition, detector, k.recall(), least)
	}
	if condition == "meetings" {
		// Distant voices, laughter and overlap, labeled by hand: delays and alarms
		// are not asserted here.
		return
	}
	if !(percentile(k.onset, 50) <= 120) {
		t.Errorf("%s, %s: half of the onsets come later than %.0f ms, expected 120 or less", condition, detector, percentile(k.onset, 50))
	}
	if k.missed > 0 || k.falseAlarms() > 0.01 {
		t.Errorf("%s, %s: %d stretches missed and %.3f of the pauses called speech, expected none and 0.01 or less", condition, detector, k.missed, k.falseAlarms())
	}
}

// mostAlarms is the maximum share of noise without a voice that may count as
// speech. The energy detector has no limit for loud and periodic noise (fire,
// engines, animals), which it takes for speech.
var mostAlarms = map[string]map[string]float64{
	"silero": {
		"rain": 0.01, "sea_waves": 0.01, "clock_tick": 0.02, "fire_crackling": 0.01, "helicopter": 0.02,
		"chainsaw": 0.02, "person_sneeze": 0.05, "dog_bark": 0.05, "rooster": 0.02, "baby_cry": 0.08,
	},
	"energy": {"rain": 0.02, "sea_waves": 0.02, "helicopter": 0.03, "clock_tick": 0.1},
}

func checkNoise(t *testing.T, class, detector string, k *counts) {
	t.Helper()
	if most, ok := mostAlarms[detector][class]; ok && !(k.falseAlarms() <= most) {
		t.Errorf("%s, %s: %.3f of the frames are called speech, expected %.2f or less", class, detector, k.falseAlarms(), most)
	}
}
