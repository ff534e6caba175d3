package eval

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/internal/settings"
	"github.com/hocketvoice/hocket/leg/file"
	"github.com/hocketvoice/hocket/session"
)

// This file measures what an agent does about its own voice in the caller's microphone: whether
// it stops for it or answers it, and whether it still stops for a caller who speaks over it.

// Talker is the file of an agent that talks at length.
const Talker = `settings:
  greeting: "Good morning, this is the bicycle shop in the market street. We repair bicycles of every kind, and we sell tyres, lamps and saddles. What can I do for you today?"
flows:
  shop:
    description: tell you more about the shop
    trigger: {intents: ["tell me more about the shop", "tell me more"]}
    steps:
      - {step: tell, type: say, message: "The shop was founded forty years ago by two sisters. They wanted everybody in the town to ride safely, also in the winter. Today we have four mechanics, a large store of spare parts, and a courtyard where children learn to ride. On Saturday mornings we show how to mend a flat tyre."}
`

// echoTexts are what a caller says over the agent in a synthetic voice.
var echoTexts = []string{
	"wait a moment please", "I want to ask you something", "stop that is enough", "no I need a new lamp", "how much is a new saddle",
}

// EchoData is the sound that calls with an echo are made of, at [Rate].
type EchoData struct {
	Phrases [][]int16   // what recorded callers say over the agent; may be empty
	Noises  [][]int16   // in the microphone; at least one
	Rooms   [][]float64 // impulse responses; may be empty
	Voice   string      // of the synthesizer, for what callers say that is not recorded
}

// EchoCall is a call with the agent's voice in the caller's microphone.
type EchoCall struct {
	Level   float64 // of the echo relative to the agent's voice, in decibels
	Delay   time.Duration
	Room    int     // index in [EchoData.Rooms] plus 1; 0 means none
	MuLaw   bool    // the microphone passes a telephone codec
	Caller  float64 // level of the caller relative to what was recorded or synthesized, in decibels
	Noise   float64 // level of the noise in the microphone, in dBFS
	noise   []int16
	room    []float64
	voice   string
	phrases []echoPhrase
}

// String describes the call.
func (c *EchoCall) String() string {
	return fmt.Sprintf("echo %.0f dB after %v, room %d, mu-law %v, caller %.0f dB, noise %.0f dBFS",
		c.Level, c.Delay.Round(time.Millisecond), c.Room, c.MuLaw, c.Caller, c.Noise)
}

// echoPhrase is what the caller says: a recording or a text.
type echoPhrase struct {
	pcm     []int16
	text    string
	bargeIn time.Duration
}

// EchoHeard is what happened in a call.
type EchoHeard struct {
	Stops  int             // times that the agent stopped while nobody spoke
	Turns  int             // turns of a caller who said nothing, while the agent's voice may come back
	Noise  int             // such turns at other times
	Yields []time.Duration // from the caller's voice over the agent to the agent's stop; negative: within 2 s it did not stop
}

// Own reports whether the agent interrupted itself or answered itself.
func (h *EchoHeard) Own() bool { return h.Stops+h.Turns > 0 }

// ReadEchoData reads the sound of the calls from a folder with the sets misc-audio, esc10-noise
// and vap-phrases.
func ReadEchoData(dir string) (EchoData, error) {
	var d EchoData
	phrases, err := filepath.Glob(filepath.Join(dir, "vap-phrases", "audio", "*_long_*.wav"))
	if err != nil {
		return d, fmt.Errorf("eval: %w", err)
	}
	for _, path := range phrases {
		pcm, err := readWAV(path)
		if err != nil {
			return d, err
		}
		d.Phrases = append(d.Phrases, pcm)
	}
	for _, name := range []string{"rain/1-17367-A.wav", "clock_tick/1-21934-A.wav", "sea_waves/1-28135-A.wav", "helicopter/1-172649-A.wav"} {
		pcm, err := readWAV(filepath.Join(dir, "esc10-noise", filepath.FromSlash(name)))
		if err != nil {
			return d, err
		}
		d.Noises = append(d.Noises, pcm)
	}
	for n := 1; n <= 4; n++ {
		pcm, err := readWAV(filepath.Join(dir, "misc-audio", fmt.Sprintf("speechbrain_rir%d.wav", n)))
		if err != nil {
			return d, err
		}
		d.Rooms = append(d.Rooms, response(pcm))
	}
	return d, nil
}

// response returns the first 100 ms of a recorded impulse response.
func response(pcm []int16) []float64 {
	first := 0
	for i, s := range pcm {
		if math.Abs(float64(s)) > math.Abs(float64(pcm[first])) {
			first = i
		}
	}
	var taps []float64
	for _, s := range pcm[max(first-Rate/500, 0):min(first+Rate/10, len(pcm))] {
		taps = append(taps, float64(s))
	}
	return taps
}

// EchoCalls returns n calls, the same ones for the same seed: an echo of -10 to -40 dB after 60
// to 400 ms, directly or through a room, half of them through mu-law, with noise at -45 to -70
// dBFS. The caller asks to hear more and speaks over the answer, in half of the calls over the
// greeting too.
func EchoCalls(d EchoData, seed uint64, n int) []EchoCall {
	rng := rand.New(rand.NewPCG(seed, 1))
	between := func(low, high float64) float64 { return low + (high-low)*rng.Float64() }
	phrase := func(from, to float64) echoPhrase {
		var p echoPhrase
		if rng.IntN(2) == 0 && len(d.Phrases) > 0 {
			p.pcm = d.Phrases[rng.IntN(len(d.Phrases))]
		} else {
			p.text = echoTexts[rng.IntN(len(echoTexts))]
		}
		p.bargeIn = time.Duration(between(from, to)) * time.Millisecond
		return p
	}
	var calls []EchoCall
	for range n {
		c := EchoCall{Room: rng.IntN(len(d.Rooms) + 1), MuLaw: rng.IntN(2) == 0, Caller: between(-6, 0), voice: d.Voice}
		c.Level = between(-40, -10)
		c.Delay = time.Duration(between(60, 400) * float64(time.Millisecond))
		c.noise, c.Noise = d.Noises[rng.IntN(len(d.Noises))], between(-70, -45)
		if c.Room > 0 {
			c.room = d.Rooms[c.Room-1]
		}
		if rng.IntN(2) == 0 {
			c.phrases = append(c.phrases, phrase(800, 5000))
		}
		c.phrases = append(c.phrases, echoPhrase{text: "tell me more about the shop"}, phrase(1000, 9000))
		calls = append(calls, c)
	}
	return calls
}

// utterances returns what the caller says.
func (c *EchoCall) utterances(ctx context.Context, s Services) ([]file.Utterance, error) {
	var out []file.Utterance
	for _, p := range c.phrases {
		pcm := p.pcm
		if pcm == nil {
			var err error
			if pcm, err = speak(ctx, s.Synthesizer, c.voice, p.text); err != nil {
				return nil, err
			}
		}
		out = append(out, file.Utterance{PCM: pcm, BargeIn: p.bargeIn})
	}
	return out, nil
}

// microphone is the caller's side of a call.
type microphone struct {
	gain   float64
	noise  []int16
	level  float64 // factor of the noise
	muLaw  bool
	pos    int
	spoken []bool // for each frame, whether the caller spoke
	// sounding reports whether the agent can be heard.
	sounding func() bool
	over     []int // frames in which the caller began to speak over the agent
}

// pass changes a frame on its way from the caller to the agent.
func (m *microphone) pass(pcm []int16, speaking bool) {
	if n := len(m.spoken); speaking && (n == 0 || !m.spoken[n-1]) && m.sounding() {
		m.over = append(m.over, n)
	}
	m.spoken = append(m.spoken, speaking)
	for i := range pcm {
		v := math.Round(float64(pcm[i])*m.gain + float64(m.noise[m.pos%len(m.noise)])*m.level)
		pcm[i] = int16(min(max(v, math.MinInt16), math.MaxInt16))
		m.pos++
	}
	if m.muLaw {
		for i := range pcm {
			pcm[i] = audio.MuLaw.Decode(audio.MuLaw.Encode(pcm[i]))
		}
	}
}

// spoke reports whether the caller spoke in a range of frames.
func (m *microphone) spoke(from, to int) bool {
	from, to = min(max(from, 0), len(m.spoken)), min(max(to, 0), len(m.spoken))
	return from < to && slices.Contains(m.spoken[from:to], true)
}

// Hold holds the call with [Talker] in virtual time.
func (c *EchoCall) Hold(ctx context.Context, s Services) (EchoHeard, error) {
	files := []agent.File{{Name: "agent.yaml", Data: []byte(Talker)}}
	a, err := settings.Compile(files)
	if err != nil {
		return EchoHeard{}, fmt.Errorf("eval: %w", err)
	}
	cfg, err := settings.OfAgent(files)
	if err != nil {
		return EchoHeard{}, fmt.Errorf("eval: %w", err)
	}
	o := settings.New(cfg).ForCalls(cfg, a.Language()).Trained()
	o.Conversation.Agent = a.Agent
	utterances, err := c.utterances(ctx, s)
	if err != nil {
		return EchoHeard{}, err
	}
	sounding := false
	m := microphone{
		gain: audio.FromDBFS(c.Caller), noise: c.noise, level: audio.FromDBFS(c.Noise) / max(audio.RMS(c.noise), 1e-3),
		muLaw: c.MuLaw, sounding: func() bool { return sounding },
	}
	leg, err := file.New(file.Options{
		Rate: Rate, Utterances: utterances, Microphone: m.pass,
		// The microphone turns down what it hears, the echo too.
		Echo: file.Echo{Gain: audio.FromDBFS(c.Level - c.Caller), Delay: c.Delay, Room: c.room},
	})
	if err != nil {
		return EchoHeard{}, fmt.Errorf("eval: %w", err)
	}
	call, err := session.New(session.Options{
		ID: "eval", Leg: leg, Recognizer: s.Recognizer, Synthesizer: s.Synthesizer, Detector: s.Detector,
		Conv: o.Conversation, AgentFiles: files, Turn: o.Turn, Onset: o.Onset, Stability: o.Stability, Echo: o.Echo,
	})
	if err != nil {
		return EchoHeard{}, fmt.Errorf("eval: %w", err)
	}
	start := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	var cuts []int // frames in which the agent stopped
	last := conv.Idle
	call.OnStep(func(step session.Step) {
		sounding = step.State.Audible()
		if step.State.Phase == conv.Interrupted && last != conv.Interrupted {
			cuts = append(cuts, frameOf(step.Now.Sub(start)))
		}
		last = step.State.Phase
	})
	var turns []session.Spoken
	call.OnSpoken(func(t session.Spoken) { turns = append(turns, t) })
	if err := call.RunVirtual(ctx, start); err != nil {
		return EchoHeard{}, fmt.Errorf("eval: %w", err)
	}
	return c.judge(&m, start, cuts, turns), nil
}

func frameOf(d time.Duration) int { return int(d / audio.FrameDuration) }

// judge says what happened in a call.
func (c *EchoCall) judge(m *microphone, start time.Time, cuts []int, turns []session.Spoken) (h EchoHeard) {
	late := frameOf(1500 * time.Millisecond) // a stop or a turn may follow the caller's voice by this
	for _, at := range cuts {
		if !m.spoke(at-late, at+1) {
			h.Stops++
		}
	}
	var agentEnded time.Time // the end of the agent's turn before
	for _, t := range turns {
		if t.Role == conv.RoleAgent {
			agentEnded = t.End
			continue
		}
		switch {
		case t.Text == "" || m.spoke(frameOf(t.Start.Sub(start))-late, frameOf(t.End.Sub(start))):
		case t.Start.Sub(agentEnded) > c.Delay+300*time.Millisecond:
			h.Noise++
		default:
			h.Turns++
		}
	}
	for _, from := range m.over {
		yield := time.Duration(-1)
		for _, at := range cuts {
			if at >= from && at < from+frameOf(2*time.Second) {
				yield = time.Duration(at-from) * audio.FrameDuration
				break
			}
		}
		h.Yields = append(h.Yields, yield)
	}
	return h
}

// EchoFigures sum up calls with an echo.
type EchoFigures struct {
	Calls, Own   int           // all calls, and those in which the agent interrupted or answered itself
	Over, Caught int           // the caller's interruptions, and those for which the agent stopped
	Noise        int           // turns that were noise
	Median, Slow time.Duration // from the caller's voice to the agent's stop: the median, and 90 % are faster
	yields       []time.Duration
}

// Add adds a call.
func (f *EchoFigures) Add(h EchoHeard) {
	f.Calls++
	f.Noise += h.Noise
	if h.Own() {
		f.Own++
	}
	for _, y := range h.Yields {
		if f.Over++; y >= 0 {
			f.Caught++
			f.yields = append(f.yields, y)
		}
	}
	slices.Sort(f.yields)
	if n := len(f.yields); n > 0 {
		f.Median, f.Slow = f.yields[n/2], f.yields[n*9/10]
	}
}
