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

// sound is the medium of a spoken conversation: the audio path of the call. The loop calls its
// methods, unless their comments say otherwise.
type sound struct {
	s       *Session
	rate    int // the sample rate of the leg
	up      ear
	down    *media.Downlink
	voice   *voice
	frames  *frameQueue   // nil in virtual time, and for a leg whose frames are its clock
	reopen  chan struct{} // holds a token when a recognizer that has failed must be replaced or closed
	renewal chan renewal  // the renewals that wait to be done
	pauses  chan pause    // the pause that a model must hear; nil without one
	tape    *tape         // nil: the call is not recorded
	// upstream is the speech-to-speech service, which is also the ear; nil: there is none.
	upstream *upstream
	keys     *keypad // nil: the leg has no keys
	beep     beep
	speech   int // the turn of the speech in the pacer's frame; only the pacer uses it

	// Only the loop's goroutine uses these fields.
	audible bool // what the uplink was told last
	stopped bool // capture and playout are stopped
}

// openSound makes the audio path. If it fails, close closes what it has made.
func openSound(ctx context.Context, s *Session, post func(...conv.Event)) (a *sound, err error) {
	o, c := &s.o, s.conv.Options()
	a = &sound{s: s, rate: o.Leg.Rate(), reopen: make(chan struct{}, 1), renewal: make(chan renewal, maxRenewals)}
	acks, _ := o.Leg.(port.Acknowledger)
	down := media.DownlinkOptions{Rate: a.rate, Post: post, Acks: acks, Parked: s.parked}
	w, ok := o.Leg.(port.SpeechWriter)
	if ok {
		down.Sent = w.WriteSpeech
	}
	if a.tape = newTape(s, a.rate); a.tape != nil {
		down.Unheard = a.tape.unheard
		down.Sent = func(turn int, pcm []int16) {
			a.speech = turn
			if ok {
				w.WriteSpeech(turn, pcm)
			}
		}
	}
	if a.down, err = media.NewDownlink(down); err != nil {
		return a, err
	}
	up := media.UplinkOptions{
		Rate: a.rate, Language: c.Language, Detector: o.Detector, Recognizer: o.Recognizer,
		Turn: o.Turn, Onset: o.Onset, Stability: o.Stability, Echo: o.Echo, Post: post,
		Utterance: s.conv.State().Floor.Utterance, Retired: a.restoreSoon,
		Energy: c.BargeIn.Reply.Policy == turn.BargeInEnergy,
	}
	a.keys = newKeypad(o.Leg, post)
	slack := 2 * audio.FrameDuration // by which frames are late or early in real time
	if s.work != nil {               // virtual time
		slack = 0
	}
	up.Sent = a.down.Reference(slack)
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
	if o.EndOfTurn != nil {
		a.pauses = make(chan pause, 1)
		up.Ask = a.askModel
		if s.work != nil {
			up.Thinking = inference
		}
	}
	if o.Upstream != nil {
		if a.upstream, err = newUpstream(s, a.rate, up.Post); err != nil {
			return a, err
		}
		a.up = a.upstream
	} else if u, err := media.NewUplink(ctx, up); err != nil {
		return a, err
	} else {
		a.up = u
	}
	a.voice, err = newVoice(s, a.down, a.rate)
	return a, err
}

// close closes what openSound has made. It is called when no goroutine of the call runs any more.
func (a *sound) close() error {
	if a.up == nil {
		return nil
	}
	return a.up.Close()
}

// run starts the workers in real time. They pass an error that ends the call to fail.
func (a *sound) run(ctx context.Context, workers *sync.WaitGroup, fail func(error)) {
	if a.upstream != nil {
		a.upstream.fail = fail
		workers.Go(func() { a.upstream.watch(ctx) })
	}
	workers.Go(func() { a.voice.run(ctx) })
	workers.Go(func() { a.restore(ctx) })
	workers.Go(func() { a.hearPauses(ctx, patience) })
	if a.keys != nil {
		workers.Go(func() { a.keys.run(ctx) })
	}
	if _, ok := a.s.o.Leg.(port.Clocked); ok {
		lent := newLending()
		workers.Go(func() { fail(a.s.readTo(ctx, lent.lend)) })
		workers.Go(func() { a.listenToClocked(ctx, lent) })
	} else {
		a.frames = newFrameQueue(a.rate)
		workers.Go(func() { fail(a.s.readTo(ctx, a.enqueue)) })
		workers.Go(func() { a.listenTo(ctx) })
	}
	if a.tape != nil {
		workers.Go(func() { a.tape.run(ctx) })
	}
	workers.Go(func() { fail(a.pace(ctx)) })
}

// runVirtual starts the workers in virtual time, in which the loop itself reads and writes the
// frames.
func (a *sound) runVirtual(ctx context.Context, workers *sync.WaitGroup, fail func(error)) {
	if a.upstream != nil {
		a.upstream.fail = fail
	}
	workers.Go(func() { a.voice.run(ctx) })
	workers.Go(func() { a.restore(ctx) })
	workers.Go(func() { a.hearPauses(ctx, 0) })
}

// perform carries out an effect that concerns the audio, and ignores others.
func (a *sound) perform(e conv.Effect) {
	switch e := e.(type) {
	case conv.Listen:
		a.listen()
	case conv.Expect:
		a.up.Expect(e.Expect)
		a.keys.expect(e.Expect.Digits)
	case conv.NoteAnswer:
		a.up.Answer(e.Utterance, e.Answer)
	case conv.FinalizeTranscript:
		a.up.Finalize()
	case conv.Speak:
		a.speak(e)
	case conv.EndSpeech:
		a.voice.speak(job{turn: e.Turn, part: e.Part, end: true})
	case conv.CancelTurn:
		a.cancel(e.Turn)
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
		// Other effects do not concern the audio.
	}
}

// cancel cancels the speech of a turn.
func (a *sound) cancel(turn int) {
	a.voice.cancel(turn)
	if a.upstream != nil {
		a.upstream.cancel(turn)
	}
}

// speak hands a text to the voice. The words of a speech-to-speech service have their own sound,
// which the first of them releases.
func (a *sound) speak(e conv.Speak) {
	j := job{turn: e.Turn, part: e.Part, text: e.Text}
	if a.upstream != nil {
		if j.own = a.upstream.spoken(e); j.own != nil && a.upstream.more(j.own, a.down, e.Text) {
			return
		}
	}
	a.voice.speak(j)
}

// heed tells the uplink whether the agent's audio is playing, if that has changed.
func (a *sound) heed(st *conv.State) {
	if audible := st.Audible(); audible != a.audible {
		a.audible = audible
		a.up.Audible(audible)
	}
	if a.upstream != nil {
		a.upstream.heed(st)
		a.beep.ring(st.Phase == conv.Reconnecting && !a.s.legLost)
	}
}

// listen opens the microphone for the user's turn. It ends a pause, which is left over from a
// suspension that was given up, and replaces a recognizer that has failed.
func (a *sound) listen() {
	a.still(false)
	if a.up.Failed() {
		a.restoreSoon()
	}
	if a.s.conv.State().User.Turn != 0 {
		a.up.Continue() // the user's turn is open already, and its words so far belong to it
		return
	}
	a.up.Listen()
}

// still stops capture and playout if on is set, and else starts them again.
func (a *sound) still(on bool) {
	if a.stopped == on {
		return
	}
	a.stopped = on
	a.up.Pause(on)
	a.down.Freeze(on)
}

// flush drops the audio of a turn, also at the carrier, and posts how much of it was heard. If
// part is not zero, it drops only the audio of the parts up to it.
func (a *sound) flush(turn, part int) {
	heard, text := a.down.Flush(turn, part)
	a.voice.cut(turn, part)
	if a.upstream != nil {
		a.upstream.flushed(turn, part, heard)
	}
	a.s.loop.Post(conv.PlayoutFlushed{Turn: turn, Part: part, Heard: heard, Text: text})
}

// clearLeg makes the carrier drop the audio that it has buffered, if a flush has asked for that.
// The goroutine that writes the frames calls it.
func (a *sound) clearLeg(ctx context.Context) error {
	if !a.down.TakeClear() {
		return nil
	}
	if err := a.s.o.Leg.Clear(ctx); err != nil {
		return fmt.Errorf("clear the leg: %w", err)
	}
	return nil
}

// maxRenewals is the maximum number of renewals that wait for a service that does not answer.
const maxRenewals = 4

// renewal is a request to renew the sessions of the speech services. done is posted if it
// succeeds and failed, if not nil, if it fails.
type renewal struct{ done, failed conv.Event }

// restore renews or replaces the recognizer when renew or restoreSoon asks for it. It returns when
// ctx ends.
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

// renew asks for a new session with the speech services. The old one continues meanwhile.
func (a *sound) renew(r renewal) {
	if a.upstream != nil {
		a.upstream.renew(r)
		return
	}
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

// restoreSoon asks restore to replace or close a recognizer. Any goroutine may call it.
func (a *sound) restoreSoon() {
	a.s.busy(1)
	select {
	case a.reopen <- struct{}{}:
	default:
		a.s.busy(-1) // restore has been asked already
	}
}

func recognizerFailed(err error) conv.Event {
	return conv.Fault{Code: "RECOGNIZER_FAILED", Message: err.Error()}
}

// enqueue queues a frame of the leg. It never waits: if the uplink cannot keep up, frames are
// dropped.
func (a *sound) enqueue(_ context.Context, f audio.Frame) { a.frames.push(f) }

// silenceAfter is the time without frames of the leg after which the uplink gets frames of
// silence, because the turn controller counts silence in frames.
const silenceAfter = 3 * audio.FrameDuration

// listenTo passes the frames of the leg to the uplink, and silence for frames that the sender
// leaves out.
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

// listenToClocked passes the frames of the leg to the uplink, for a leg whose frames are its
// clock. Between frames the uplink only does what others ask of it, and posts what its
// services have found.
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
				_ = a.s.Post(recognizerFailed(err)) // after ErrEnded the conversation is over
			}
		}
	}
}

// hear passes one frame to the uplink.
func (a *sound) hear(pcm []int16) {
	if a.s.o.Hearing != nil {
		defer func(began time.Time) { a.s.o.Hearing(time.Since(began)) }(time.Now())
	}
	a.tape.person(pcm)
	a.keys.frame()
	if err := a.up.Frame(audio.Frame{Rate: a.rate, PCM: pcm}, a.down.Level()); err != nil {
		_ = a.s.Post(recognizerFailed(err)) // after ErrEnded the conversation is over
	}
}

// maxLag is the delay after which the pacer skips frames, because a burst of old frames would
// not help.
const maxLag = 5 * audio.FrameDuration

// pace writes a frame to the leg every 20 ms. The n-th frame is due at start + n * 20 ms, so that
// one late frame does not delay all others.
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
		a.speech = 0
		a.down.Frame(out)
		a.beep.mix(out, a.rate)
		a.tape.agent(a.speech, out)
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
