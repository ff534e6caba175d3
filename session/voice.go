package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/media"
	"github.com/hocketvoice/hocket/port"
)

// job is a text for the synthesizer or, with end set, the end of a part.
type job struct {
	turn, part int
	text       string
	own        *saying // the sound of the speech-to-speech service that has these words; nil: none
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
	own   *audio.Resampler // likewise, for the speech-to-speech service
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
	if up := s.o.Upstream; up != nil {
		var err error
		if v.own, err = resampler(up.Rate(), rate); err != nil {
			return nil, err
		}
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
	if u := v.s.upstream(); u != nil {
		err := v.fromService(ctx, u, j)
		if !errors.Is(err, errNoVoice) || v.synth == nil {
			return err
		}
	}
	if v.synth == nil {
		return errNoVoice
	}
	v.begin(j, j.text)
	u := port.Utterance{Text: j.text, Voice: v.s.o.Voice, Language: v.s.conv.Options().Language}
	if v.to != nil {
		v.to.Reset()
	}
	err := v.synth.Speak(ctx, u, func(p port.Speech) error { return v.write(ctx, j, p, v.to, v.synth.Rate()) })
	if err != nil {
		return err
	}
	return v.finish(ctx, j, v.to)
}

// begin begins the text of a job.
func (v *voice) begin(j job, words string) time.Duration {
	v.down.Begin(media.Text{Turn: j.turn, Part: j.part, Words: words, Cuts: j.cuts})
	return v.down.Ledger().Generated
}

// finish ends the text of a job.
func (v *voice) finish(ctx context.Context, j job, to *audio.Resampler) error {
	if !v.s.keeper.told(ctx, j.state) {
		return ctx.Err()
	}
	if to != nil {
		v.pcm = to.Flush(v.pcm[:0])
		if err := v.down.Write(ctx, j.turn, v.pcm, nil); err != nil {
			return err
		}
	}
	v.down.EndText(j.turn)
	return nil
}

// fromService does a job whose sound comes from the speech-to-speech service: its own answer, or a
// text that it is asked to say. It returns [errNoVoice] if the service cannot say the text.
func (v *voice) fromService(ctx context.Context, u *upstream, j job) error {
	if v.own != nil {
		v.own.Reset()
	}
	rate := v.s.o.Upstream.Rate()
	sounded := false
	begin := func(words string) time.Duration { return v.begin(j, words) }
	emit := func(p port.Speech) error {
		sounded = true
		return v.write(ctx, j, p, v.own, rate)
	}
	if j.own != nil {
		if err := u.play(ctx, j.own, begin, emit); err != nil {
			return err
		}
		return v.finish(ctx, j, v.own)
	}
	unwanted := func(err error) bool { return ctx.Err() != nil || errors.Is(err, media.ErrFlushed) }
	err := errNoVoice
	for range 2 { // the second time by another session, if the first has ended
		a := u.ask(j.turn, j.part, j.text)
		if a == nil {
			break
		}
		if err = u.say(ctx, a, begin, emit); err == nil || sounded || unwanted(err) {
			break
		}
	}
	switch {
	case err == nil || sounded && !unwanted(err):
		return v.finish(ctx, j, v.own) // of a text that broke off, the machine has what was heard
	case unwanted(err) || errors.Is(err, errNoVoice):
		return err
	default:
		return fmt.Errorf("%w: %w", errNoVoice, err)
	}
}

var errNoVoice = errors.New("no speech synthesizer is configured")

// write writes a piece of speech to the downlink at the rate of the leg, after the state that the
// job follows from is stored. to is nil if the speech has that rate.
func (v *voice) write(ctx context.Context, j job, p port.Speech, to *audio.Resampler, rate int) error {
	if !v.s.keeper.told(ctx, j.state) {
		return ctx.Err()
	}
	if to == nil {
		return v.down.Write(ctx, j.turn, p.PCM, p.Marks)
	}
	v.pcm = to.Append(v.pcm[:0], p.PCM)
	marks := make([]port.Mark, len(p.Marks))
	for i, m := range p.Marks {
		at := m.At.Duration(rate)
		marks[i] = port.Mark{At: audio.PosOf(at, v.rate), Text: m.Text}
	}
	return v.down.Write(ctx, j.turn, v.pcm, marks)
}
