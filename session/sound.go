package session

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/internal/media"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/turn"
)

// sound is the audio path of a call: what carries the words both ways. Its methods
// are called by the loop unless they say otherwise.
type sound struct {
	s       *Session
	rate    int // of the leg
	up      *media.Uplink
	down    *media.Downlink
	voice   *voice
	frames  *frameQueue   // nil in virtual time
	reopen  chan struct{} // holds a token when a recognizer that failed is to be replaced, or closed
	renewal chan renewal  // holds those that are to be done

	// Of the loop's goroutine.
	audible bool // what the uplink was told last
	stopped bool // capture and playout stand still
}

// openSound makes the audio path. What it made before it failed, close ends.
func openSound(ctx context.Context, s *Session, post func(...conv.Event)) (a *sound, err error) {
	o, c := &s.o, s.conv.Options()
	a = &sound{s: s, rate: o.Leg.Rate(), reopen: make(chan struct{}, 1), renewal: make(chan renewal, maxRenewals)}
	acks, _ := o.Leg.(port.Acknowledger)
	down := media.DownlinkOptions{Rate: a.rate, Post: post, Acks: acks, Parked: s.parked}
	if w, ok := o.Leg.(port.SpeechWriter); ok {
		down.Sent = w.WriteSpeech
	}
	if a.down, err = media.NewDownlink(down); err != nil {
		return a, err
	}
	up := media.UplinkOptions{
		Rate: a.rate, Language: c.Language, Detector: o.Detector, Recognizer: o.Recognizer,
		Turn: o.Turn, Onset: o.Onset, Stability: o.Stability, Post: post,
		Utterance: s.conv.State().Floor.Utterance, Retired: a.restoreSoon,
		Energy: c.BargeIn.Reply.Policy == turn.BargeInEnergy,
	}
	if o.Heard != nil {
		up.Post = func(events ...conv.Event) {
			for _, ev := range events {
				o.Heard(ev)
			}
			post(events...)
		}
	}
	if o.TraceFeatures && s.recorder != nil {
		up.Features = s.recorder.features
	}
	if a.up, err = media.NewUplink(ctx, up); err != nil {
		return a, err
	}
	a.voice, err = newVoice(s, a.down, a.rate)
	return a, err
}

// close ends what openSound made. It is called when nothing runs any more.
func (a *sound) close() error {
	if a.up == nil {
		return nil
	}
	return a.up.Close()
}

// run starts the workers of real time. What fails ends the call.
func (a *sound) run(ctx context.Context, workers *sync.WaitGroup, fail func(error)) {
	workers.Go(func() { a.voice.run(ctx) })
	workers.Go(func() { a.restore(ctx) })
	if _, ok := a.s.o.Leg.(port.Clocked); ok {
		lent := newLending()
		workers.Go(func() { fail(a.s.readTo(ctx, lent.lend)) })
		workers.Go(func() { a.listenToClocked(ctx, lent) })
	} else {
		a.frames = newFrameQueue(a.rate)
		workers.Go(func() { fail(a.s.readTo(ctx, a.enqueue)) })
		workers.Go(func() { a.listenTo(ctx) })
	}
	workers.Go(func() { fail(a.pace(ctx)) })
}

// runVirtual starts the workers of virtual time, in which the frames are taken and
// written by the loop.
func (a *sound) runVirtual(ctx context.Context, workers *sync.WaitGroup) {
	workers.Go(func() { a.voice.run(ctx) })
	workers.Go(func() { a.restore(ctx) })
}

// perform carries out an effect on what is heard and said.
func (a *sound) perform(e conv.Effect) {
	switch e := e.(type) {
	case conv.Listen:
		a.listen()
	case conv.Expect:
		a.up.Expect(e.Expect)
	case conv.FinalizeTranscript:
		a.up.Finalize()
	case conv.Speak:
		a.voice.speak(job{turn: e.Turn, part: e.Part, text: e.Text})
	case conv.EndSpeech:
		a.voice.speak(job{turn: e.Turn, part: e.Part, end: true})
	case conv.CancelTurn:
		a.voice.cancel(e.Turn)
	case conv.FlushPlayout:
		a.flush(e.Turn, e.Part)
	case conv.DuckPlayout:
		a.down.Duck(e.Turn)
	case conv.PausePlayout:
		a.down.Pause(e.Turn)
	case conv.ResumePlayout:
		a.down.Resume(e.Turn)
	case conv.PauseAudio:
		a.still(true)
	case conv.ResumeAudio:
		a.still(false)
	case conv.Release:
		a.voice.cancelAll()
	default:
		// The others do not concern sound.
	}
}

// heed tells the uplink whether the agent is heard. While the user has the floor the
// agent's audio is held, whatever is still on its way to the ear.
func (a *sound) heed(st *conv.State) {
	if audible := st.Audible(); audible != a.audible {
		a.audible = audible
		a.up.Audible(audible)
	}
}

// listen opens the microphone for the user's turn. A pause that nobody has ended
// (a suspension that was given up) ends here, and a recognizer that has failed
// is replaced.
func (a *sound) listen() {
	a.still(false)
	if a.up.Failed() {
		a.restoreSoon()
	}
	if a.s.conv.State().User.Turn != 0 {
		a.up.Continue() // the user was first: the words are of this turn
		return
	}
	a.up.Listen()
}

// still stops and starts capture and playout.
func (a *sound) still(on bool) {
	if a.stopped == on {
		return
	}
	a.stopped = on
	a.up.Pause(on)
	a.down.Freeze(on)
}

// flush drops the turn's audio here and at the carrier, or that of its parts up
// to one, and reports what was heard of it.
func (a *sound) flush(turn, part int) {
	heard, text := a.down.Flush(turn, part)
	a.voice.cut(turn, part)
	a.s.loop.Post(conv.PlayoutFlushed{Turn: turn, Part: part, Heard: heard, Text: text})
}

// clearLeg has the carrier drop what it has, if that was asked for. It is called by
// who writes the frames.
func (a *sound) clearLeg(ctx context.Context) error {
	if !a.down.TakeClear() {
		return nil
	}
	if err := a.s.o.Leg.Clear(ctx); err != nil {
		return fmt.Errorf("clear the leg: %w", err)
	}
	return nil
}

// echo tells the uplink what of the agent's sound may come back. It is called by who
// reads the frames.
func (a *sound) echo() {
	if k := a.s.o.EchoCoupling; k > 0 {
		a.up.Echo(a.down.Level() * k)
	}
}

// maxRenewals bounds those that wait for a service that does not answer.
const maxRenewals = 4

// renewal is what follows from a session of the services' that was renewed, or not.
type renewal struct{ done, failed conv.Event }

// restore replaces a recognizer that has failed, or whose session ends, when it is
// asked to. It ends with ctx.
func (a *sound) restore(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case r := <-a.renewal:
			ev := r.done
			if a.up.Renew(ctx) != nil {
				ev = r.failed
			}
			if ev != nil && ctx.Err() == nil {
				a.s.postFact(ev)
			}
		case <-a.reopen:
			if err := a.up.Reopen(ctx); err != nil && ctx.Err() == nil {
				a.s.postFact(recognizerFailed(err))
			}
		}
		a.s.busy(-1)
	}
}

// renew asks the services for a new session, while the old one goes on.
func (a *sound) renew(r renewal) {
	a.s.busy(1)
	select {
	case a.renewal <- r:
	default:
		a.s.busy(-1)
		if r.failed != nil {
			a.s.loop.Post(r.failed)
		}
	}
}

// restoreSoon has restore look what there is to do. Any goroutine may call it.
func (a *sound) restoreSoon() {
	a.s.busy(1)
	select {
	case a.reopen <- struct{}{}:
	default:
		a.s.busy(-1) // No op. It is being replaced.
	}
}

func recognizerFailed(err error) conv.Event {
	return conv.Fault{Code: "RECOGNIZER_FAILED", Message: err.Error()}
}

// enqueue takes a frame of the leg's. It never waits: what the uplink cannot keep up
// with is dropped.
func (a *sound) enqueue(_ context.Context, f audio.Frame) { a.frames.push(f) }

// silenceAfter is when a leg that sends nothing is taken to be silent: the turn
// controller counts silence in frames.
const silenceAfter = 3 * audio.FrameDuration

// listenTo steps the uplink for each frame, and with silence for those that a
// paused sender leaves out.
func (a *sound) listenTo(ctx context.Context) {
	timer := time.NewTimer(silenceAfter)
	defer timer.Stop()
	pcm := make([]int16, audio.FrameSamples(a.rate))
	silence := make([]int16, audio.FrameSamples(a.rate))
	for {
		timer.Reset(silenceAfter)
		select {
		case <-ctx.Done():
			return
		case <-a.frames.ready:
			for {
				n, ok := a.frames.pop(pcm)
				if !ok {
					break
				}
				a.hear(pcm[:n])
			}
		case <-timer.C:
			for range silenceAfter / audio.FrameDuration {
				a.hear(silence)
			}
		}
	}
}

// lending hands one frame at a time from the leg's reader to the uplink: it is
// lent until the uplink has heard it.
type lending struct {
	frames chan audio.Frame
	heard  chan struct{}
}

func newLending() *lending {
	return &lending{frames: make(chan audio.Frame), heard: make(chan struct{})}
}

// lend returns when the frame has been heard, or with ctx.
func (l *lending) lend(ctx context.Context, f audio.Frame) {
	select {
	case l.frames <- f:
	case <-ctx.Done():
		return
	}
	select {
	case <-l.heard:
	case <-ctx.Done():
	}
}

// listenToClocked steps the uplink for each frame of a leg whose frames are its
// clock. Between them it only takes what others ask for, and what is found.
func (a *sound) listenToClocked(ctx context.Context, lent *lending) {
	timer := time.NewTimer(audio.FrameDuration)
	defer timer.Stop()
	for {
		timer.Reset(audio.FrameDuration)
		select {
		case <-ctx.Done():
			return
		case f := <-lent.frames:
			a.hear(f.PCM)
			select {
			case lent.heard <- struct{}{}:
			case <-ctx.Done():
				return
			}
		case <-timer.C:
			if err := a.up.Idle(); err != nil {
				_ = a.s.Post(recognizerFailed(err)) // ErrEnded: it is over
			}
		}
	}
}

// hear hands one frame to the uplink.
func (a *sound) hear(pcm []int16) {
	if a.s.o.Hearing != nil {
		defer func(began time.Time) { a.s.o.Hearing(time.Since(began)) }(time.Now())
	}
	a.echo()
	if err := a.up.Frame(audio.Frame{Rate: a.rate, PCM: pcm}); err != nil {
		_ = a.s.Post(recognizerFailed(err)) // ErrEnded: it is over
	}
}

// maxLag is how far behind the beat the pacer may fall before it lets beats go:
// a burst of old frames helps nobody.
const maxLag = 5 * audio.FrameDuration

// pace writes a frame every 20 ms, on absolute deadlines: the n-th is due at
// start + n * 20 ms, so that being late once does not make all others late.
func (a *sound) pace(ctx context.Context) error {
	out := make([]int16, audio.FrameSamples(a.rate))
	timer := time.NewTimer(0)
	defer timer.Stop()
	var pos audio.Pos
	due := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		if a.s.o.Late != nil {
			a.s.o.Late(max(0, time.Since(due)))
		}
		a.down.Frame(out)
		if err := a.clearLeg(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		if err := a.s.o.Leg.Write(ctx, audio.Frame{Pos: pos, Rate: a.rate, PCM: out}); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("write to the leg: %w", err)
		}
		pos += audio.Pos(len(out))
		due = due.Add(audio.FrameDuration)
		now := time.Now()
		if now.Sub(due) > maxLag {
			due = now
		}
		timer.Reset(due.Sub(now))
	}
}
