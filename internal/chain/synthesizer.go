package chain

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/port/errclass"
)

// Voice is a synthesizer with its name.
type Voice struct {
	Name string
	port.Synthesizer
}

// Synthesizer is a synthesizer that falls back. It is safe for concurrent use.
type Synthesizer struct {
	voices []Voice
	health *health
}

// patience is how long a voice may be silent before it speaks, if there is another one: a
// caller hears the other one within 2 s.
const patience = 1200 * time.Millisecond

// NewSynthesizer returns a synthesizer that uses the first of the voices that works. Its rate
// is that of the first. report, which may be nil, must not block.
func NewSynthesizer(voices []Voice, report func(Switch)) *Synthesizer {
	names := make([]string, len(voices))
	for i, v := range voices {
		names[i] = v.Name
	}
	return &Synthesizer{voices: voices, health: newHealth("synthesizer", names, report)}
}

// Rate implements [port.Synthesizer].
func (s *Synthesizer) Rate() int { return s.voices[0].Rate() }

// Speak implements [port.Synthesizer]. If a voice fails, the next one says the text from the
// last word on that was marked, or all of it.
func (s *Synthesizer) Speak(ctx context.Context, u port.Utterance, emit func(port.Speech) error) error {
	r := &relay{rate: s.Rate(), emit: emit, text: u.Text}
	order := s.health.order(time.Now())
	var err error
	for n, i := range order {
		last := n == len(order)-1
		if err = s.speak(ctx, s.voices[i], u, r, last); err == nil {
			s.health.worked(i)
			return nil
		}
		if ended := ctx.Err(); ended != nil && r.unwanted == nil {
			return ended
		}
		if r.unwanted != nil {
			return err
		}
		next := -1
		if !last {
			next = order[n+1]
		}
		s.health.failed(i, next, err, time.Now())
		r.next()
	}
	return err
}

// speak has a voice say what is left of the text.
func (s *Synthesizer) speak(ctx context.Context, v Voice, u port.Utterance, r *relay, last bool) error {
	if err := r.convert(v.Rate()); err != nil {
		return fmt.Errorf("%s: %w", v.Name, err)
	}
	u.Text = r.left()
	patient, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silent := &port.Failure{Code: errclass.NetworkTimeout, Message: fmt.Sprintf("%s: no sound within %v", v.Name, patience), Retryable: true}
	if !last {
		timer := time.AfterFunc(patience, func() { cancel(silent) })
		defer timer.Stop()
		r.first = func() { timer.Stop() }
	}
	err := v.Speak(patient, u, r.add)
	r.first = nil
	if err != nil && ctx.Err() == nil && errors.Is(context.Cause(patient), silent) {
		return silent
	}
	if err != nil {
		return err
	}
	return r.flush()
}

// relay passes the speech of voices on, one after the other, as that of one text.
type relay struct {
	rate     int
	emit     func(port.Speech) error
	text     string
	first    func() // called with the first sound of a voice
	unwanted error  // of emit

	to   *audio.Resampler // nil if the voice has the rate
	from int              // its rate
	pcm  []int16

	at     audio.Pos // samples emitted
	start  audio.Pos // where the voice began
	offset int       // in the text, where the voice began
	spoken int       // in the text, the last mark
}

// left returns the text that is to be said.
func (r *relay) left() string { return r.text[r.offset:] }

// next prepares for another voice.
func (r *relay) next() { r.start, r.offset = r.at, r.spoken }

// convert prepares for a voice's rate.
func (r *relay) convert(from int) (err error) {
	r.to, r.from = nil, from
	if from != r.rate {
		r.to, err = audio.NewResampler(audio.ResamplerOptions{From: from, To: r.rate})
	}
	return err
}

func (r *relay) add(p port.Speech) error {
	if r.first != nil && len(p.PCM) > 0 {
		r.first()
	}
	marks := make([]port.Mark, len(p.Marks))
	for i, m := range p.Marks {
		marks[i] = port.Mark{At: r.start + audio.PosOf(m.At.Duration(r.from), r.rate), Text: min(r.offset+m.Text, len(r.text))}
		r.spoken = max(r.spoken, marks[i].Text)
	}
	if r.to == nil {
		return r.give(p.PCM, marks)
	}
	r.pcm = r.to.Append(r.pcm[:0], p.PCM)
	return r.give(r.pcm, marks)
}

func (r *relay) give(pcm []int16, marks []port.Mark) error {
	r.at += audio.Pos(len(pcm))
	if err := r.emit(port.Speech{PCM: pcm, Marks: marks}); err != nil {
		r.unwanted = err
		return err
	}
	return nil
}

func (r *relay) flush() error {
	if r.to == nil {
		return nil
	}
	return r.give(r.to.Flush(r.pcm[:0]), nil)
}
