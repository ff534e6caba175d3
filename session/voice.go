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

// job is a text for the synthesizer or, with end set, the end of a part.
type job struct {
	turn, part int
	text       string
	end        bool
	state      int // number of the state, in the keeper, that must be stored before the text is heard
	cuts       int // number of flushes of the playout before the job was queued
}

// voice is the worker that has the synthesizer speak texts, one after the other. The loop calls
// its methods; run has a goroutine of its own.
type voice struct {
	s     *Session
	down  *media.Downlink
	synth port.Synthesizer
	to    *audio.Resampler // nil: the synthesizer has the rate of the leg
	rate  int              // the sample rate of the leg
	pcm   []int16

	mu      sync.Mutex // guards all below
	jobs    []job      // no longer than the machine lets a reply become
	idle    bool       // run waits for jobs
	wake    chan struct{}
	current job                // the job that is being done; zero: none
	stop    context.CancelFunc // cancels the current job
	dead    int                // turns up to this number are cancelled
}

func newVoice(s *Session, down *media.Downlink, rate int) (*voice, error) {
	synth := s.o.Synthesizer
	v := &voice{s: s, down: down, synth: synth, rate: rate, wake: make(chan struct{}, 1)}
	s.busy(1) // until run waits for jobs
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
		v.wake <- struct{}{} // never blocks: the channel has room, because run waits for a token
	}
}

// cancel cancels the jobs of a turn and of all turns before it.
func (v *voice) cancel(turn int) {
	v.mu.Lock()
	v.dead = max(v.dead, turn)
	if v.current.turn != 0 && v.current.turn <= v.dead {
		v.stop()
	}
	v.mu.Unlock()
	v.down.Wake()
}

// cut cancels the queued jobs of a turn whose playout was flushed; if part is not zero, only those
// of its parts up to it. Jobs that are queued later are done.
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

// next removes the next job that is not cancelled and returns it with its context.
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

// run does jobs until ctx ends.
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

// speakNow does one job and posts its failure, unless the job was cancelled.
func (v *voice) speakNow(ctx context.Context, j job) {
	defer v.done()
	err := v.do(ctx, j)
	if err == nil || errors.Is(err, media.ErrFlushed) || ctx.Err() != nil {
		return
	}
	v.s.postFact(conv.PlayoutFailed{Turn: j.turn, Code: "PLAYBACK_ERROR", Message: err.Error()})
}

// do does one job: it has a text spoken into the downlink, or ends a part.
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

// write writes a piece of speech to the downlink at the rate of the leg, after the state that the
// job follows from is stored.
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
