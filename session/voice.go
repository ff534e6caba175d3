package session

import (
	"context"
	"errors"
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
}

// voice is the worker that has texts spoken, one after the other. Its methods
// are called by the loop; run is its goroutine.
type voice struct {
	s     *Session
	synth port.Synthesizer
	to    *audio.Resampler // nil: the voice has the leg's rate
	pcm   []int16

	mu      sync.Mutex // guards all below
	jobs    []job      // bounded by what the machine lets a reply hold
	idle    bool       // run waits for jobs
	wake    chan struct{}
	current int                // the turn being spoken
	stop    context.CancelFunc // of the current text
	dead    int                // turns up to this one are cancelled
}

func newVoice(s *Session, synth port.Synthesizer) (*voice, error) {
	v := &voice{s: s, synth: synth, wake: make(chan struct{}, 1)}
	s.busy(1) // until run finds that there is nothing to do
	if synth != nil && synth.Rate() != s.rate {
		to, err := audio.NewResampler(audio.ResamplerOptions{From: synth.Rate(), To: s.rate})
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
	if v.current != 0 && v.current <= v.dead {
		v.stop()
	}
	v.mu.Unlock()
	v.s.downlink.Wake()
}

func (v *voice) cancelAll() { v.cancel(int(^uint(0) >> 1)) }

// next takes the next job that is still wanted.
func (v *voice) next(ctx context.Context) (job, context.Context, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for len(v.jobs) > 0 {
		j := v.jobs[0]
		v.jobs = append(v.jobs[:0], v.jobs[1:]...)
		if j.turn <= v.dead {
			continue
		}
		ctx, v.stop = context.WithCancel(ctx)
		v.current = j.turn
		return j, ctx, true
	}
	v.idle = true
	v.s.busy(-1)
	return job{}, nil, false
}

func (v *voice) done() {
	v.mu.Lock()
	v.stop()
	v.current = 0
	v.mu.Unlock()
}

// run speaks until ctx ends.
func (v *voice) run(ctx context.Context) {
	for {
		j, jobCtx, ok := v.next(ctx)
		if !ok {
			select {
			case <-v.wake:
				continue
			case <-ctx.Done():
				return
			}
		}
		err := v.do(jobCtx, j)
		if err != nil && !errors.Is(err, media.ErrFlushed) && jobCtx.Err() == nil {
			v.s.postFact(conv.PlayoutFailed{Turn: j.turn, Code: "PLAYBACK_ERROR", Message: err.Error()})
		}
		v.done()
	}
}

// do speaks one text into the downlink.
func (v *voice) do(ctx context.Context, j job) error {
	down := v.s.downlink
	if j.end {
		down.EndPart(j.turn, j.part)
		return nil
	}
	if v.synth == nil {
		return errNoVoice
	}
	down.Begin(j.turn, j.part, j.text)
	if v.to != nil {
		v.to.Reset()
	}
	u := port.Utterance{Text: j.text, Voice: v.s.o.Voice, Language: v.s.conv.Options().Language}
	err := v.synth.Speak(ctx, u, func(p port.Speech) error { return v.write(ctx, j.turn, p) })
	if err != nil {
		return err
	}
	if v.to != nil {
		v.pcm = v.to.Flush(v.pcm[:0])
		if err := down.Write(ctx, j.turn, v.pcm, nil); err != nil {
			return err
		}
	}
	down.EndText(j.turn)
	return nil
}

var errNoVoice = errors.New("no speech synthesizer is configured")

// write hands a piece of speech on at the leg's rate.
func (v *voice) write(ctx context.Context, turn int, p port.Speech) error {
	if v.to == nil {
		return v.s.downlink.Write(ctx, turn, p.PCM, p.Marks)
	}
	v.pcm = v.to.Append(v.pcm[:0], p.PCM)
	marks := make([]port.Mark, len(p.Marks))
	for i, m := range p.Marks {
		at := m.At.Duration(v.synth.Rate())
		marks[i] = port.Mark{At: audio.PosOf(at, v.s.rate), Text: m.Text}
	}
	return v.s.downlink.Write(ctx, turn, v.pcm, marks)
}
