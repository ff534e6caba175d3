package webrtc

import (
	"log/slog"
	"sync"
	"time"

	"github.com/pion/rtp"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/codec/opus"
	"github.com/hocketvoice/hocket/internal/wire/rtpjitter"
)

// quietLevel is the RMS level below which sound may be stretched or shortened
// without being noticed: -40 dB.
const quietLevel = 0.01

// receiver makes frames of the person's packets. push is safe for concurrent use;
// frame must be called by one goroutine.
type receiver struct {
	rate    int
	decoder *opus.Decoder
	fifo    []int16 // decoded but not yet read; its capacity is fixed
	pcm     []int16 // returned by frame
	scratch []int16
	pos     audio.Pos
	quiet   bool
	silent  bool // the last step was silence

	mu        sync.Mutex // guards the fields below
	buffer    *rtpjitter.Buffer
	fresh     bool // another sender has taken over
	source    uint32
	malformed int
}

func newReceiver(rate int) (*receiver, error) {
	decoder, err := opus.NewDecoder(opus.DecoderOptions{Rate: rate})
	if err != nil {
		return nil, err
	}
	buffer, err := rtpjitter.New(rtpjitter.Options{ClockRate: opus.ClockRate})
	if err != nil {
		return nil, err
	}
	longest := int(audio.PosOf(120*time.Millisecond, rate))
	return &receiver{
		rate: rate, decoder: decoder, buffer: buffer, quiet: true, silent: true,
		fifo: make([]int16, 0, longest+audio.FrameSamples(rate)), scratch: make([]int16, longest),
		pcm: make([]int16, audio.FrameSamples(rate)),
	}, nil
}

// push adds a packet.
func (r *receiver) push(now time.Time, h *rtp.Header, payload []byte) {
	d, err := opus.Duration(payload)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.malformed++
		return
	}
	if h.SSRC != r.source { // another microphone on the same connection
		r.source = h.SSRC
		r.forget()
	}
	r.buffer.Push(now, rtpjitter.Packet{
		Seq: h.SequenceNumber, Timestamp: h.Timestamp, Duration: d, Payload: payload,
		Silent: opus.Silent(payload), Copy: opus.HasCopy(payload),
	})
}

// reset clears the state for another sender.
func (r *receiver) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget()
}

// forget requires mu.
func (r *receiver) forget() {
	r.buffer.Reset()
	r.fresh = true
}

// frame returns the 20 ms that begin at now. The samples are valid until the next
// call.
func (r *receiver) frame(now time.Time) audio.Frame {
	for len(r.fifo) < len(r.pcm) {
		r.decode(now)
	}
	copy(r.pcm, r.fifo)
	r.fifo = r.fifo[:copy(r.fifo, r.fifo[len(r.pcm):])]
	f := audio.Frame{Pos: r.pos, Rate: r.rate, PCM: r.pcm}
	r.pos += audio.Pos(len(r.pcm))
	return f
}

// decode performs the next step of the jitter buffer.
func (r *receiver) decode(now time.Time) {
	r.mu.Lock()
	fresh := r.fresh
	r.fresh = false
	step := r.buffer.Pull(now, r.quiet)
	r.mu.Unlock()
	if fresh {
		r.decoder.Reset()
	}
	pcm := r.scratch[:audio.PosOf(step.Duration, r.rate)]
	var err error
	switch step.Kind {
	case rtpjitter.Play:
		_, err = r.decoder.Decode(r.scratch, step.Payload)
		if err != nil {
			r.mu.Lock()
			r.malformed++
			r.mu.Unlock()
			err = r.decoder.Conceal(pcm)
		}
	case rtpjitter.Recover:
		err = r.decoder.Recover(pcm, step.Payload)
	case rtpjitter.Conceal:
		err = r.decoder.Conceal(pcm)
	case rtpjitter.Silence:
		if !r.silent {
			err = r.decoder.Conceal(pcm) // fades into silence
			audio.Ramp(pcm, 1, 0)
		} else {
			clear(pcm)
		}
	}
	if err != nil {
		clear(pcm)
	}
	r.silent = step.Kind == rtpjitter.Silence
	r.quiet = audio.RMS(pcm) < quietLevel
	r.fifo = append(r.fifo, pcm...)
}

// Stats counts how the person's packets arrived.
type Stats struct {
	rtpjitter.Stats
	Malformed int // packets that are not valid Opus
}

// LogValue returns the statistics for a log.
func (l *Leg) LogValue() slog.Value {
	s := l.Stats()
	return slog.GroupValue(
		slog.Int("received", s.Received), slog.Int("lost", s.Lost), slog.Int("recovered", s.Recovered),
		slog.Int("concealed", s.Concealed), slog.Int("late", s.Late), slog.Int("malformed", s.Malformed),
		slog.Float64("target_ms", float64(s.Target.Microseconds())/1000),
	)
}

// Stats returns the counts so far over all connections of the leg.
func (l *Leg) Stats() Stats {
	l.in.mu.Lock()
	defer l.in.mu.Unlock()
	return Stats{l.in.buffer.Stats(), l.in.malformed}
}
