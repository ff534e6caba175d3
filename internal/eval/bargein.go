package eval

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/session"
	"github.com/hocketvoice/hocket/turn"
)

// This file measures what stops the agent while it speaks. Each sound is heard once, over an
// agent that nothing stops. The policies then decide on the recorded facts of the detector and
// the recognizer.

// SoundKind says what a sound over the agent's voice is.
type SoundKind string

// The kinds of sounds.
const (
	SoundWord        SoundKind = "word"        // an interruption of one word
	SoundSpeech      SoundKind = "speech"      // an interruption of several words
	SoundBackchannel SoundKind = "backchannel" // a sign of listening
	SoundNoise       SoundKind = "noise"
)

// Sound is what is heard while the agent speaks.
type Sound struct {
	Kind  SoundKind
	Text  string // the words
	Slot  string // of [Slots]: what the agent asks for
	Voice string // the speaker, or the recording
	PCM   []int16
}

// Fact is a fact about the sound, as the machine gets it.
type Fact struct {
	At    time.Duration // since the sound began
	Type  string        // of the event: "speech.started", "speech.stopped", "stt.partial", "stt.final"
	Text  string        `json:",omitempty"`
	Sure  float64       `json:",omitempty"` // the recognizer's confidence
	Utter int           `json:",omitempty"`
}

// Overheard is a sound with the facts about it.
type Overheard struct {
	Sound `json:"-"`

	Kind  SoundKind
	Text  string `json:",omitempty"`
	Slot  string `json:",omitempty"`
	Voice string
	Facts []Fact
}

// long is a voice that speaks every text as silence, for longer than any sound lasts.
type long struct{ mute }

func (long) Speak(ctx context.Context, _ port.Utterance, emit func(port.Speech) error) error {
	for range 30 {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := emit(port.Speech{PCM: make([]int16, Rate)}); err != nil {
			return err
		}
	}
	return nil
}

// Overhear holds the calls in which the sounds are heard over the agent.
func Overhear(ctx context.Context, s Services, sounds []Sound) ([]Overheard, error) {
	never := turn.BargeInOptions{Policy: turn.BargeInNone}
	agents := map[string]*dialog.Agent{}
	out := make([]Overheard, 0, len(sounds))
	for _, sound := range sounds {
		a := agents[sound.Slot]
		if a == nil {
			var problems []agent.Problem
			if a, problems = dialog.Parse([]agent.File{{Name: "agent.yaml", Data: fmt.Appendf(nil, Slots, sound.Slot)}}); a == nil {
				return nil, fmt.Errorf("eval: the agent does not load: %v", problems)
			}
			agents[sound.Slot] = a
		}
		const gap = time.Second
		l := &leg{sounds: [][]int16{sound.PCM}, gap: int(gap / audio.FrameDuration), frame: make([]int16, audio.FrameSamples(Rate))}
		h := Overheard{Kind: sound.Kind, Text: sound.Text, Slot: sound.Slot, Voice: sound.Voice, Sound: sound}
		call, err := session.New(session.Options{
			ID: "eval", Leg: l, Recognizer: s.Recognizer, Synthesizer: long{}, Detector: s.Detector, Onset: s.Onset,
			Conv: conv.Options{
				Agent: a, DeadAir: turn.DeadAirOptions{Off: true},
				BargeIn: turn.Profiles{Greeting: never, Reply: never, ReadBack: never, Thinking: never},
			},
			Heard: func(ev conv.Event) {
				f := Fact{At: time.Duration(l.frames)*audio.FrameDuration - gap, Type: conv.EventType(ev)}
				switch e := ev.(type) {
				case conv.SpeechStarted, conv.SpeechStopped:
				case conv.STTPartial:
					f.Text, f.Sure, f.Utter = e.Text, e.Confidence, e.Utterance
				case conv.STTFinal:
					f.Text, f.Sure, f.Utter = e.Text, e.Confidence, e.Utterance
				default:
					return
				}
				h.Facts = append(h.Facts, f)
			},
		})
		if err != nil {
			return nil, fmt.Errorf("eval: %w", err)
		}
		if err := call.RunVirtual(ctx, time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)); err != nil {
			return nil, fmt.Errorf("eval: %w", err)
		}
		out = append(out, h)
	}
	return out, nil
}

// Yielded says when a policy let the user have the floor.
type Yielded struct {
	Stopped bool
	At      time.Duration // since the sound began, if Stopped
}

// Judge decides what stops the agent. It is not safe for concurrent use.
type Judge struct {
	words  *turn.Words
	agents map[string]*dialog.Agent
	states map[string]*dialog.State
}

// NewJudge returns a judge with the words of English.
func NewJudge() (*Judge, error) {
	words, err := turn.Lookup("en")
	if err != nil {
		return nil, fmt.Errorf("eval: %w", err)
	}
	return &Judge{words: words, agents: map[string]*dialog.Agent{}, states: map[string]*dialog.State{}}, nil
}

// expects reports whether an agent that asks for the slot expects the text.
func (j *Judge) expects(slot, text string) bool {
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	a, st := j.agents[slot], j.states[slot]
	if a == nil {
		if a, _ = dialog.Parse([]agent.File{{Name: "agent.yaml", Data: fmt.Appendf(nil, Slots, slot)}}); a == nil {
			return false
		}
		st = new(dialog.State)
		a.Start(st, now)
		j.agents[slot], j.states[slot] = a, st
	}
	return slot == "sure" && a.SaidYes(text) || a.Expects(st, now, text)
}

// verdict returns the verdict on words over the agent, as package conv makes it.
func (j *Judge) verdict(slot, text string) turn.Verdict {
	v := turn.Classify(text, "", j.words, turn.FilterOptions{})
	v.Alone = v.Alone || text != "" && j.expects(slot, text)
	return v
}

// Yields runs a policy on the facts about a sound.
func (j *Judge) Yields(o turn.BargeInOptions, h *Overheard) Yielded {
	var b turn.BargeIn
	start := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	passed := func(until time.Time) (Yielded, bool) {
		for at := b.Deadline(); !at.IsZero() && !at.After(until); at = b.Deadline() {
			if b.Passed(o, at) == turn.Stop {
				return Yielded{true, at.Sub(start)}, true
			}
		}
		return Yielded{}, false
	}
	before := ""
	for _, f := range h.Facts {
		now := start.Add(f.At)
		if y, ok := passed(now); ok {
			return y
		}
		action := turn.None
		switch f.Type {
		case "speech.started":
			action = b.SpeechStarted(o, now)
		case "speech.stopped":
			action = b.SpeechStopped(o, now)
		case "stt.partial", "stt.final":
			final := f.Type == "stt.final"
			action = b.Words(o, now, j.verdict(h.Slot, f.Text), j.verdict(h.Slot, turn.Stood(before, f.Text)), final)
			if before = f.Text; final {
				before = ""
			}
		}
		if action == turn.Stop {
			return Yielded{true, f.At}
		}
	}
	y, _ := passed(start.Add(time.Minute))
	return y
}

// Trade is what a policy does on sounds, each figure a share.
type Trade struct {
	Options turn.BargeInOptions

	Words, Speech            Share         // interruptions that stop the agent
	Backchannels, Noises     Share         // sounds that stop it within a second of their beginning
	BackchannelsEver, Noise5 Share         // sounds that stop it at all
	Yield                    time.Duration // median time from the beginning of an interruption of several words to the stop
}

// Share is a number of cases out of several.
type Share struct{ N, Of int }

// Of1 returns the share from 0 to 1; without cases it is 0.
func (s Share) Of1() float64 {
	if s.Of == 0 {
		return 0
	}
	return float64(s.N) / float64(s.Of)
}

// String returns the share as "3/4 75%".
func (s Share) String() string { return fmt.Sprintf("%d/%d %.1f%%", s.N, s.Of, 100*s.Of1()) }

func (s *Share) add(yes bool) {
	s.Of++
	if yes {
		s.N++
	}
}

// Weigh runs a policy on all sounds.
func (j *Judge) Weigh(o turn.BargeInOptions, heard []Overheard) Trade {
	t := Trade{Options: o}
	var yields []time.Duration
	for i := range heard {
		h := &heard[i]
		y := j.Yields(o, h)
		soon := y.Stopped && y.At <= time.Second
		switch h.Kind {
		case SoundWord:
			t.Words.add(y.Stopped)
		case SoundSpeech:
			if t.Speech.add(y.Stopped); y.Stopped {
				yields = append(yields, y.At)
			}
		case SoundBackchannel:
			t.Backchannels.add(soon)
			t.BackchannelsEver.add(y.Stopped)
		case SoundNoise:
			t.Noises.add(soon)
			t.Noise5.add(y.Stopped)
		}
	}
	slices.Sort(yields)
	if len(yields) > 0 {
		t.Yield = yields[len(yields)/2]
	}
	return t
}

// Grid returns the options of a sweep: the policies of the seeds, and hybrid with other numbers.
func Grid() []turn.BargeInOptions {
	out := []turn.BargeInOptions{{Policy: turn.BargeInEnergy}, {Policy: turn.BargeInWords}, turn.SeedsBargeIn()}
	const ms = time.Millisecond
	for _, words := range []int{1, 2} {
		for _, steady := range []time.Duration{turn.Off, 100 * ms, 150 * ms, 200 * ms, 250 * ms, 300 * ms, 400 * ms} {
			for _, speech := range []time.Duration{turn.Off, 500 * ms, 600 * ms, 700 * ms, 800 * ms, 1000 * ms} {
				out = append(out, turn.BargeInOptions{Policy: turn.BargeInHybrid, MinWords: words, Steady: steady, MinSpeech: speech})
			}
		}
	}
	return out
}

// Meets reports whether the trade meets the goals for false stops and for interruptions: at most
// a tenth of the backchannels and a twentieth of the noises stop the agent within a second, and
// 95 % of the interruptions of several words and 85 % of those of one.
func (t Trade) Meets() bool {
	return t.Backchannels.Of1() <= .10 && t.Noises.Of1() <= .05 && t.Speech.Of1() >= .95 && t.Words.Of1() >= .85
}

// Choose returns the trade of the grid with the shortest time to yield among those that meet the
// goals and, among equals, with the most interruptions of one word, then with the shortest Steady.
// It reports false if none meets them.
func (j *Judge) Choose(heard []Overheard) (best Trade, ok bool) {
	for _, o := range Grid() {
		t := j.Weigh(o, heard)
		if t.Meets() && (!ok || t.Yield < best.Yield || t.Yield == best.Yield && t.Words.Of1() > best.Words.Of1()) {
			best, ok = t, true
		}
	}
	return best, ok
}
