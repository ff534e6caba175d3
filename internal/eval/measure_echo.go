package eval

import (
	"context"
	"fmt"
	"time"

	"github.com/hocketvoice/hocket/audio"
)

// measureEcho holds calls with the agent's voice in the microphone. The seen calls have the
// phrases, noises and rooms of the seen recordings, the unseen calls others where there are some.
func (e *evaluation) measureEcho(ctx context.Context) error {
	if e.EchoCalls == 0 {
		return nil
	}
	data := map[string]EchoData{}
	for _, split := range []string{Unseen, Seen} {
		d, err := e.echoData(split)
		if err != nil {
			return err
		}
		data[split] = d
	}
	if len(data[Unseen].Noises)+len(data[Seen].Noises) == 0 {
		e.report.note("echo: no recording of noise, as the microphones need")
		return nil
	}
	own, caught := tally{}, tally{}
	yield := spread{}
	for i, split := range []string{Unseen, Seen} {
		d, other := data[split], data[[]string{Seen, Unseen}[i]]
		if len(d.Phrases) == 0 {
			continue
		}
		if len(d.Noises) == 0 {
			d.Noises = other.Noises
		}
		if len(d.Rooms) == 0 {
			d.Rooms = other.Rooms
		}
		r := &Recording{Split: split}
		calls := EchoCalls(d, uint64(14+i), e.EchoCalls)
		for n := range calls {
			h, err := calls[n].Hold(ctx, e.services)
			if err != nil {
				return err
			}
			own.one(r, h.Own())
			for _, y := range h.Yields {
				caught.one(r, y >= 0)
				if y >= 0 {
					yield.add(r, float64(y/time.Millisecond))
				}
			}
			if h.Own() {
				e.detail("echo", &Recording{Path: calls[n].String(), Split: split}, "%d stops and %d turns of its own", h.Stops, h.Turns)
			}
			e.progress(PartEcho, n+1, len(calls))
		}
	}
	if len(own) == 0 {
		e.report.note("echo: no recording of speech or of an interruption for the callers")
		return nil
	}
	e.add(Figure{Part: PartEcho, Name: "calls that interrupt or answer themselves", Unit: "%", Values: own.percent(), Goal: &Goal{true, 0}})
	e.add(Figure{Part: PartEcho, Name: "interruptions over the echo caught", Unit: "%", Values: caught.percent(), Goal: &Goal{false, 95}})
	e.add(Figure{Part: PartEcho, Name: "time to yield over the echo, median", Unit: "ms", Values: yield.median()})
	return nil
}

// echoData reads the sound of the calls from the recordings of a split.
func (e *evaluation) echoData(split string) (d EchoData, err error) {
	for _, r := range e.manifest.Recordings {
		if r.Split != split {
			continue
		}
		phrase := r.Kind == KindInterruption || r.Kind == KindSpeech && r.Text != ""
		if !phrase && r.Kind != KindNoise && r.Kind != KindRoom {
			continue
		}
		pcm, err := e.sound(&r)
		if err != nil {
			return d, err
		}
		switch {
		case phrase:
			d.Phrases = append(d.Phrases, pcm)
		case r.Kind == KindNoise:
			d.Noises = append(d.Noises, pcm)
		case audio.RMS(pcm) == 0:
			return d, inputError{fmt.Errorf("eval: %s: the impulse response is silent", r.Path)}
		default:
			d.Rooms = append(d.Rooms, response(pcm))
		}
	}
	return d, nil
}
