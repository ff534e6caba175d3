package webrtc

import (
	"testing"
	"time"

	"github.com/pion/rtp"

	"github.com/hocketvoice/hocket/internal/codec/opus"
	"github.com/hocketvoice/hocket/internal/rtpsound"
)

// FuzzPackets checks that a frame is returned every 20 ms, whatever a client sends as
// sound. The input consists of packets, each after a byte with its length.
func FuzzPackets(f *testing.F) {
	e, err := opus.NewEncoder(opus.EncoderOptions{Rate: rate})
	if err != nil {
		f.Fatal(err)
	}
	var seed []byte
	buf, pcm := make([]byte, opus.MaxPacket), make([]int16, rate/50)
	for i := range 6 {
		for j := range pcm {
			pcm[j] = int16((i*len(pcm) + j) % 100 * 100)
		}
		n, err := e.Encode(buf, pcm)
		if err != nil {
			f.Fatal(err)
		}
		p := rtp.Packet{Header: rtp.Header{Version: 2, SequenceNumber: uint16(i), Timestamp: uint32(i) * tick, SSRC: 7}, Payload: buf[:min(n, 200)]}
		b, err := p.Marshal()
		if err != nil {
			f.Fatal(err)
		}
		seed = append(append(seed, byte(len(b))), b...)
	}
	f.Add(seed)
	f.Add([]byte{13, 0xa0, 111, 0, 1, 0, 0, 0, 0, 0, 0, 0, 7, 1, 12, 0xa0, 111, 0, 1, 0, 0, 0, 0, 0, 0, 0, 7})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := newReceiver(rate)
		if err != nil {
			t.Fatal(err)
		}
		now := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
		var header rtp.Header
		for beats := 0; len(b) > 0 && beats < 50; beats++ {
			n := min(int(b[0]), len(b)-1)
			if payload, ok := rtpsound.Unpack(&header, b[1:1+n]); ok {
				r.Push(now, &header, payload)
			}
			b, now = b[1+n:], now.Add(20*time.Millisecond)
			if frame := r.Frame(now); len(frame.PCM) != rate/50 {
				t.Fatalf("a frame of %d samples", len(frame.PCM))
			}
		}
	})
}
