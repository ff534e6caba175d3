package webrtc

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/pion/rtp"
	pion "github.com/pion/webrtc/v4"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/codec/opus"
	"github.com/hocketvoice/hocket/porttest"
)

// packets encodes a sound as a browser does.
func packets(t testing.TB, pcm []int16) (list [][]byte) {
	t.Helper()
	e, err := opus.NewEncoder(opus.EncoderOptions{Rate: rate})
	check(t, err)
	for frame := rate / 50; len(pcm) >= frame; pcm = pcm[frame:] {
		buf := make([]byte, opus.MaxPacket)
		n, err := e.Encode(buf, pcm[:frame])
		check(t, err)
		list = append(list, buf[:n])
	}
	return list
}

// The receiver returns a frame every 20 ms, whatever arrives.
func TestReceiverTakesAnything(t *testing.T) {
	r, err := newReceiver(rate)
	check(t, err)
	random := rand.New(rand.NewPCG(1, 1))
	good := packets(t, porttest.Tone(rate, time.Second))
	now := time.Unix(1000, 0)
	h := rtp.Header{SequenceNumber: 65000}
	var next audio.Pos
	for i := range 2000 {
		h.SequenceNumber++
		h.Timestamp += tick
		payload := append([]byte(nil), good[i%len(good)]...)
		switch random.IntN(6) {
		case 0:
			payload = nil
		case 1:
			for k := range payload {
				payload[k] = byte(random.Int())
			}
		case 2:
			payload = payload[:random.IntN(len(payload))]
		case 3:
			h.SequenceNumber += uint16(random.IntN(5))
		}
		r.Push(now, &h, payload)
		f := r.Frame(now)
		if f.Pos != next || len(f.PCM) != rate/50 || f.Rate != rate {
			t.Fatalf("frame %d: %d samples at %d", i, len(f.PCM), f.Pos)
		}
		next = f.End()
		now = now.Add(audio.FrameDuration)
	}
	if r.Stats().Malformed == 0 {
		t.Error("no packet was malformed")
	}
}

// Another microphone on the same connection, with its own sequence numbers, is
// heard at once.
func TestReceiverFollowsTheSource(t *testing.T) {
	r, err := newReceiver(rate)
	check(t, err)
	list := packets(t, porttest.Tone(rate, time.Second))
	now := time.Unix(1000, 0)
	for source, first := range []uint16{50000, 20000} {
		h := rtp.Header{SSRC: uint32(source + 1), SequenceNumber: first, Timestamp: uint32(first) << 10}
		heard := 0
		for _, payload := range list[5:30] {
			r.Push(now, &h, payload)
			if loud(r.Frame(now)) {
				heard++
			}
			h.SequenceNumber++
			h.Timestamp += tick
			now = now.Add(audio.FrameDuration)
		}
		if heard < 20 {
			t.Errorf("source %d: %d of 25 frames are heard", source+1, heard)
		}
	}
}

// Sending and receiving a frame allocates nothing in this package.
func TestAllocs(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	r, err := newReceiver(rate)
	check(t, err)
	list := packets(t, porttest.Tone(rate, time.Second))
	now, h, i := time.Unix(1000, 0), rtp.Header{}, 0
	in := func() {
		r.Push(now, &h, list[i%len(list)])
		r.Frame(now)
		now = now.Add(audio.FrameDuration)
		h.SequenceNumber++
		h.Timestamp += tick
		i++
	}
	for range 200 { // buffers grow and the codec initializes itself
		in()
	}
	if n := testing.AllocsPerRun(200, in); n > 0 {
		t.Errorf("%v allocations a frame of the person's", n)
	}
	s, f := newTestSender(t)
	out := func() { check(t, s.write(f, 0)) }
	for range 200 {
		out()
	}
	// The library copies the header, whether there are connections or not.
	if n := testing.AllocsPerRun(200, out); n > 1 {
		t.Errorf("%v allocations a frame of the agent's", n)
	}
}

func newTestSender(t testing.TB) (*sender, audio.Frame) {
	t.Helper()
	track, err := pion.NewTrackLocalStaticRTP(codec().RTPCodecCapability, "a", "b")
	check(t, err)
	o := Options{}
	o.setDefaults()
	s, err := newSender(o, track)
	check(t, err)
	return s, audio.Frame{Rate: rate, PCM: porttest.Tone(rate, audio.FrameDuration)}
}

// BenchmarkRead measures the receipt of a packet and the reading of its frame. Goal: 50
// us.
func BenchmarkRead(b *testing.B) {
	b.ReportAllocs()
	r, err := newReceiver(rate)
	check(b, err)
	list := packets(b, porttest.Tone(rate, time.Second))
	now, h, i := time.Unix(1000, 0), rtp.Header{}, 0
	for b.Loop() {
		r.Push(now, &h, list[i%len(list)])
		r.Frame(now)
		now = now.Add(audio.FrameDuration)
		h.SequenceNumber++
		h.Timestamp += tick
		i++
	}
}

// BenchmarkWrite measures the encoding of an agent's frame, sent to nobody. Goal: 200
// us.
func BenchmarkWrite(b *testing.B) {
	b.ReportAllocs()
	s, f := newTestSender(b)
	for b.Loop() {
		check(b, s.write(f, 0))
	}
}

// BenchmarkWriteSilence measures a frame while the agent is silent. Goal: 1 us.
func BenchmarkWriteSilence(b *testing.B) {
	b.ReportAllocs()
	s, f := newTestSender(b)
	clear(f.PCM)
	for b.Loop() {
		check(b, s.write(f, 0))
	}
}
