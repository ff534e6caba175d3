package porttest

import (
	"context"
	"math"
	"strings"
	"unicode"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

// Synthesizer is a fake voice: a tone for each word, as long as the word has
// letters, and a mark at each word's beginning. The same text gives the same
// samples. It is safe for concurrent use.
type Synthesizer struct {
	SampleRate int                     // 16000 if zero
	PerLetter  audio.Pos               // samples; 60 ms if zero
	Fail       func(text string) error // if set and not nil for a text, Speak fails with it
}

// Rate is the sampling rate.
func (s *Synthesizer) Rate() int {
	if s.SampleRate == 0 {
		return 16000
	}
	return s.SampleRate
}

// Speak hums the text, word by word, in pieces of 20 ms.
func (s *Synthesizer) Speak(ctx context.Context, u port.Utterance, emit func(port.Speech) error) error {
	if s.Fail != nil {
		if err := s.Fail(u.Text); err != nil {
			return err
		}
	}
	letter := s.PerLetter
	if letter == 0 {
		letter = audio.Pos(s.Rate() * 60 / 1000)
	}
	piece := make([]int16, audio.FrameSamples(s.Rate()))
	var at audio.Pos
	for i := 0; i < len(u.Text); {
		end := strings.IndexFunc(u.Text[i:], unicode.IsSpace)
		if end < 0 {
			end = len(u.Text) - i
		}
		if end == 0 {
			i++
			continue
		}
		marks := []port.Mark{{At: at, Text: i}}
		for n := letter * audio.Pos(end); n > 0; {
			if err := ctx.Err(); err != nil {
				return err
			}
			part := piece[:min(n, audio.Pos(len(piece)))]
			for k := range part {
				phase := float64(at+audio.Pos(k)) / float64(s.Rate())
				part[k] = int16(6000 * math.Sin(2*math.Pi*(180+20*float64(end))*phase))
				if part[k] == 0 {
					part[k] = 1 // a frame of speech is never silent
				}
			}
			if err := emit(port.Speech{PCM: part, Marks: marks}); err != nil {
				return err
			}
			marks = nil
			at += audio.Pos(len(part))
			n -= audio.Pos(len(part))
		}
		i += end
	}
	return nil
}
