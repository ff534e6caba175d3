package eval

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/session"
	"github.com/hocketvoice/hocket/turn"
)

// Rate is the sampling rate of the answers in hertz.
const Rate = 16000

// Services are the engines that a call uses.
type Services struct {
	Recognizer  port.Recognizer
	Synthesizer port.Synthesizer // for the answers
	Detector    port.Detector
	EndOfTurn   port.EndOfTurn // of free speech; may be nil
	Onset       turn.OnsetOptions
}

// Answer is what a caller says to the question for a slot of [Slots].
type Answer struct {
	Slot  string // empty: free speech, with a model behind
	Want  string // the value in the agent's words: "1 2 3"
	Voice string // of the synthesizer, or the name of a speaker
	PCM   []int16
	End   time.Duration // end of the last word in PCM
	Split string        // of the data
	Set   string
}

// Slots is the file of the agent that asks for the slots.
const Slots = `
settings: {language: en, start: ask_%s, min_confidence: 0.7}
slots:
  pin: {type: digits, length: 6, prompt: Which?}
  digit: {type: digits, length: 1, prompt: Which?}
  number: {type: integer, min: 0, max: 9, prompt: Which?}
  people: {type: integer, min: 1, max: 8, prompt: Which?}
  day: {type: date, prompt: Which?}
  hour: {type: time, prompt: Which?}
  sure: {type: boolean, prompt: Which?}
  city: {type: city, values: [Boston, San Jose, New York, Chicago, Denver], prompt: Which?}
  note: {type: string, prompt: Which?}
flows:
  ask_%[1]s:
    trigger: {intents: [ask me again]}
    steps: [{step: ask, type: collect, slot: %[1]s}, {step: tell, type: say, message: "It is {%[1]s}."}]
`

// mute is a voice that speaks every text as 20 ms of silence.
type mute struct{}

func (mute) Rate() int { return Rate }

func (mute) Speak(_ context.Context, _ port.Utterance, emit func(port.Speech) error) error {
	return emit(port.Speech{PCM: make([]int16, audio.FrameSamples(Rate))})
}

// speechless is a model that says one word.
type speechless struct{}

func (speechless) Reply(_ context.Context, _ port.Request, emit func(port.Delta) error) error {
	return emit(port.Delta{Text: "Good."})
}

// leg plays an answer to the first question and hangs up. It notes what the agent says.
type leg struct {
	sounds [][]int16 // one for each turn of the caller
	gap    int       // frames of silence before each, and after the last
	frame  []int16
	frames int // read so far
	at     int // position in the sound
	said   []string
	began  []int // the frame at which each sound began
}

func (l *leg) Rate() int { return Rate }

func (l *leg) Read(context.Context) (audio.Frame, error) {
	n := audio.FrameSamples(Rate)
	clear(l.frame)
	quiet := l.gap * n
	switch {
	case l.at >= quiet && len(l.sounds) > 0:
		from := l.at - quiet
		if from == 0 {
			l.began = append(l.began, l.frames)
		}
		if copied := copy(l.frame, l.sounds[0][min(from, len(l.sounds[0])):]); copied < n {
			l.sounds, l.at = l.sounds[1:], -n
		}
	case l.at >= quiet:
		return audio.Frame{}, io.EOF
	}
	l.at += n
	l.frames++
	return audio.Frame{Pos: audio.Pos((l.frames - 1) * n), Rate: Rate, PCM: l.frame}, nil
}

func (l *leg) Write(context.Context, audio.Frame) error { return nil }

func (l *leg) Clear(context.Context) error { return nil }

func (l *leg) Notify(n port.Notice) {
	if n.Type == "caption" && n.Role == string(conv.RoleAgent) && !n.Final {
		l.said = append(l.said, n.Text)
	}
}

// held is a call that was held.
type held struct {
	said   []string
	began  []time.Duration // when each sound began
	trace  []byte
	events []heard
}

// heard is an event of the audio path with the time at which it was posted.
type heard struct {
	at time.Duration
	ev conv.Event
}

// hold holds a call with an agent that asks for the slot. The sounds are the turns of the caller.
func hold(ctx context.Context, s Services, slot string, t turn.Options, sounds ...[]int16) (held, error) {
	var a *dialog.Agent
	var problems []agent.Problem
	if slot != "" {
		a, problems = dialog.Parse([]agent.File{{Name: "agent.yaml", Data: fmt.Appendf(nil, Slots, slot)}})
		if a == nil {
			return held{}, fmt.Errorf("eval: the agent does not load: %v", problems)
		}
	}
	const gap = 2200 * time.Millisecond
	l := &leg{sounds: sounds, gap: int(gap / audio.FrameDuration), frame: make([]int16, audio.FrameSamples(Rate))}
	var trace bytes.Buffer
	var h held
	call, err := session.New(session.Options{
		ID: "eval", Leg: l, Recognizer: s.Recognizer, Synthesizer: mute{}, Detector: s.Detector, EndOfTurn: s.EndOfTurn, Model: speechless{},
		Turn: t, Onset: s.Onset, Trace: &trace, TraceFeatures: true,
		Conv: conv.Options{Agent: a, Endpoint: t.Policy, DeadAir: turn.DeadAirOptions{Off: true}, Limits: conv.Limits{NoEndpoint: time.Minute}},
		Heard: func(ev conv.Event) {
			h.events = append(h.events, heard{time.Duration(l.frames) * audio.FrameDuration, ev})
		},
	})
	if err != nil {
		return held{}, fmt.Errorf("eval: %w", err)
	}
	if err := call.RunVirtual(ctx, time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)); err != nil {
		return held{}, fmt.Errorf("eval: %w", err)
	}
	h.said, h.trace = l.said, trace.Bytes()
	for _, n := range l.began {
		h.began = append(h.began, time.Duration(n)*audio.FrameDuration)
	}
	return h, nil
}

// speak synthesizes a text without the silence around it.
func speak(ctx context.Context, s port.Synthesizer, voice, text string) ([]int16, error) {
	var pcm []int16
	err := s.Speak(ctx, port.Utterance{Text: text, Voice: voice}, func(p port.Speech) error {
		pcm = append(pcm, p.PCM...)
		return nil
	})
	if err == nil && s.Rate() != Rate {
		pcm, err = audio.Resample(pcm, s.Rate(), Rate)
	}
	if err != nil {
		return nil, fmt.Errorf("eval: speak %q: %w", text, err)
	}
	return trim(pcm), nil
}

// trim removes the silence around a sound: pieces of 10 ms that are 40 dB below the loudest.
func trim(pcm []int16) []int16 {
	const piece = Rate / 100
	loudest := 0.0
	for i := 0; i+piece <= len(pcm); i += piece {
		loudest = max(loudest, audio.RMS(pcm[i:i+piece]))
	}
	from, to := len(pcm), 0
	for i := 0; i+piece <= len(pcm); i += piece {
		if audio.RMS(pcm[i:i+piece]) > loudest/100 {
			from, to = min(from, i), i+piece
		}
	}
	if from > to {
		return nil
	}
	return pcm[from:to]
}

// pieces joins sounds with pauses between them, over a low noise.
func pieces(rnd *rand.Rand, pauses []time.Duration, sounds ...[]int16) []int16 {
	var out []int16
	for i, s := range sounds {
		if i > 0 {
			out = append(out, make([]int16, audio.PosOf(pauses[i-1], Rate))...)
		}
		out = append(out, s...)
	}
	for i := range out {
		out[i] = int16(min(max(int(out[i])+rnd.IntN(9)-4, -32768), 32767))
	}
	return out
}

// parts splits a text at its pauses: "one two | three".
func parts(text string) []string {
	out := strings.Split(text, "|")
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}

// longest bounds a recording.
const longest = 10 * time.Minute

// readWAV reads a recording at [Rate].
func readWAV(path string) ([]int16, error) {
	pcm, _, err := readSound(path)
	return pcm, err
}

// readSound reads a recording at [Rate] and returns the rate of the file, too.
func readSound(path string) ([]int16, int, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("eval: %w", err)
	}
	defer f.Close()
	r, err := audio.NewWAVReader(f, audio.WAVReaderOptions{})
	if err != nil {
		return nil, 0, fmt.Errorf("eval: %s: %w", path, err)
	}
	rate := r.Format().Rate
	limit := int(audio.PosOf(longest, rate))
	pcm, err := r.ReadAllMono(limit + 1)
	switch {
	case err != nil:
		return nil, 0, fmt.Errorf("eval: %s: %w", path, err)
	case len(pcm) > limit:
		return nil, 0, fmt.Errorf("eval: %s: the recording is longer than %v, the maximum", path, longest)
	case len(pcm) == 0:
		return nil, 0, fmt.Errorf("eval: %s: the recording has no sound", path)
	}
	if pcm, err = audio.Resample(pcm, rate, Rate); err != nil {
		return nil, 0, fmt.Errorf("eval: %s: %w", path, err)
	}
	return pcm, rate, nil
}
