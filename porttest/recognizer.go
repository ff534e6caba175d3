package porttest

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

// Recognizer is a fake that understands what it is told: the n-th utterance
// that holds sound has the n-th text. Words come one by one while the sound
// lasts. It is safe for concurrent use; the texts are shared by its streams.
type Recognizer struct {
	// Texts are what the utterances say. Beyond the last one nothing is
	// understood.
	Texts []string
	// PerWord is how much sound a word takes before it is shown; 200 ms if zero.
	PerWord time.Duration
	// Late holds finals back until so many more frames were written; a fake of a
	// remote engine's delay.
	Late int

	mu   sync.Mutex
	next int
}

// Open starts a stream.
func (r *Recognizer) Open(_ context.Context, cfg port.RecognizerConfig, sink func(port.Transcript)) (port.RecognizerStream, error) {
	perWord := r.PerWord
	if perWord == 0 {
		perWord = 200 * time.Millisecond
	}
	return &recognizerStream{r: r, sink: sink, perWord: audio.PosOf(perWord, cfg.Rate), rate: cfg.Rate}, nil
}

type recognizerStream struct {
	r       *Recognizer
	sink    func(port.Transcript)
	perWord audio.Pos
	rate    int

	open    bool
	words   []string
	taken   bool // words are the utterance's
	sound   audio.Pos
	shown   int
	pending []port.Transcript
	wait    int
}

func (s *recognizerStream) Begin() error {
	if s.open {
		return nil
	}
	s.open, s.taken, s.words, s.sound, s.shown = true, false, nil, 0, 0
	return nil
}

func (s *recognizerStream) Write(f audio.Frame) error {
	if s.wait > 0 {
		s.wait--
		if s.wait == 0 {
			for _, t := range s.pending {
				s.sink(t)
			}
			s.pending = nil
		}
	}
	if !s.open || audio.Peak(f.PCM) == 0 {
		return nil
	}
	if !s.taken {
		s.taken = true
		s.r.mu.Lock()
		if s.r.next < len(s.r.Texts) {
			s.words = strings.Fields(s.r.Texts[s.r.next])
			s.r.next++
		}
		s.r.mu.Unlock()
	}
	s.sound += audio.Pos(len(f.PCM))
	if n := min(int(s.sound/s.perWord), len(s.words)); n > s.shown {
		s.shown = n
		s.sink(port.Transcript{Text: strings.Join(s.words[:n], " "), Confidence: 0.9})
	}
	return nil
}

func (s *recognizerStream) Expect(port.Expectation) {}

func (s *recognizerStream) Finalize() error {
	if !s.open {
		return nil
	}
	s.open = false
	t := port.Transcript{Text: strings.Join(s.words, " "), Confidence: 0.9, Final: true}
	if s.r.Late > 0 {
		s.pending = append(s.pending, t)
		s.wait = s.r.Late
		return nil
	}
	s.sink(t)
	return nil
}

func (s *recognizerStream) Discard() error {
	s.open = false
	return nil
}

func (s *recognizerStream) Close() error { return nil }
