package rtpsound

import (
	"log/slog"
	"sync"
	"time"

	"github.com/pion/rtp"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/wire/rtpjitter"
)

// quietLevel is the RMS level below which sound may be stretched or shortened
// without being noticed: -40 dB.
const quietLevel = 0.01

// Receiver makes frames of the packets of a person's sound. Frame must be called by one goroutine; the
// other methods are safe for concurrent use.
type Receiver struct {
	decoder Decoder
	rate    int
	fifo    []int16 // decoded but not yet read; its capacity is fixed
	pcm     []int16 // returned by Frame
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

// NewReceiver returns a receiver of what a decoder decodes.
func NewReceiver(d Decoder) (*Receiver, error) {
	buffer, err := rtpjitter.New(rtpjitter.Options{ClockRate: d.Clock()})
	if err != nil {
		return nil, err
	}
	rate := d.Rate()
	longest := int(audio.PosOf(120*time.Millisecond, rate))
	return &Receiver{
		decoder: d, rate: rate, buffer: buffer, quiet: true, silent: true,
		fifo: make([]int16, 0, longest+audio.FrameSamples(rate)), scratch: make([]int16, longest),
		pcm: make([]int16, audio.FrameSamples(rate)),
	}, nil
}

// Push adds a packet that arrived at now. It copies the payload.
func (r *Receiver) Push(now time.Time, h *rtp.Header, payload []byte) {
	d, err := r.decoder.Duration(payload)
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
		Silent: r.decoder.Silent(payload), Copy: r.decoder.HasCopy(payload),
	})
}

// Reset clears the state for another sender.
func (r *Receiver) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget()
}

// forget requires mu.
func (r *Receiver) forget() {
	r.buffer.Reset()
	r.fresh = true
}

// Frame returns the 20 ms that begin at now. The samples are valid until the next
// call.
func (r *Receiver) Frame(now time.Time) audio.Frame {
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
func (r *Receiver) decode(now time.Time) {
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
	Malformed int // packets that the codec cannot decode
}

// LogValue returns the statistics for a log.
func (s Stats) LogValue() slog.Value {
	return slog.GroupValue(
		slog.Int("received", s.Received), slog.Int("lost", s.Lost), slog.Int("recovered", s.Recovered),
		slog.Int("concealed", s.Concealed), slog.Int("late", s.Late), slog.Int("malformed", s.Malformed),
		slog.Float64("target_ms", float64(s.Target.Microseconds())/1000),
	)
}

// Stats returns the counts so far.
func (r *Receiver) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Stats{r.buffer.Stats(), r.malformed}
}

// Unpack parses a packet (RFC 3550, section 5.1) and returns its payload without padding.
func Unpack(header *rtp.Header, packet []byte) (payload []byte, ok bool) {
	size, err := header.Unmarshal(packet)
	if err != nil {
		return nil, false
	}
	payload = packet[size:]
	if !header.Padding {
		return payload, true
	}
	if len(payload) == 0 || int(payload[len(payload)-1]) > len(payload) {
		return nil, false
	}
	return payload[:len(payload)-int(payload[len(payload)-1])], true
}
