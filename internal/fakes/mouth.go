package fakes

import (
	"context"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

// Mouth is a synthesizer behind a fake. It is safe for concurrent use.
type Mouth struct {
	Engine port.Synthesizer
	// Speed is the pace at which sound is sent, relative to real time; 0 sends it as soon as
	// the engine has made it.
	Speed float64
}

// Piece is a piece of speech, with the words that begin in it.
type Piece struct {
	PCM   []int16
	Start time.Duration // of the piece in the text
	Words []port.Word   // with Text and Start; End is the beginning of the next word
}

// Characters returns the characters of the words, a space after each, with the times in the text
// at which they begin and end.
func (p Piece) Characters() (chars []string, starts, ends []time.Duration) {
	chars = []string{}
	for _, w := range p.Words {
		runes := []rune(w.Text + " ")
		each := (w.End - w.Start) / time.Duration(len(runes))
		for i, r := range runes {
			chars = append(chars, string(r))
			starts = append(starts, w.Start+time.Duration(i)*each)
			ends = append(ends, w.Start+time.Duration(i+1)*each)
		}
	}
	return chars, starts, ends
}

// pieceLength is the length of a piece.
const pieceLength = 200 * time.Millisecond

// Speak speaks a text at a sampling rate.
func (m Mouth) Speak(ctx context.Context, text, language string, rate int, send func(Piece) error) error {
	s := &speech{m: m, rate: rate, text: text, send: send, began: time.Now()}
	if from := m.Engine.Rate(); from != rate {
		to, err := audio.NewResampler(audio.ResamplerOptions{From: from, To: rate})
		if err != nil {
			return err
		}
		s.to = to
	}
	err := m.Engine.Speak(ctx, port.Utterance{Text: text, Language: language}, func(p port.Speech) error {
		for _, mark := range p.Marks {
			s.marks = append(s.marks, port.Word{Text: wordAt(text, mark.Text), Start: mark.At.Duration(m.Engine.Rate())})
		}
		return s.add(ctx, p.PCM)
	})
	if err != nil {
		return err
	}
	if s.to != nil {
		s.pcm = s.to.Flush(s.pcm)
	}
	return s.give(ctx, len(s.pcm))
}

// speech is one Speak.
type speech struct {
	m     Mouth
	rate  int
	text  string
	to    *audio.Resampler
	send  func(Piece) error
	pcm   []int16
	at    audio.Pos
	marks []port.Word
	began time.Time
}

func (s *speech) add(ctx context.Context, pcm []int16) error {
	if s.to != nil {
		s.pcm = s.to.Append(s.pcm, pcm)
	} else {
		s.pcm = append(s.pcm, pcm...)
	}
	for n := int(audio.PosOf(pieceLength, s.rate)); len(s.pcm) >= n; {
		if err := s.give(ctx, n); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// give sends the next samples, when they are due.
func (s *speech) give(ctx context.Context, n int) error {
	if n == 0 {
		return nil
	}
	start := s.at.Duration(s.rate)
	if s.m.Speed > 0 {
		due := time.NewTimer(time.Until(s.began.Add(time.Duration(float64(start) / s.m.Speed))))
		defer due.Stop()
		select {
		case <-due.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.at += audio.Pos(n)
	end := s.at.Duration(s.rate)
	p := Piece{PCM: s.pcm[:n], Start: start}
	for len(s.marks) > 0 && s.marks[0].Start < end {
		w := s.marks[0]
		s.marks = s.marks[1:]
		w.End = end
		if len(s.marks) > 0 && s.marks[0].Start < end {
			w.End = s.marks[0].Start
		}
		p.Words = append(p.Words, w)
	}
	err := s.send(p)
	s.pcm = append(s.pcm[:0], s.pcm[n:]...)
	return err
}

// wordAt returns the word at an offset of a text.
func wordAt(text string, offset int) string {
	if words := strings.Fields(text[min(offset, len(text)):]); len(words) > 0 {
		return words[0]
	}
	return ""
}
