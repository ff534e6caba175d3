package eval

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/hocketvoice/hocket/internal/edits"
)

// bargeInNeighbours are figures of the leaderboard of tau-voice in August 2026 (tau2-bench, commit
// a2c0247), means over its domains: of stopping within 2 s for an interruption and within 1 s for
// a backchannel, and of the mean time to yield.
var (
	recallNeighbours      = []Neighbour{{"gpt-realtime-2", 99.7, false}, {"LiveKit cascade", 98.8, false}, {"Gemini Live 2.5", 56.4, false}}
	yieldNeighbours       = []Neighbour{{"gpt-realtime-2", 616, false}, {"LiveKit cascade", 870, false}, {"Gemini Live 2.5", 859, false}}
	backchannelNeighbours = []Neighbour{{"gpt-realtime-2", 96.1, false}, {"LiveKit cascade", 33.3, false}, {"Gemini Live 2.5", 15.1, false}}
	noiseNeighbours       = []Neighbour{{"gpt-realtime-2", 87.2, false}, {"LiveKit cascade", 51.1, false}, {"Gemini Live 2.5", 66.1, false}}
)

// falseStop is the time within which a stop for a backchannel or a noise counts, as in tau-voice.
const falseStop = time.Second

// measureBargeIn plays each recording over an agent that talks, in a call of its own.
func (e *evaluation) measureBargeIn(ctx context.Context) error {
	var list []Recording
	for _, r := range e.manifest.Of(KindInterruption, KindSpeech, KindBackchannel, KindNoise) {
		if r.Kind != KindSpeech || r.Text != "" {
			list = append(list, r)
		}
	}
	if len(list) == 0 {
		e.report.note("barge-in: no recording of speech with a text, of an interruption, a backchannel or a noise")
		return nil
	}
	rnd := rand.New(rand.NewPCG(14, 3))
	one, all, backchannels, noises := tally{}, tally{}, tally{}, tally{}
	yield := spread{}
	for i := range list {
		r := &list[i]
		pcm, err := e.sound(r)
		if err != nil {
			return err
		}
		y, err := over(ctx, e.services, pcm, time.Duration(1500+rnd.IntN(3000))*time.Millisecond)
		if err != nil {
			return err
		}
		switch r.Kind {
		case KindBackchannel:
			backchannels.one(r, y >= 0 && y <= falseStop)
		case KindNoise:
			noises.one(r, y >= 0 && y <= falseStop)
		default:
			all.one(r, y >= 0)
			if len(edits.Words(r.Text)) == 1 {
				one.one(r, y >= 0)
			}
			if y >= 0 {
				yield.add(r, float64(y/time.Millisecond))
			}
		}
		if (r.Kind == KindBackchannel || r.Kind == KindNoise) == (y >= 0 && y <= falseStop) {
			happened := "did not stop"
			if y >= 0 {
				happened = fmt.Sprintf("stopped after %v", y)
			}
			e.detail("barge-in", r, "%s %q: the agent %s", r.Kind, r.Text, happened)
		}
		e.progress(PartBargeIn, i+1, len(list))
	}
	for _, f := range []Figure{
		{Name: "interruptions for which the agent stops", Unit: "%", Values: all.percent(), Goal: &Goal{false, 95}, Neighbours: recallNeighbours},
		{Name: "the same, of one word", Unit: "%", Values: one.percent(), Goal: &Goal{false, 85}},
		{Name: "time to yield, median", Unit: "ms", Values: yield.median(), Goal: &Goal{true, 450}, Neighbours: yieldNeighbours},
		{Name: "backchannels that stop the agent within 1 s", Unit: "%", Values: backchannels.percent(), Goal: &Goal{true, 10}, Neighbours: backchannelNeighbours},
		{Name: "noises that stop the agent within 1 s", Unit: "%", Values: noises.percent(), Goal: &Goal{true, 5}, Neighbours: noiseNeighbours},
	} {
		f.Part = PartBargeIn
		e.add(f)
	}
	return nil
}

// over plays a sound when the agent has spoken for a time, and returns how long after its
// beginning the agent stopped; negative if it did not within 2 s.
func over(ctx context.Context, s Services, pcm []int16, after time.Duration) (time.Duration, error) {
	const silent = -120 // decibels
	c := EchoCall{Level: silent, Noise: silent, noise: make([]int16, Rate), phrases: []echoPhrase{{pcm: pcm, bargeIn: after}}}
	h, err := c.Hold(ctx, s)
	if err != nil {
		return 0, err
	}
	if len(h.Yields) == 0 {
		return -1, nil
	}
	return h.Yields[0], nil
}
