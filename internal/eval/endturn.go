package eval

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/turn"
)

// This file measures when a turn ends. Each answer is heard once, by a call whose turns never
// end. The policies then decide on the recorded frames.

// Phrases are the answers, by slot; "|" is a pause.
var Phrases = []struct{ Slot, Text string }{
	{"pin", "one two three four five six"},
	{"pin", "one two three | four five six"},
	{"pin", "four | seven two | nine one eight"},
	{"pin", "it's | five five five | zero one two"}, //nolint:dupword // digits
	{"day", "may the fifth"},
	{"day", "tomorrow"},
	{"day", "next | friday"},
	{"day", "on the | twelfth of | june"},
	{"day", "march | the third"},
	{"people", "two"},
	{"people", "four people"},
	{"people", "for | six people"},
	{"hour", "at nine thirty p m"},
	{"hour", "ten | a m"},
	{"hour", "at | half past eight"},
	{"sure", "yes"},
	{"sure", "no"},
	{"sure", "yes please"},
	{"city", "boston"},
	{"city", "new | york"},
	{"city", "i'd like to go to | san jose"},
	{"city", "chicago please"},
}

// frame is what the turn controller got, at a time in the answer.
type frame struct {
	acoustic   turn.Acoustic
	linguistic turn.Linguistic
	score      float64 // of the end-of-turn model, NaN if none came
	kind       string  // of the awaited answer
}

// Heard is an answer with the frames of a turn controller that never ended its turn.
type Heard struct {
	Answer

	kind   string        // of the awaited answer
	start  time.Duration // of the answer in the stream
	frames []frame
	lines  [][]byte // of the trace, as the frames were read from them
}

// kinds are the kinds of the expectations for the slots.
var kinds = map[string]string{
	"pin": "digits", "digit": "digits", "number": "integer", "people": "integer", "day": "date", "hour": "time", "sure": "yes_no", "city": "city", "note": "string",
}

// Say synthesizes the answers of a voice. The pauses are 200 to 1200 ms long, seeded.
func Say(ctx context.Context, s Services, voice string, seed uint64) ([]Answer, error) {
	rnd := rand.New(rand.NewPCG(seed, 1))
	var out []Answer
	for _, p := range Phrases {
		var sounds [][]int16
		var pauses []time.Duration
		for _, text := range parts(p.Text) {
			pcm, err := speak(ctx, s.Synthesizer, voice, text)
			if err != nil {
				return nil, err
			}
			sounds = append(sounds, pcm)
			pauses = append(pauses, time.Duration(200+rnd.IntN(1000))*time.Millisecond)
		}
		a := Answer{Slot: p.Slot, Want: p.Text, Voice: voice, PCM: pieces(rnd, pauses, sounds...)}
		a.End = time.Duration(len(a.PCM)) * time.Second / Rate
		out = append(out, a)
	}
	return out, nil
}

// Listen holds the calls in which the answers are heard.
func Listen(ctx context.Context, s Services, answers []Answer) ([]Heard, error) {
	never := turn.Options{Policy: turn.PolicyAuto, Auto: turn.AutoOptions{
		Complete: 40 * time.Second, Silence: 40 * time.Second, Incomplete: 40 * time.Second,
	}}
	var out []Heard
	for _, a := range answers {
		c, err := hold(ctx, s, a.Slot, never, a.PCM)
		if err != nil {
			return nil, err
		}
		if len(c.began) != 1 {
			return nil, fmt.Errorf("eval: the answer %q was not played", a.Want)
		}
		h := Heard{Answer: a, kind: kinds[a.Slot], start: c.began[0]}
		if err := h.read(c.trace); err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, nil
}

// read reads the frames of a trace.
func (h *Heard) read(trace []byte) error {
	lines := bufio.NewScanner(bytes.NewReader(trace))
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		f, ok, err := readFrame(lines.Bytes(), h.kind)
		if err != nil {
			return fmt.Errorf("eval: the trace: %w", err)
		}
		if ok {
			h.frames = append(h.frames, f)
			h.lines = append(h.lines, bytes.Clone(lines.Bytes()))
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("eval: the trace: %w", err)
	}
	return nil
}

// readFrame reads a line of a trace; ok is false if it is not a frame.
func readFrame(line []byte, kind string) (_ frame, ok bool, err error) {
	var f struct {
		Timestamp  *float64          `json:"timestamp_ms"`
		Energy     *float64          `json:"frame_energy"`
		VAD        *float64          `json:"vad_prob"`
		Silence    float64           `json:"silence_duration_ms"`
		Text       string            `json:"partial_text"`
		Confidence *float64          `json:"asr_confidence"`
		Stability  *float64          `json:"token_stability"`
		Answer     turn.Completeness `json:"answer"`
		Score      *float64          `json:"finished"`
	}
	if err := json.Unmarshal(line, &f); err != nil || f.Timestamp == nil {
		return frame{}, false, err
	}
	return frame{
		acoustic:   turn.Acoustic{At: ms(*f.Timestamp), Energy: known(f.Energy), VAD: known(f.VAD), Silence: ms(f.Silence)},
		linguistic: turn.Linguistic{Text: f.Text, Confidence: known(f.Confidence), Stability: known(f.Stability), Answer: f.Answer},
		score:      known(f.Score),
		kind:       kind,
	}, true, nil
}

func ms(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }

func known(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// Ended says when a policy ended an answer.
type Ended struct {
	Cut     bool          // before the last word had ended
	Never   bool          // not within 3 s
	DeadAir time.Duration // from the end of the last word to the end of the turn, unless Cut or Never
	Known   bool          // the dialogue had called the words complete
}

// Decide runs a policy on the frames of an answer. Frames before the answer are skipped.
func Decide(o turn.Options, h Heard) (Ended, error) {
	p, err := turn.New(o)
	if err != nil {
		return Ended{}, fmt.Errorf("eval: %w", err)
	}
	end := h.start + h.End
	for i, f := range h.frames {
		if i == 0 {
			p.Expect(turn.AdjustmentFor(f.kind))
		}
		if f.acoustic.At <= h.start {
			continue
		}
		if m, ok := p.(turn.Scored); ok && !math.IsNaN(f.score) {
			m.SetScore(f.score)
		}
		if d := p.Update(f.acoustic, f.linguistic); d.State == turn.Speak {
			return Ended{
				Cut: f.acoustic.At < end, DeadAir: f.acoustic.At - end,
				Known: f.linguistic.Answer == turn.Complete,
			}, nil
		}
	}
	return Ended{Never: true}, nil
}

// Figures sum up a policy on several answers.
type Figures struct {
	N, Cut, Never    int
	Median, Mean     time.Duration // dead air of the answers that were not cut off
	Complete         int           // answers known to be complete
	CompleteDeadAir  time.Duration // their median
	sorted, complete []time.Duration
}

// Sum runs a policy on answers.
func Sum(o turn.Options, answers []Heard) (Figures, error) {
	var f Figures
	for _, h := range answers {
		e, err := Decide(o, h)
		if err != nil {
			return f, err
		}
		f.N++
		switch {
		case e.Never:
			f.Never++
		case e.Cut:
			f.Cut++
		default:
			f.sorted = append(f.sorted, e.DeadAir)
			f.Mean += e.DeadAir
			if e.Known {
				f.complete = append(f.complete, e.DeadAir)
			}
		}
	}
	slices.Sort(f.sorted)
	slices.Sort(f.complete)
	f.Complete = len(f.complete)
	if n := len(f.sorted); n > 0 {
		f.Median, f.Mean = f.sorted[n/2], f.Mean/time.Duration(n)
	}
	if f.Complete > 0 {
		f.CompleteDeadAir = f.complete[f.Complete/2]
	}
	return f, nil
}

// Policies are the policies of a sweep, by the silence that ends an undecided turn.
func Policies(silence time.Duration) map[string]turn.Options {
	easy := turn.Options{Policy: turn.PolicyEasyTurn}
	easy.EasyTurn.MinSilence = max(silence-200*time.Millisecond, 0) // the hysteresis
	easy.EasyTurn.MinSilenceShort = easy.EasyTurn.MinSilence + 100*time.Millisecond
	if easy.EasyTurn.MinSilence == 0 {
		easy.EasyTurn.MinSilence = turn.Off
	}
	easy.EasyTurn.MaxSilence = max(1500*time.Millisecond, silence+time.Second)
	easy.EasyTurn.ShortAnswerAfter = max(1200*time.Millisecond, silence+700*time.Millisecond)
	return map[string]turn.Options{
		"timer":    {Policy: turn.PolicySilence, Silence: turn.SilenceOptions{After: silence}},
		"easyturn": easy,
		"auto": {Policy: turn.PolicyAuto, Auto: turn.AutoOptions{
			Complete: min(silence, 250*time.Millisecond), Silence: silence, Incomplete: max(silence, 1500*time.Millisecond),
		}},
	}
}
