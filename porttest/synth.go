package porttest

import (
	"context"
	"math"
	"strings"
	"unicode"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

var _ port.Synthesizer = (*Synthesizer)(nil)

// Synthesizer is a fake voice: a tone for each word, whose length depends on the
// number of letters, and a mark at the beginning of each word. The same text yields
// the same samples, none of which is zero. It is safe for concurrent use.
type Synthesizer struct {
	SampleRate int                     // 16000 if zero
	PerLetter  audio.Pos               // samples per letter; 60 ms if zero
	NoMarks    bool                    // simulates an engine without word timing
	Fail       func(text string) error // if not nil, Speak returns its error
	// Before, if not nil, runs before a text is spoken, to simulate faulty voices.
	// Speak returns its error. emit is the caller's.
	Before func(ctx context.Context, text string, emit func(port.Speech) error) error
}

// Rate returns the sampling rate in hertz.
func (s *Synthesizer) Rate() int {
	if s.SampleRate == 0 {
		return 16000
	}
	return s.SampleRate
}

// Speak emits the tones of the text in pieces of 20 ms.
func (s *Synthesizer) Speak(ctx context.Context, u port.Utterance, emit func(port.Speech) error) error {
	if s.Before != nil {
		if err := s.Before(ctx, u.Text, emit); err != nil {
			return err
		}
	}
	if s.Fail != nil {
		if err := s.Fail(u.Text); err != nil {
			return err
		}
	}
	h := hum{emit: emit, rate: s.Rate(), letter: s.PerLetter}
	if h.letter == 0 {
		h.letter = audio.Pos(s.Rate() * 60 / 1000)
	}
	h.piece = make([]int16, audio.FrameSamples(s.Rate()))
	for i := 0; i < len(u.Text); {
		end := strings.IndexFunc(u.Text[i:], unicode.IsSpace)
		if end < 0 {
			end = len(u.Text) - i
		}
		if end == 0 {
			i++
			continue
		}
		var marks []port.Mark
		if !s.NoMarks {
			marks = []port.Mark{{At: h.at, Text: i}}
		}
		if err := h.word(ctx, end, marks); err != nil {
			return err
		}
		i += end
	}
	return ctx.Err()
}

// hum is the state of one Speak.
type hum struct {
	emit   func(port.Speech) error
	rate   int
	letter audio.Pos
	piece  []int16
	at     audio.Pos
}

// word emits the tone of a word with the given number of letters.
func (h *hum) word(ctx context.Context, letters int, marks []port.Mark) error {
	for n := h.letter * audio.Pos(letters); n > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := h.piece[:min(n, audio.Pos(len(h.piece)))]
		for k := range part {
			phase := float64(h.at+audio.Pos(k)) / float64(h.rate)
			part[k] = int16(6000 * math.Sin(2*math.Pi*(180+20*float64(letters))*phase))
			if part[k] == 0 {
				part[k] = 1 // a frame of speech is never silent
			}
		}
		if err := h.emit(port.Speech{PCM: part, Marks: marks}); err != nil {
			return err
		}
		marks = nil
		h.at += audio.Pos(len(part))
		n -= audio.Pos(len(part))
	}
	return nil
}
