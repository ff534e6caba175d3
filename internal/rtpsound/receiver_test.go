package rtpsound

import (
	"testing"
	"time"

	"github.com/pion/rtp"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/codec/g722"
	"github.com/hocketvoice/hocket/porttest"
)

// TestWaves: the sound of each codec of telephones is heard, a lost packet is concealed, and nothing is
// heard after the last one.
func TestWaves(t *testing.T) {
	mu, err := G711(audio.MuLaw)
	if err != nil {
		t.Fatal(err)
	}
	a, err := G711(audio.ALaw)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := G722()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		decoder Decoder
		encode  func(dst []byte, pcm []int16) []byte
	}{
		"PCMU": {mu, audio.MuLaw.AppendEncode}, "PCMA": {a, audio.ALaw.AppendEncode}, "G722": {wide, g722.NewEncoder().AppendEncode},
	} {
		r, err := NewReceiver(c.decoder)
		if err != nil {
			t.Fatal(err)
		}
		code := c.encode(nil, porttest.Tone(c.decoder.Rate(), time.Second))
		now, h, loud := time.Unix(1000, 0), rtp.Header{SequenceNumber: 65530, Timestamp: 1<<32 - 500}, 0
		for i := range 100 {
			if i < 50 && i%10 != 5 {
				r.Push(now, &h, code[i*160:(i+1)*160])
			}
			h.SequenceNumber++
			h.Timestamp += 160
			f := r.Frame(now)
			if f.Rate != c.decoder.Rate() || len(f.PCM) != f.Rate/50 {
				t.Fatalf("%s: %d samples at %d Hz", name, len(f.PCM), f.Rate)
			}
			if audio.RMS(f.PCM) > 0.05 {
				loud++
			}
			now = now.Add(audio.FrameDuration)
		}
		if s := r.Stats(); loud < 49 || loud > 53 || s.Lost != 5 || s.Concealed < 5 {
			t.Errorf("%s: %d frames of 50 are heard, %+v", name, loud, s)
		}
	}
}

// FuzzPackets checks that any packets give a frame every 20 ms. The input consists of packets, each
// after a byte with its length.
func FuzzPackets(f *testing.F) {
	f.Add(byte(0), []byte{20, 0x80, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 7, 1, 2, 3, 4, 5, 6, 7, 8})
	f.Add(byte(1), []byte{13, 0xa0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 7, 1, 12, 0xa0, 111, 0, 1, 0, 0, 0, 0, 0, 0, 0, 7})
	f.Fuzz(func(t *testing.T, kind byte, b []byte) {
		d, err := G711(audio.G711(kind & 1))
		if kind&2 != 0 {
			d, err = G722()
		}
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewReceiver(d)
		if err != nil {
			t.Fatal(err)
		}
		now := time.Unix(1000, 0)
		var header rtp.Header
		for beats := 0; len(b) > 0 && beats < 50; beats++ {
			n := min(int(b[0]), len(b)-1)
			if payload, ok := Unpack(&header, b[1:1+n]); ok {
				r.Push(now, &header, payload)
			}
			b, now = b[1+n:], now.Add(audio.FrameDuration)
			if frame := r.Frame(now); len(frame.PCM) != d.Rate()/50 {
				t.Fatalf("a frame of %d samples", len(frame.PCM))
			}
		}
	})
}
