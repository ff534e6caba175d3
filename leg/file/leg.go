package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/wait"
	"github.com/hocketvoice/hocket/port"
)

var _ port.Leg = (*Leg)(nil)

// readyState is the phase in which the agent waits for the caller.
const readyState = "listening.ready"

// Leg is the simulated caller. Its methods follow the concurrency rules of
// port.Leg. Close must not be called while another method is running.
type Leg struct {
	o     Options
	frame int // samples per frame

	out, mix *audio.WAVWriter

	mu       sync.Mutex // guards the fields below
	next     int        // index of the next utterance
	left     []int16    // rest of the current utterance
	pos      audio.Pos  // samples read so far
	due      time.Time  // time of the next frame in real time
	quiet    audio.Pos  // start of the silence of both sides, if ready
	ready    bool       // the agent waits for the caller
	speaking bool       // the agent is audible
	since    audio.Pos  // when the agent began to speak
	silence  audio.Pos  // consecutive samples of silence from the agent
	gone     bool       // the caller has hung up
	air      *air       // nil if there is no echo
	pcm      []int16    // returned by Read
	// Samples of each side of the mix that wait for the other side. Sample n read
	// is mixed with sample n written.
	caller, agent []int16
	err           error
}

// New returns a caller.
func New(o Options) (*Leg, error) {
	o.setDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	l := &Leg{o: o, frame: audio.FrameSamples(o.Rate)}
	l.pcm = make([]int16, l.frame)
	if o.Echo.Gain > 0 {
		l.air = newAir(o.Echo, o.Rate)
	}
	var err error
	if o.Out != nil {
		if l.out, err = audio.NewWAVWriter(o.Out, audio.WAVWriterOptions{Rate: o.Rate, Channels: 1}); err != nil {
			return nil, fmt.Errorf("file leg: %w", err)
		}
	}
	if o.Mix != nil {
		if l.mix, err = audio.NewWAVWriter(o.Mix, audio.WAVWriterOptions{Rate: o.Rate, Channels: 2}); err != nil {
			return nil, fmt.Errorf("file leg: %w", err)
		}
	}
	return l, nil
}

// Rate returns the sampling rate of both directions in hertz.
func (l *Leg) Rate() int { return l.o.Rate }

// Read returns the caller's next 20 ms, a piece of an utterance or silence. It
// returns io.EOF when the caller hangs up.
func (l *Leg) Read(ctx context.Context) (audio.Frame, error) {
	if err := l.wait(ctx); err != nil {
		return audio.Frame{}, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.left) == 0 {
		l.decide()
	}
	if l.gone = l.gone || l.done(); l.gone {
		return audio.Frame{}, io.EOF
	}
	n := copy(l.pcm, l.left)
	l.left = l.left[n:]
	clear(l.pcm[n:])
	if n > 0 {
		l.quiet = l.pos + audio.Pos(l.frame)
	}
	if l.air != nil {
		l.air.hear(l.pcm)
	}
	if l.o.Microphone != nil {
		l.o.Microphone(l.pcm, n > 0)
	}
	f := audio.Frame{Pos: l.pos, Rate: l.o.Rate, PCM: l.pcm}
	l.pos += audio.Pos(l.frame)
	if l.mix != nil {
		l.caller = append(l.caller, l.pcm...)
		l.keep(l.blend())
	}
	return f, nil
}

// wait waits for the next frame's time in real time.
func (l *Leg) wait(ctx context.Context) error {
	if !l.o.Realtime {
		return ctx.Err()
	}
	now := time.Now()
	l.mu.Lock()
	if l.due.IsZero() {
		l.due = now
	}
	l.due = l.due.Add(audio.FrameDuration)
	pause := l.due.Sub(now)
	l.mu.Unlock()
	return wait.For(ctx, pause)
}

// decide starts the next utterance if it is due.
func (l *Leg) decide() {
	if l.next >= len(l.o.Utterances) {
		return
	}
	u := &l.o.Utterances[l.next]
	breaksIn := u.BargeIn > 0 && l.speaking && (l.pos-l.since).Duration(l.o.Rate) >= u.BargeIn
	answers := l.ready && !l.speaking && (l.pos-l.quiet).Duration(l.o.Rate) >= l.o.Pause
	if breaksIn || answers {
		l.left = u.PCM
		l.next++
	}
}

// done reports whether the caller hangs up: all utterances were played and the
// agent has finished, or the time limit has passed.
func (l *Leg) done() bool {
	if l.pos.Duration(l.o.Rate) >= l.o.Longest {
		return true
	}
	return len(l.left) == 0 && l.next >= len(l.o.Utterances) && l.ready && !l.speaking &&
		(l.pos-l.quiet).Duration(l.o.Rate) >= l.o.HangUp
}

// Write takes the agent's next 20 ms.
func (l *Leg) Write(_ context.Context, f audio.Frame) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hear(f.PCM)
	if l.air != nil {
		l.air.play(f.PCM)
	}
	if l.out != nil {
		l.keep(l.out.Write(f.PCM))
	}
	if l.mix != nil {
		l.agent = append(l.agent, f.PCM...)
		l.keep(l.blend())
	}
	return l.err
}

// longestWait bounds how far one side of the mix may be ahead of the other.
const longestWait = 10 * time.Second

// blend writes the samples available from both sides. It fills in silence for a
// caller who has hung up and for a side that is too far behind.
func (l *Leg) blend() error {
	bound := int(audio.PosOf(longestWait, l.o.Rate))
	if l.gone || len(l.agent)-len(l.caller) > bound {
		l.caller = padded(l.caller, len(l.agent))
	}
	if len(l.caller)-len(l.agent) > bound {
		l.agent = padded(l.agent, len(l.caller))
	}
	n := min(len(l.caller), len(l.agent))
	err := l.mix.WriteStereo(l.caller[:n], l.agent[:n])
	l.caller = slices.Delete(l.caller, 0, n)
	l.agent = slices.Delete(l.agent, 0, n)
	return err
}

// padded returns pcm followed by silence up to n samples.
func padded(pcm []int16, n int) []int16 {
	for len(pcm) < n {
		pcm = append(pcm, 0)
	}
	return pcm
}

// pauseInSpeech is the longest pause of the agent within one reply.
const pauseInSpeech = 300 * time.Millisecond

// hear detects when the agent speaks.
func (l *Leg) hear(pcm []int16) {
	if audio.Peak(pcm) > 0 {
		if !l.speaking {
			l.speaking, l.since = true, l.pos-audio.Pos(len(pcm))
		}
		l.silence = 0
		l.quiet = l.pos
		return
	}
	l.silence += audio.Pos(len(pcm))
	if l.speaking && l.silence.Duration(l.o.Rate) >= pauseInSpeech {
		l.speaking = false
	}
}

func (l *Leg) keep(err error) {
	if err != nil && l.err == nil {
		l.err = err
	}
}

// Clear does nothing, since written samples count as heard at once.
func (l *Leg) Clear(context.Context) error { return nil }

// Notify records whose turn it is.
func (l *Leg) Notify(n port.Notice) {
	if n.Type != "state" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	ready := n.State == readyState
	if ready && !l.ready {
		l.quiet = l.pos
	}
	l.ready = ready
}

// Close completes the files.
func (l *Leg) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var errs []error
	if l.out != nil {
		errs = append(errs, l.out.Close())
	}
	if l.mix != nil {
		n := max(len(l.caller), len(l.agent))
		l.caller, l.agent = padded(l.caller, n), padded(l.agent, n)
		errs = append(errs, l.blend(), l.mix.Close())
	}
	return errors.Join(errs...)
}
