package session

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/media"
	"github.com/hocketvoice/hocket/port"
)

// job is one text for the voice, or the end of a part.
type job struct {
	turn, part int
	text       string
	end        bool
	state      int // the one that it follows from, as the keeper counts
	cuts       int // flushes of the playout before it was handed over
}

// voice is the worker that has texts spoken, one after the other. Its methods
// are called by the loop; run is its goroutine.
type voice struct {
	s     *Session
	down  *media.Downlink
	synth port.Synthesizer
	to    *audio.Resampler // nil: the voice has the leg's rate
	rate  int              // of the leg
	pcm   []int16

	mu      sync.Mutex // guards all below
	jobs    []job      // bounded by what the machine lets a reply hold
	idle    bool       // run waits for jobs
	wake    chan struct{}
	current job                // being spoken; zero: none
	stop    context.CancelFunc // of the current text
	dead    int                // turns up to this one are cancelled
}

func newVoice(s *Session, down *media.Downlink, rate int) (*voice, error) {
	synth := s.o.Synthesizer
	v := &voice{s: s, down: down, synth: synth, rate: rate, wake: make(chan struct{}, 1)}
	s.busy(1) // until run finds that there is nothing to do
	if synth != nil && synth.Rate() != rate {
		to, err := audio.NewResampler(audio.ResamplerOptions{From: synth.Rate(), To: rate})
		if err != nil {
			return nil, err
		}
		v.to = to
	}
	return v, nil
}

// speak queues a job. It never waits.
func (v *voice) speak(j job) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if j.turn <= v.dead {
		return
	}
	j.cuts, j.state = v.down.Cuts(), v.s.keeper.position()
	v.jobs = append(v.jobs, j)
	if v.idle {
		v.idle = false
		v.s.busy(1)
		v.wake <- struct{}{} // has room: run waits, and for this one token
	}
}

// cancel ends a turn's speech.
func (v *voice) cancel(turn int) {
	v.mu.Lock()
	v.dead = max(v.dead, turn)
	if v.current.turn != 0 && v.current.turn <= v.dead {
		v.stop()
	}
	v.mu.Unlock()
	v.down.Wake()
}

// cut ends what was handed over of a turn whose playout has been flushed, or of
// its parts up to one. The turn may go on with what is handed over from now on.
func (v *voice) cut(turn, part int) {
	unwanted := func(j job) bool {
		return j.turn == turn && (part == 0 || j.part <= part)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.jobs = slices.DeleteFunc(v.jobs, unwanted)
	if v.current.turn != 0 && unwanted(v.current) {
		v.stop()
	}
}

func (v *voice) cancelAll() { v.cancel(int(^uint(0) >> 1)) }

// next takes the next job that is still wanted, and the context that ends with
// it.
func (v *voice) next(ctx context.Context) (job, context.Context, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.jobs = slices.DeleteFunc(v.jobs, func(j job) bool { return j.turn <= v.dead })
	if len(v.jobs) == 0 {
		v.idle = true
		v.s.busy(-1)
		return job{}, nil, false
	}
	v.current = v.jobs[0]
	v.jobs = slices.Delete(v.jobs, 0, 1)
	ctx, v.stop = context.WithCancel(ctx)
	return v.current, ctx, true
}

func (v *voice) done() {
	v.mu.Lock()
	v.stop()
	v.current = job{}
	v.mu.Unlock()
}

// run speaks until ctx ends.
func (v *voice) run(ctx context.Context) {
	for {
		if j, jobCtx, ok := v.next(ctx); ok {
			v.speakNow(jobCtx, j)
			continue
		}
		select {
		case <-v.wake:
		case <-ctx.Done():
			return
		}
	}
}

// speakNow does one job and tells what went wrong, unless nobody wants it any
// more.
func (v *voice) speakNow(ctx context.Context, j job) {
	defer v.done()
	err := v.do(ctx, j)
	if err == nil || errors.Is(err, media.ErrFlushed) || ctx.Err() != nil {
		return
	}
	v.s.postFact(conv.PlayoutFailed{Turn: j.turn, Code: "PLAYBACK_ERROR", Message: err.Error()})
}

// do speaks one text into the downlink.
func (v *voice) do(ctx context.Context, j job) error {
	if j.end {
		v.down.EndPart(j.turn, j.part)
		return nil
	}
	if v.synth == nil {
		return errNoVoice
	}
	v.down.Begin(media.Text{Turn: j.turn, Part: j.part, Words: j.text, Cuts: j.cuts})
	if v.to != nil {
		v.to.Reset()
	}
	u := port.Utterance{Text: j.text, Voice: v.s.o.Voice, Language: v.s.conv.Options().Language}
	err := v.synth.Speak(ctx, u, func(p port.Speech) error { return v.write(ctx, j, p) })
	if err != nil {
		return err
	}
	if !v.s.keeper.told(ctx, j.state) {
		return ctx.Err()
	}
	if v.to != nil {
		v.pcm = v.to.Flush(v.pcm[:0])
		if err := v.down.Write(ctx, j.turn, v.pcm, nil); err != nil {
			return err
		}
	}
	v.down.EndText(j.turn)
	return nil
}

var errNoVoice = errors.New("no speech synthesizer is configured")

// write hands a piece of speech on at the leg's rate, once the state that it follows from
// is kept.
func (v *voice) write(ctx context.Context, j job, p port.Speech) error {
	if !v.s.keeper.told(ctx, j.state) {
		return ctx.Err()
	}
	if v.to == nil {
		return v.down.Write(ctx, j.turn, p.PCM, p.Marks)
	}
	v.pcm = v.to.Append(v.pcm[:0], p.PCM)
	marks := make([]port.Mark, len(p.Marks))
	for i, m := range p.Marks {
		at := m.At.Duration(v.synth.Rate())
		marks[i] = port.Mark{At: audio.PosOf(at, v.rate), Text: m.Text}
	}
	return v.down.Write(ctx, j.turn, v.pcm, marks)
}
