package fakes

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

// earRate is the sampling rate of the recognizer behind a fake.
const earRate = 16000

// quiet is the level below which sound is silence.
const quiet = 0.005

// Ear is a recognizer behind a fake, which hears one stream. It is not safe for concurrent
// use.
type Ear struct {
	stream  port.RecognizerStream
	to      *audio.Resampler // nil if the sound has the recognizer's rate
	rate    int
	pcm     []int16 // not yet a frame
	pos     audio.Pos
	results []Words

	// Pause is the silence after speech that is an endpoint; 0 means that there is none.
	Pause time.Duration

	began time.Duration // where the utterance began
	sound bool          // since then
	still time.Duration // the silence after it
}

// Words are words that an Ear has understood, of the current utterance.
type Words struct {
	Words    []port.Word
	Final    bool
	Endpoint bool // Final, because of silence
}

// NewEar opens a stream of a recognizer that calls its sink within its methods. rate is that
// of the sound.
func NewEar(ctx context.Context, r port.Recognizer, rate int, language string) (*Ear, error) {
	if rate < audio.MinRate || rate > audio.MaxRate {
		return nil, fmt.Errorf("sample rate %d: expected %d to %d", rate, audio.MinRate, audio.MaxRate)
	}
	e := &Ear{rate: rate}
	var err error
	if rate != earRate {
		if e.to, err = audio.NewResampler(audio.ResamplerOptions{From: rate, To: earRate}); err != nil {
			return nil, err
		}
	}
	if e.stream, err = r.Open(ctx, port.RecognizerConfig{Rate: earRate, Language: language}, e.take); err != nil {
		return nil, err
	}
	return e, e.stream.Begin()
}

// Close ends the stream.
func (e *Ear) Close() { _ = e.stream.Close() }

// At returns the length of the sound so far.
func (e *Ear) At() time.Duration { return e.pos.Duration(earRate) }

// Quiet returns the length of the silence since the last sound of the utterance.
func (e *Ear) Quiet() time.Duration { return e.still }

// Expect sets the vocabulary of the next utterance.
func (e *Ear) Expect(phrases []string) { e.stream.Expect(port.Expectation{Phrases: phrases}) }

// take is the sink of the stream.
func (e *Ear) take(t port.Transcript) {
	e.results = append(e.results, Words{Words: e.timed(t), Final: t.Final, Endpoint: t.Endpoint})
}

// timed gives words their times: they share the time since the utterance began.
func (e *Ear) timed(t port.Transcript) []port.Word {
	texts := strings.Fields(t.Text)
	words := make([]port.Word, len(texts))
	end := e.At() - e.still
	each := max(0, end-e.began) / time.Duration(max(1, len(texts)))
	each = each.Truncate(10 * time.Millisecond)
	confidence := t.Confidence
	if !(confidence >= 0) {
		confidence = 0
	}
	for i, text := range texts {
		at := e.began + time.Duration(i)*each
		words[i] = port.Word{Text: text, Start: at, End: at + each, Confidence: math.Round(confidence*100) / 100}
	}
	return words
}

// Hear takes sound and returns what was understood because of it.
func (e *Ear) Hear(pcm []int16) ([]Words, error) {
	e.results = nil
	if e.to != nil {
		e.pcm = e.to.Append(e.pcm, pcm)
	} else {
		e.pcm = append(e.pcm, pcm...)
	}
	n := audio.FrameSamples(earRate)
	for len(e.pcm) >= n {
		f := audio.Frame{Pos: e.pos, Rate: earRate, PCM: e.pcm[:n]}
		e.pos += audio.Pos(n)
		e.listen(f)
		if err := e.stream.Write(f); err != nil {
			return nil, err
		}
		if e.Pause > 0 && e.sound && e.still >= e.Pause {
			if err := e.finalize(true); err != nil {
				return nil, err
			}
		}
		e.pcm = append(e.pcm[:0], e.pcm[n:]...)
	}
	return e.results, nil
}

func (e *Ear) listen(f audio.Frame) {
	if audio.RMS(f.PCM) >= quiet {
		if !e.sound {
			e.sound, e.began = true, f.Pos.Duration(earRate)
		}
		e.still = 0
	} else if e.sound {
		e.still += f.Duration()
	}
}

// Finalize returns the final words of the sound since the last ones.
func (e *Ear) Finalize() ([]Words, error) {
	e.results = nil
	err := e.finalize(false)
	return e.results, err
}

func (e *Ear) finalize(endpoint bool) error {
	if err := e.stream.Finalize(); err != nil {
		return err
	}
	for i := range e.results {
		e.results[i].Endpoint = e.results[i].Final && endpoint
	}
	e.sound, e.still, e.began = false, 0, e.At()
	return e.stream.Begin()
}
