package session

import (
	"context"
	"strings"
	"sync"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
)

// medium carries the words of both sides. It is a [sound], or a [written] if the person reads and
// types. The loop calls its methods.
type medium interface {
	// perform carries out an effect that concerns the medium, and ignores others.
	perform(e conv.Effect)
	// heed takes the state after each step.
	heed(st *conv.State)
	// renew asks for a new session with the speech services. The old one continues meanwhile.
	renew(r renewal)
	// run starts the workers in real time. They pass an error that ends the call to fail.
	run(ctx context.Context, workers *sync.WaitGroup, fail func(error))
	// close closes what the medium has opened. No goroutine of the call runs any more.
	close() error
}

// written is the medium of a conversation by text. What the agent says counts as read at once, and
// each effect is answered at once.
type written struct {
	s     *Session
	turn  int // the agent's turn to which texts belong
	part  int // the part of it that has begun and was not flushed; 0: none
	texts []writtenText
}

type writtenText struct {
	part int
	text string
}

// perform carries out an effect that concerns what the person reads.
func (w *written) perform(e conv.Effect) {
	switch e := e.(type) {
	case conv.Speak:
		w.begin(e.Turn, e.Part)
		w.texts = append(w.texts, writtenText{e.Part, e.Text})
	case conv.EndSpeech:
		w.begin(e.Turn, e.Part)
		w.s.loop.Post(conv.PlayoutFinished{Turn: e.Turn, Part: e.Part, Text: w.read(e.Turn, e.Part)})
		w.part = 0
	case conv.FlushPlayout:
		w.s.loop.Post(conv.PlayoutFlushed{Turn: e.Turn, Part: e.Part, Heard: e.Heard, Text: w.read(e.Turn, e.Part)})
		if e.Turn == w.turn && (e.Part == 0 || w.part <= e.Part) {
			w.part = 0
		}
	case conv.FinalizeTranscript:
		w.s.loop.Post(conv.STTFinal{Utterance: w.s.conv.State().Floor.Utterance}) // there is no speech, so the transcript is empty
	default:
		// Other effects concern audio.
	}
}

// begin posts that a part of a turn has begun to play, unless it was posted before.
func (w *written) begin(turn, part int) {
	if turn != w.turn {
		w.turn, w.part, w.texts = turn, 0, w.texts[:0]
	}
	if part != w.part {
		w.part = part
		w.s.loop.Post(conv.PlayoutStarted{Turn: turn, Part: part})
	}
}

// read returns the texts of a turn or, if part is not zero, of its parts up to it.
func (w *written) read(turn, part int) string {
	if turn != w.turn {
		return ""
	}
	var texts []string
	for _, t := range w.texts {
		if part == 0 || t.part <= part {
			texts = append(texts, t.text)
		}
	}
	return strings.Join(texts, " ")
}

func (*written) heed(*conv.State) {}

// renew posts r.done at once, because there are no speech services to renew.
func (w *written) renew(r renewal) { w.s.loop.Post(r.done) }

// run starts a worker that reports when the person has left.
func (w *written) run(ctx context.Context, workers *sync.WaitGroup, fail func(error)) {
	workers.Go(func() { fail(w.s.readTo(ctx, func(context.Context, audio.Frame) {})) })
}

func (*written) close() error { return nil }
