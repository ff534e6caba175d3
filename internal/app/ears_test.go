//go:build flite && pocketsphinx && cgo

package app

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/leg/file"
	"github.com/hocketvoice/hocket/session"
)

// The tests in this file hold seeded calls in virtual time, with the engines of a call, and count
// what the agent does about sounds while it speaks. A few of the calls belong to every test run;
// `make ears` holds all of them and prints the tables.

// shopAgent is an agent that talks at length.
const shopAgent = `settings:
  greeting: "Good morning, this is the bicycle shop in the market street. We repair bicycles of every kind, and we sell tyres, lamps and saddles. What can I do for you today?"
flows:
  shop:
    description: tell you more about the shop
    trigger: {intents: ["tell me more about the shop", "tell me more"]}
    steps:
      - {step: tell, type: say, message: "The shop was founded forty years ago by two sisters. They wanted everybody in the town to ride safely, also in the winter. Today we have four mechanics, a large store of spare parts, and a courtyard where children learn to ride. On Saturday mornings we show how to mend a flat tyre."}
`

// echoCall is one of the calls with the agent's echo in the microphone.
type echoCall struct {
	echo    file.Echo
	room    int // number of the room; 0: none
	ulaw    bool
	noise   []int16
	lines   []CallerLine
	voice   float64 // level of the caller's voice
	comment string
}

// heardCall is what happened in it.
type heardCall struct {
	selfStops int             // the agent stopped while nobody spoke
	selfTurns int             // turns of a user who said nothing, while the agent's voice may come back
	noise     int             // the same later: a noise
	yields    []time.Duration // from the caller's voice to the stop of the agent; negative: it did not stop
}

// shared returns the path of a file of the recordings beside the repository.
func shared(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "data", filepath.FromSlash(name))
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		t.Skip("the recordings are not here: shared/data is a folder beside the repository")
	}
	return path
}

func sharedSound(t testing.TB, name string) []int16 {
	t.Helper()
	pcm, err := readSound(shared(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return pcm
}

// room returns the impulse response of a room, its first 100 ms.
func room(t testing.TB, n int) []float64 {
	pcm := sharedSound(t, fmt.Sprintf("misc-audio/speechbrain_rir%d.wav", n))
	first := 0
	for i, s := range pcm {
		if math.Abs(float64(s)) > math.Abs(float64(pcm[first])) {
			first = i
		}
	}
	var taps []float64
	for _, s := range pcm[max(first-32, 0):min(first+1600, len(pcm))] {
		taps = append(taps, float64(s))
	}
	return taps
}

// echoCalls returns n seeded calls.
func echoCalls(t testing.TB, n int) []echoCall {
	phrases, err := filepath.Glob(shared(t, "vap-phrases/audio") + "/*_long_*.wav")
	if err != nil {
		t.Fatal(err)
	}
	noises := [][]int16{
		sharedSound(t, "esc10-noise/rain/1-17367-A.wav"), sharedSound(t, "esc10-noise/clock_tick/1-21934-A.wav"),
		sharedSound(t, "esc10-noise/sea_waves/1-28135-A.wav"), sharedSound(t, "esc10-noise/helicopter/1-172649-A.wav"),
	}
	rooms := [][]float64{nil, room(t, 1), room(t, 2), room(t, 3), room(t, 4)}
	rng := rand.New(rand.NewPCG(14, 1))
	texts := []string{"wait a moment please", "I want to ask you something", "stop that is enough", "no I need a new lamp", "how much is a new saddle"}
	between := func(low, high float64) float64 { return low + (high-low)*rng.Float64() }
	var calls []echoCall
	for range n {
		c := echoCall{room: rng.IntN(len(rooms)), ulaw: rng.IntN(2) == 0, voice: audio.FromDBFS(between(-6, 0))}
		db, delay := between(-40, -10), between(60, 400)
		c.echo = file.Echo{Gain: audio.FromDBFS(db) / c.voice, Delay: time.Duration(delay * float64(time.Millisecond)), Room: rooms[c.room]}
		noise, level := noises[rng.IntN(len(noises))], audio.FromDBFS(between(-70, -45))
		level /= max(audio.RMS(noise), 1e-3)
		for _, s := range noise {
			c.noise = append(c.noise, int16(math.Round(float64(s)*level)))
		}
		phrase := func() CallerLine {
			if rng.IntN(2) == 0 {
				return CallerLine{File: phrases[rng.IntN(len(phrases))]}
			}
			return CallerLine{Text: texts[rng.IntN(len(texts))]}
		}
		if rng.IntN(2) == 0 {
			p := phrase()
			p.BargeIn = time.Duration(between(800, 5000)) * time.Millisecond
			c.lines = append(c.lines, p)
		}
		c.lines = append(c.lines, CallerLine{Text: "tell me more about the shop"})
		p := phrase()
		p.BargeIn = time.Duration(between(1000, 9000)) * time.Millisecond
		c.lines = append(c.lines, p)
		c.comment = fmt.Sprintf("%.0f dB, %.0f ms, room %d, mu-law %v, caller %.0f dB", db, delay, c.room, c.ulaw, audio.DBFS(c.voice))
		calls = append(calls, c)
	}
	return calls
}

// hold holds the call with an agent and returns what happened.
func (c *echoCall) hold(t testing.TB, agent string) (h heardCall) {
	t.Helper()
	const frame = audio.FrameDuration
	var spoken []bool // for each frame, whether the caller spoke
	var pos int
	var stops []int // frames in which the caller began to speak over the agent, and the agent stopped
	var cuts []int
	sounding := false
	last := conv.Idle
	var turns []session.Spoken
	var began time.Time
	microphone := func(pcm []int16, speaking bool) {
		if speaking && (len(spoken) == 0 || !spoken[len(spoken)-1]) && sounding {
			stops = append(stops, len(spoken))
		}
		spoken = append(spoken, speaking)
		for i := range pcm {
			v := float64(pcm[i])*c.voice + float64(c.noise[pos%len(c.noise)])
			pcm[i] = int16(min(max(v, math.MinInt16), math.MaxInt16))
			pos++
		}
		if c.ulaw {
			for i := range pcm {
				pcm[i] = audio.MuLaw.Decode(audio.MuLaw.Encode(pcm[i]))
			}
		}
	}
	_, err := Call(t.Context(), CallOptions{
		Agent: agent, Lines: c.lines, Day: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC),
		Echo: c.echo, Microphone: microphone,
		Watch: func(s session.Step) {
			if began.IsZero() {
				began = s.Now
			}
			sounding = s.State.Audible()
			if s.State.Phase == conv.Interrupted && last != conv.Interrupted {
				cuts = append(cuts, int(s.Now.Sub(began)/frame))
			}
			last = s.State.Phase
		},
		Said: func(s session.Spoken) { turns = append(turns, s) },
	})
	if err != nil {
		t.Fatal(err)
	}
	spoke := func(from, to int) bool {
		from, to = min(max(from, 0), len(spoken)), min(max(to, 0), len(spoken))
		return from < to && slices.Contains(spoken[from:to], true)
	}
	for _, at := range cuts {
		if !spoke(at-75, at+1) {
			h.selfStops++
		}
	}
	var ended time.Time // of the agent's last turn
	for _, s := range turns {
		from, to := int(s.Start.Sub(began)/frame), int(s.End.Sub(began)/frame)
		if s.Role == conv.RoleAgent {
			ended = s.End
			continue
		}
		switch {
		case s.Text == "" || spoke(from-75, to):
		case s.Start.Sub(ended) > c.echo.Delay+300*time.Millisecond:
			h.noise++
		default:
			h.selfTurns++
		}
	}
	for _, from := range stops {
		yield := time.Duration(-1)
		for _, at := range cuts {
			if at >= from && at < from+100 {
				yield = time.Duration(at-from) * frame
				break
			}
		}
		h.yields = append(h.yields, yield)
	}
	return h
}

// TestEarsEcho: the agent hears its own voice, and neither stops for it nor answers it; it does
// stop for a caller who speaks over the echo.
func TestEarsEcho(t *testing.T) {
	if raceDetector {
		t.Skip("most of it is decoding, three times as slow with the race detector")
	}
	n := 4
	if os.Getenv("HOCKET_LONG") != "" {
		n = 200
	}
	agent := filepath.Join(t.TempDir(), "agent.yaml")
	if err := os.WriteFile(agent, []byte(shopAgent), 0o600); err != nil {
		t.Fatal(err)
	}
	var self, stopped, caught, noise int
	var yields []time.Duration
	for i, c := range echoCalls(t, n) {
		h := c.hold(t, agent)
		for _, y := range h.yields {
			if stopped++; y >= 0 {
				caught++
				yields = append(yields, y)
			}
		}
		noise += h.noise
		if h.selfStops+h.selfTurns > 0 {
			self++
		}
		if h.selfStops+h.selfTurns > 0 || slices.Contains(h.yields, -1) {
			t.Logf("call %d (%s): %d stops and %d turns of its own, yields %v", i, c.comment, h.selfStops, h.selfTurns, h.yields)
		}
	}
	slices.Sort(yields)
	if len(yields) == 0 {
		t.Fatal("no interruption was caught")
	}
	t.Logf("%d calls with an echo: %d interrupt themselves or answer their own words; %d of %d interruptions caught (%.1f %%), after %v (median), %v (90 %%); %d turns of noise",
		n, self, caught, stopped, 100*float64(caught)/float64(stopped), yields[len(yields)/2], yields[len(yields)*9/10], noise)
	if self > 0 {
		t.Errorf("%d of %d calls interrupt themselves", self, n)
	}
	if float64(caught) < 0.95*float64(stopped) {
		t.Errorf("%d of %d interruptions were caught", caught, stopped)
	}
}

// TestEarsBookingWithEcho: a spoken booking works to its end on a line on which the agent's voice
// comes back.
func TestEarsBookingWithEcho(t *testing.T) {
	if raceDetector {
		t.Skip("most of it is decoding, three times as slow with the race detector")
	}
	echo, err := file.ParseEcho("-15dB@200ms")
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	_, err = Call(t.Context(), CallOptions{
		Agent: "../../examples/flights", Echo: echo, Day: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC),
		Lines: []CallerLine{
			{Text: "I want to book a flight"}, {Text: "from Boston"}, {Text: "to Denver"}, {Text: "next friday"}, {Text: "yes"},
		},
		Said: func(s session.Spoken) {
			if s.Role == conv.RoleUser {
				said = append(said, s.Text)
			} else if s.Outcome != conv.TurnCompleted {
				t.Errorf("the agent was interrupted after %q", s.Text)
			} else if strings.HasPrefix(s.Text, "Your flight is booked.") {
				said = append(said, "booked")
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(said) != 6 || said[5] != "booked" {
		t.Errorf("the caller was heard to say %q: expected five answers and a booking", said)
	}
}
