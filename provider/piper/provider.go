package piper

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/clauses"
	"github.com/hocketvoice/hocket/internal/onnx"
	"github.com/hocketvoice/hocket/port"
)

var _ port.Synthesizer = (*Synthesizer)(nil)

// Synthesizer speaks with one voice. It is safe for concurrent use, but for Close.
type Synthesizer struct {
	o       Options
	voice   *settings
	session *onnx.Session
}

// New reads the voice. The error wraps [onnx.ErrMissing] if this program cannot run networks,
// [ErrNoPhonemes] without espeak-ng, and fs.ErrNotExist if a file is not installed.
func New(o Options) (*Synthesizer, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	s := &Synthesizer{o: o.withDefaults()}
	if !onnx.Built {
		return nil, fmt.Errorf("piper: %w", onnx.ErrMissing)
	}
	program, err := exec.LookPath(s.o.Program)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoPhonemes, err)
	}
	s.o.Program = program
	if s.voice, err = readSettings(o.Network + ".json"); err != nil {
		return nil, fmt.Errorf("%w ('make voice' installs one)", err)
	}
	if s.session, err = onnx.Open(o.Library, o.Network); err != nil {
		return nil, fmt.Errorf("piper: %w", err)
	}
	return s, nil
}

// Close frees the voice. No Speak may be in progress.
func (s *Synthesizer) Close() error {
	if s.session == nil {
		return nil
	}
	return s.session.Close()
}

// Rate returns the sampling rate of the voice in hertz.
func (s *Synthesizer) Rate() int { return s.voice.Audio.Rate }

// Speak synthesizes sentence by sentence, and passes each in pieces of 20 ms. The end of ctx
// takes effect within some milliseconds, also in the middle of a computation. The same text
// does not give the same samples: the network draws noise. Marks are at the beginning and the
// end of each sentence. The voice has no others: Utterance.Voice must be empty. An utterance
// without a speakable word emits nothing.
func (s *Synthesizer) Speak(ctx context.Context, u port.Utterance, emit func(port.Speech) error) error {
	if l := u.Language; l != "" && l != "en" && !strings.HasPrefix(l, "en-") {
		return fmt.Errorf("piper: language %q is not supported: expected en", l)
	}
	if u.Voice != "" {
		return fmt.Errorf("piper: voice %q is unknown: the network has one voice, without a name", u.Voice)
	}
	pace := u.Rate
	if pace == 0 {
		pace = 1
	}
	if !(pace >= minPace && pace <= maxPace) {
		return fmt.Errorf("piper: rate is %g: expected %g to %g", u.Rate, float64(minPace), float64(maxPace))
	}
	var at audio.Pos
	for _, c := range clauses.Split(u.Text, s.o.ClauseWords) {
		pcm, err := s.clause(ctx, c, pace)
		if err != nil {
			return err
		}
		marks := []port.Mark{{At: at, Text: c.Fields[0].At}}
		for piece := audio.FrameSamples(s.Rate()); len(pcm) > 0; {
			if err := ctx.Err(); err != nil {
				return err
			}
			n := min(piece, len(pcm))
			if err := emit(port.Speech{PCM: pcm[:n], Marks: marks}); err != nil {
				return err
			}
			pcm, marks = pcm[n:], nil
			at += audio.Pos(n)
		}
		if err := emit(port.Speech{Marks: []port.Mark{{At: at, Text: c.End}}}); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// clause computes the sound of a sentence or a part of one.
func (s *Synthesizer) clause(ctx context.Context, c clauses.Clause, pace float64) ([]int16, error) {
	phonemes, err := s.phonemes(ctx, c.Text())
	if err != nil {
		return nil, err
	}
	out, err := s.session.Run(ctx, "output", s.tensors(phonemes, pace)...)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("piper: %w", err)
	}
	return samples(out), nil
}

// tensors are the inputs of the network for phonemes.
func (s *Synthesizer) tensors(phonemes string, pace float64) []onnx.Tensor {
	numbers := s.voice.numbers(phonemes)
	i := s.voice.Inference
	return []onnx.Tensor{
		{Name: "input", Shape: []int64{1, int64(len(numbers))}, Int: numbers},
		{Name: "input_lengths", Shape: []int64{1}, Int: []int64{int64(len(numbers))}},
		{Name: "scales", Shape: []int64{3}, Float: []float32{float32(i.Noise), float32(i.Length / pace), float32(i.NoiseWidth)}},
	}
}

// samples converts the sound of the network, whose full scale is 1.
func samples(in []float32) []int16 {
	out := make([]int16, len(in))
	for i, v := range in {
		if v == v { // not NaN
			out[i] = int16(math.Round(float64(min(max(v, -1), 1)) * 32767))
		}
	}
	return out
}

// pauses are the characters that divide a text for espeak-ng, which it does not return.
const pauses = ",.;:!?"

// phonemes returns the phonemes of a text, with the punctuation that the voice knows.
func (s *Synthesizer) phonemes(ctx context.Context, text string) (string, error) {
	var b strings.Builder
	for text != "" {
		part, mark := text, byte('.')
		if at := boundary(text); at >= 0 {
			part, mark = text[:at], text[at]
			text = strings.TrimLeft(text[at:], pauses+" \"')")
		} else {
			text = ""
		}
		if strings.TrimSpace(part) == "" {
			continue
		}
		p, err := s.espeak(ctx, part)
		if err != nil {
			return "", err
		}
		if p == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(p)
		b.WriteByte(mark)
	}
	return b.String(), nil
}

// boundary returns the index of the first pause in a text, or -1. A mark within a number or a
// word is none, and neither is the full stop of an abbreviation, which a space and more of the
// same sentence follow.
func boundary(text string) int {
	for i := range len(text) {
		if strings.IndexByte(pauses, text[i]) < 0 {
			continue
		}
		rest := strings.TrimLeft(text[i+1:], pauses+"\"')")
		if rest == "" || rest[0] == ' ' && text[i] != '.' {
			return i
		}
	}
	return -1
}

// espeakLimit bounds a run of the program.
const espeakLimit = 5 * time.Second

// espeak runs the program for a text.
func (s *Synthesizer) espeak(ctx context.Context, text string) (string, error) {
	limited, cancel := context.WithTimeout(ctx, espeakLimit)
	defer cancel()
	cmd := exec.CommandContext(limited, s.o.Program, "-q", "--ipa", "-v", s.voice.Espeak.Voice, "--stdin") //nolint:gosec // the user names the program
	cmd.Stdin = strings.NewReader(text + "\n")
	cmd.WaitDelay = time.Second
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case limited.Err() != nil:
		return "", fmt.Errorf("piper: %s has not answered within %v", s.o.Program, espeakLimit)
	case err != nil:
		return "", fmt.Errorf("piper: %s: %w: %s", s.o.Program, err, strings.TrimSpace(said.String()))
	case out.Len() == 0:
		return "", errors.New("piper: espeak-ng returned nothing")
	}
	return plain(out.String()), nil
}
