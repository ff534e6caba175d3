package session

import (
	"context"
	"strings"
	"sync"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
)

// medium carries what is said both ways: [sound], or [written] where the person reads
// and types. Its methods are called by the loop.
type medium interface {
	// perform carries out an effect on what is heard and said.
	perform(e conv.Effect)
	// heed follows the state, behind each step.
	heed(st *conv.State)
	// renew asks the services for a new session, while the old one goes on.
	renew(r renewal)
	// run starts the workers of real time. What fails ends the call.
	run(ctx context.Context, workers *sync.WaitGroup, fail func(error))
	// close ends what the medium has open, when nothing runs any more.
	close() error
}

// written is the medium of a conversation by text. It has no clock: what the agent
// says counts as read when it is said, and each effect is answered at once.
type written struct {
	s     *Session
	turn  int // the agent's that texts are of
	part  int // of it that has begun and was not flushed, 0: none
	texts []writtenText
}

type writtenText struct {
	part int
	text string
}

// perform carries out an effect on what is read.
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
		w.s.loop.Post(conv.STTFinal{Utterance: w.s.conv.State().Floor.Utterance}) // nobody speaks
	default:
		// The others concern sound, and nothing sounds.
	}
}

// begin tells that a part of a turn begins, unless it has.
func (w *written) begin(turn, part int) {
	if turn != w.turn {
		w.turn, w.part, w.texts = turn, 0, w.texts[:0]
	}
	if part != w.part {
		w.part = part
		w.s.loop.Post(conv.PlayoutStarted{Turn: turn, Part: part})
	}
}

// read is what was said of a turn, or with a part above zero of its parts up to that
// one.
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

// renew finds that the services' session is this process, and goes on.
func (w *written) renew(r renewal) { w.s.loop.Post(r.done) }

// run waits for the leg's end.
func (w *written) run(ctx context.Context, workers *sync.WaitGroup, fail func(error)) {
	workers.Go(func() { fail(w.s.readTo(ctx, func(context.Context, audio.Frame) {})) })
}

func (*written) close() error { return nil }
