//go:build flite && pocketsphinx && cgo

package app

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/eval"
	"github.com/hocketvoice/hocket/session"
)

// cutAgent is an agent that talks at length and that every sound stops; there is no echo.
var cutAgent = strings.Replace(eval.Talker, "settings:\n", `settings:
  min_confidence: 0.7
  barge_in: {policy: energy}
  filter: {echo_level: off}
`, 1)

// TestEarsFalseStops checks that a reply continues where it was after a meaningless sound has
// stopped the agent. The policy energy stops the agent for every sound.
func TestEarsFalseStops(t *testing.T) {
	if raceDetector {
		t.Skip("most of it is decoding, three times as slow with the race detector")
	}
	n := 6
	if os.Getenv("HOCKET_LONG") != "" {
		n = 60
	}
	dir := t.TempDir()
	agent := filepath.Join(dir, "agent.yaml")
	if err := os.WriteFile(agent, []byte(cutAgent), 0o600); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(14, 2))
	kinds := []string{"cough", "noise", "okay", "uh huh", "doubtful words", "yeah"}
	stops, on := map[string]int{}, map[string]int{}
	for i := range n {
		kind := kinds[i%len(kinds)]
		line := CallerLine{Text: kind, BargeIn: time.Duration(1000+rng.IntN(5000)) * time.Millisecond}
		switch kind {
		case "cough":
			line = CallerLine{File: burst(t, dir, i, rng, 250*time.Millisecond), BargeIn: line.BargeIn}
		case "noise":
			line = CallerLine{File: burst(t, dir, i, rng, 900*time.Millisecond), BargeIn: line.BargeIn}
		case "doubtful words":
			line.Text = []string{"table salt", "the purple monkey", "seven of hearts", "rather windy"}[rng.IntN(4)]
		}
		var turns []session.Spoken
		_, err := Call(t.Context(), CallOptions{
			Agent: agent, Lines: []CallerLine{line}, Day: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC),
			Said: func(s session.Spoken) { turns = append(turns, s) },
		})
		if err != nil {
			t.Fatal(err)
		}
		stopped, went := goesOn(turns)
		if !stopped {
			continue // the detector did not take the sound for a voice
		}
		stops[kind]++
		if went {
			on[kind]++
			continue
		}
		for _, s := range turns {
			t.Logf("call %d, %s %q at %v: %s %s %s: %q", i, kind, line.Text, line.BargeIn, s.Role, s.Kind, s.Outcome, s.Text)
		}
	}
	all, gone := 0, 0
	for _, kind := range kinds {
		t.Logf("%s: %d of %d replies continued", kind, on[kind], stops[kind])
		all, gone = all+stops[kind], gone+on[kind]
	}
	t.Logf("%d of %d replies continued", gone, all)
	if all < n/2 {
		t.Errorf("only %d of %d sounds stopped the agent", all, n)
	}
	if float64(gone) < 0.9*float64(all) {
		t.Errorf("%d of %d replies continued, expected 90 %%", gone, all)
	}
}

// goesOn reports whether a turn of the agent was cut off, and whether the next one said the
// rest.
func goesOn(turns []session.Spoken) (stopped, went bool) {
	for i, s := range turns {
		if s.Role != conv.RoleAgent || s.Outcome != conv.TurnInterrupted {
			continue
		}
		next := i + 1
		if next == len(turns) || turns[next].Role != conv.RoleAgent || turns[next].Kind != conv.ReplyResumed {
			return true, false
		}
		stopped = true
		if turns[next].Outcome == conv.TurnCompleted {
			return true, strings.HasSuffix(turns[next].Text, strings.TrimSpace(s.Unheard))
		}
	}
	return stopped, false
}

// burst writes a noise with a sharp beginning to a file and returns its path.
func burst(t *testing.T, dir string, i int, rng *rand.Rand, length time.Duration) string {
	t.Helper()
	const rate = 16000
	pcm := make([]int16, int(length.Seconds()*rate))
	low := 0.0
	for i := range pcm {
		at := float64(i) / float64(len(pcm))
		low += 0.3 * (rng.NormFloat64() - low) // most of a cough is below 2 kHz
		pcm[i] = int16(math.Max(-32768, math.Min(32767, 9000*low*math.Min(1, 20*at)*(1-at))))
	}
	path := filepath.Join(dir, fmt.Sprintf("burst-%d.wav", i))
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := audio.NewWAVWriter(f, audio.WAVWriterOptions{Rate: rate})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(pcm); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}
