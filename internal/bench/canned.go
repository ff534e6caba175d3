package bench

import (
	"context"
	"fmt"
	"slices"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/codec/opus"
	"github.com/hocketvoice/hocket/port"
)

// This file provides services without cost, in place of those that are not
// measured.

// Free returns a voice and a recognizer without cost: the voice has synthesized all
// texts in advance, and the recognizer returns the same words for every utterance.
func Free(ctx context.Context, voice port.Synthesizer) (port.Synthesizer, port.Recognizer, error) {
	c, err := newCanned(ctx, voice, []string{greeting, answer, question})
	return c, scribe{question}, err
}

// canned is a voice with speech that was synthesized in advance. It is safe for
// concurrent use.
type canned struct {
	rate  int
	texts []string
	pcm   [][]int16
}

// newCanned synthesizes all texts.
func newCanned(ctx context.Context, voice port.Synthesizer, texts []string) (*canned, error) {
	c := &canned{rate: voice.Rate(), texts: texts}
	for _, text := range texts {
		var pcm []int16
		err := voice.Speak(ctx, port.Utterance{Text: text}, func(p port.Speech) error {
			pcm = append(pcm, p.PCM...)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("bench: say %q: %w", text, err)
		}
		c.pcm = append(c.pcm, pcm)
	}
	return c, nil
}

// Rate returns the sampling rate of the speech in hertz.
func (c *canned) Rate() int { return c.rate }

// Speak emits one of the texts, or the first if the text is unknown.
func (c *canned) Speak(ctx context.Context, u port.Utterance, emit func(port.Speech) error) error {
	pcm := c.pcm[max(0, slices.Index(c.texts, u.Text))]
	for piece := range slices.Chunk(pcm, c.rate/10) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := emit(port.Speech{PCM: piece}); err != nil {
			return err
		}
	}
	return nil
}

// packets returns the n-th text as a browser sends it.
func (c *canned) packets(n int) ([][]byte, error) {
	const rate = 48000 // as browsers do
	pcm, err := audio.Resample(c.pcm[n], c.rate, rate)
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	e, err := opus.NewEncoder(opus.EncoderOptions{Rate: rate})
	if err != nil {
		return nil, fmt.Errorf("bench: %w", err)
	}
	var list [][]byte
	buf, frame := make([]byte, opus.MaxPacket), make([]int16, rate/50)
	for piece := range slices.Chunk(pcm, len(frame)) {
		clear(frame[copy(frame, piece):])
		size, err := e.Encode(buf, frame)
		if err != nil {
			return nil, fmt.Errorf("bench: %w", err)
		}
		list = append(list, slices.Clone(buf[:size])) // an empty packet is not sent
	}
	return list, nil
}

// scribe is a recognizer that returns the same words for every utterance. It is
// safe for concurrent use.
type scribe struct{ text string }

// Open starts a stream.
func (s scribe) Open(_ context.Context, _ port.RecognizerConfig, sink func(port.Transcript)) (port.RecognizerStream, error) {
	return &dictation{text: s.text, sink: sink}, nil
}

// dictation is a stream of a scribe.
type dictation struct {
	text   string
	sink   func(port.Transcript)
	open   bool
	frames int
}

// partialAfter is the number of frames in an utterance before its first words.
const partialAfter = 25

func (d *dictation) Begin() error {
	d.open, d.frames = true, 0
	return nil
}

func (d *dictation) Write(audio.Frame) error {
	if d.frames++; d.open && d.frames == partialAfter {
		d.sink(port.Transcript{Text: d.text, Confidence: 0.9})
	}
	return nil
}

func (d *dictation) Expect(port.Expectation) {}

func (d *dictation) Finalize() error {
	if d.open {
		d.open = false
		d.sink(port.Transcript{Text: d.text, Confidence: 0.9, Final: true})
	}
	return nil
}

func (d *dictation) Discard() error {
	d.open = false
	return nil
}

func (d *dictation) Close() error { return nil }

// answerer is a model with a fixed answer.
type answerer struct{ text string }

// Reply emits the answer.
func (a answerer) Reply(_ context.Context, _ port.Request, emit func(port.Delta) error) error {
	return emit(port.Delta{Text: a.text})
}
