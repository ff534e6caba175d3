package opus

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
)

var rates = []int{8000, 12000, 16000, 24000, 48000}

// voice is a sound similar to a voice: harmonics of a pitch that changes with each
// syllable of 80 ms.
func voice(rate int, d time.Duration) []int16 {
	pcm := make([]int16, audio.PosOf(d, rate))
	phase := 0.0
	for i := range pcm {
		at := float64(i) / float64(rate)
		syllable := int(at / 0.08)
		pitch := 110 + float64(syllable*37%60)
		phase += 2 * math.Pi * pitch / float64(rate)
		v := 0.0
		for h := 1; h <= 20 && float64(h)*pitch < float64(rate)/2; h++ {
			v += math.Sin(float64(h)*phase) / float64(h)
		}
		pcm[i] = int16(5000 * v * math.Sin(math.Pi*(at/0.08-float64(syllable))))
	}
	return pcm
}

// encode returns the packets of a sound.
func encode(t testing.TB, rate, loss int, pcm []int16) [][]byte {
	t.Helper()
	e, err := NewEncoder(EncoderOptions{Rate: rate})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.SetLoss(loss); err != nil {
		t.Fatal(err)
	}
	var packets [][]byte
	frame := audio.FrameSamples(rate)
	for ; len(pcm) >= frame; pcm = pcm[frame:] {
		p := make([]byte, MaxPacket)
		n, err := e.Encode(p, pcm[:frame])
		if err != nil {
			t.Fatal(err)
		}
		packets = append(packets, p[:n])
	}
	return packets
}

// similarity returns the highest correlation of two sounds, one of which is delayed
// by up to 20 ms.
func similarity(a, b []int16, rate int) float64 {
	best := 0.0
	for shift := range rate / 50 {
		n := min(len(a), len(b)-shift)
		var ab, aa, bb float64
		for i := range n {
			x, y := float64(a[i]), float64(b[i+shift])
			ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
		}
		if aa > 0 && bb > 0 {
			best = max(best, ab/math.Sqrt(aa*bb))
		}
	}
	return best
}

func decoder(t testing.TB, rate int) *Decoder {
	t.Helper()
	d, err := NewDecoder(DecoderOptions{Rate: rate})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The sound is reproduced at each rate, also from an encoder with another rate.
func TestRoundTrip(t *testing.T) {
	for _, from := range rates {
		packets := encode(t, from, 0, voice(from, time.Second))
		for _, to := range rates {
			d := decoder(t, to)
			pcm := make([]int16, audio.PosOf(maxDuration, to))
			var heard []int16
			for _, p := range packets {
				n, err := d.Decode(pcm, p)
				if err != nil {
					t.Fatal(err)
				}
				heard = append(heard, pcm[:n]...)
			}
			if len(heard) != to {
				t.Errorf("%d to %d Hz: a second is %d samples", from, to, len(heard))
			}
			// Only the narrower bandwidth can be reproduced.
			want := voice(min(from, to), time.Second)
			got := heard
			if to > from {
				var err error
				if got, err = audio.Resample(heard, to, from); err != nil {
					t.Fatal(err)
				}
			}
			if s := similarity(want, got, min(from, to)); s < 0.8 {
				t.Errorf("%d to %d Hz: similarity %.2f", from, to, s)
			}
		}
	}
}

// The copy in the next packet restores what concealment cannot know.
func TestRecover(t *testing.T) {
	const rate = 16000
	sound := voice(rate, 2*time.Second)
	packets := encode(t, rate, 20, sound)
	frame := audio.FrameSamples(rate)
	pcm := make([]int16, audio.PosOf(maxDuration, rate))
	var recovered, concealed []int16
	copies := 0
	for _, how := range []struct {
		out  *[]int16
		next bool
	}{{&recovered, true}, {&concealed, false}} {
		d := decoder(t, rate)
		for i, p := range packets {
			lost := i%5 == 3 && i+1 < len(packets)
			var err error
			n := frame
			switch {
			case lost && how.next:
				if HasCopy(packets[i+1]) {
					copies++
				}
				err = d.Recover(pcm[:frame], packets[i+1])
			case lost:
				err = d.Conceal(pcm[:frame])
			default:
				n, err = d.Decode(pcm, p)
			}
			if err != nil {
				t.Fatal(err)
			}
			*how.out = append(*how.out, pcm[:n]...)
		}
	}
	if copies < 10 {
		t.Errorf("%d of 20 lost packets have a copy in the next", copies)
	}
	r, c := similarity(sound, recovered, rate), similarity(sound, concealed, rate)
	if r < 0.78 || r < c+0.03 {
		t.Errorf("similarity with copies %.3f, without %.3f", r, c)
	}
}

// Long concealment fades to silence.
func TestConcealFades(t *testing.T) {
	d := decoder(t, 24000)
	pcm := make([]int16, audio.PosOf(maxDuration, 24000))
	for _, p := range encode(t, 24000, 0, voice(24000, 400*time.Millisecond)) {
		if _, err := d.Decode(pcm, p); err != nil {
			t.Fatal(err)
		}
	}
	frame := pcm[:audio.FrameSamples(24000)]
	var levels []float64
	for range 25 {
		if err := d.Conceal(frame); err != nil {
			t.Fatal(err)
		}
		levels = append(levels, audio.RMS(frame))
	}
	if levels[0] < 0.01 || levels[24] > levels[0]/10 {
		t.Errorf("levels of concealed frames: %.4f", levels)
	}
}

func TestDuration(t *testing.T) {
	for _, c := range []struct {
		packet []byte
		want   time.Duration
	}{
		{nil, 0},
		{[]byte{0}, 10 * time.Millisecond},
		{[]byte{0x08}, 20 * time.Millisecond},
		{[]byte{0x18, 1}, 60 * time.Millisecond},
		{[]byte{0x78}, 20 * time.Millisecond},
		{[]byte{0x80}, 2500 * time.Microsecond},
		{[]byte{0xf8, 0}, 20 * time.Millisecond},
		{[]byte{0xf9, 0}, 40 * time.Millisecond},
		{[]byte{0xfb}, 0},
		{[]byte{0xfb, 0}, 0},
		{[]byte{0xfb, 6}, 120 * time.Millisecond},
		{[]byte{0xfb, 7}, 0},
	} {
		d, err := Duration(c.packet)
		if d != c.want || (err == nil) != (c.want > 0) || err != nil && !errors.Is(err, ErrPacket) {
			t.Errorf("%x: %v, %v, want %v", c.packet, d, err, c.want)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []EncoderOptions{{}, {Rate: 44100}, {Rate: 16000, Bitrate: 100}, {Rate: 16000, Complexity: 11}} {
		if _, err := NewEncoder(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
	if _, err := NewDecoder(DecoderOptions{Rate: 44100}); err == nil {
		t.Error("a decoder at 44100 Hz is taken")
	}
	e, err := NewEncoder(EncoderOptions{Rate: 16000})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Encode(make([]byte, MaxPacket), make([]int16, 100)); err == nil {
		t.Error("100 samples are taken")
	}
	if err := decoder(t, 16000).Conceal(make([]int16, 7)); err == nil {
		t.Error("7 samples are concealed")
	}
}

// Long silence is not sent, and the sound after it is complete.
func TestSilenceRests(t *testing.T) {
	const rate = 24000
	frame := audio.FrameSamples(rate)
	sound := voice(rate, time.Second)
	pcm := slices.Concat(sound, make([]int16, 2*rate), sound)
	e, err := NewEncoder(EncoderOptions{Rate: rate})
	if err != nil {
		t.Fatal(err)
	}
	d := decoder(t, rate)
	packet, out := make([]byte, MaxPacket), make([]int16, audio.PosOf(maxDuration, rate))
	var heard []int16
	sent := 0
	for i := 0; i < len(pcm); i += frame {
		n, err := e.Encode(packet, pcm[i:i+frame])
		if err != nil {
			t.Fatal(err)
		}
		got := frame
		clear(out[:frame])
		if n > 0 {
			sent++
			if got, err = d.Decode(out, packet[:n]); err != nil {
				t.Fatal(err)
			}
		}
		heard = append(heard, out[:got]...)
	}
	if sent < 100+silentFrames || sent > 100+silentFrames+6 {
		t.Errorf("%d packets for two seconds of sound and two of silence", sent)
	}
	if peak := audio.Peak(heard[rate*3/2 : 3*rate]); peak > 0.001 {
		t.Errorf("the silence has a peak of %v", peak)
	}
	for i, piece := range [][]int16{heard[:rate], heard[3*rate:]} {
		if s := similarity(sound, piece, rate); s < 0.8 {
			t.Errorf("sound %d: similarity %.2f", i+1, s)
		}
	}
}

// Decoding received packets allocates nothing. Concealment allocates a little in
// the library.
func TestAllocs(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	for _, rate := range []int{16000, 24000, 48000} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			e, err := NewEncoder(EncoderOptions{Rate: rate})
			if err != nil {
				t.Fatal(err)
			}
			d := decoder(t, rate)
			sound := append(voice(rate, time.Second), make([]int16, rate)...)
			packet, pcm := make([]byte, MaxPacket), make([]int16, audio.PosOf(maxDuration, rate))
			frame := audio.FrameSamples(rate)
			i := 0
			each := func() {
				at := i % 100 * frame
				i++
				n, err := e.Encode(packet, sound[at:at+frame])
				if err == nil && n > 0 {
					_, err = d.Decode(pcm, packet[:n])
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			for range 200 { // the codec initializes itself with the first frames
				each()
			}
			if n := testing.AllocsPerRun(200, each); n > 0 {
				t.Errorf("%v allocations a frame", n)
			}
		})
	}
}

// FuzzDecode checks that any packet yields sound of the announced length or an
// error.
func FuzzDecode(f *testing.F) {
	for _, p := range encode(f, 16000, 10, voice(16000, 100*time.Millisecond)) {
		f.Add(p, p)
	}
	f.Add([]byte{0xfb, 0x83, 1}, []byte{})
	f.Fuzz(func(t *testing.T, a, b []byte) {
		d := decoder(t, 24000)
		pcm := make([]int16, audio.PosOf(maxDuration, 24000))
		for _, p := range [][]byte{a, b, a} {
			n, err := d.Decode(pcm, p)
			want, bad := Duration(p)
			if err == nil && (bad != nil || n != int(audio.PosOf(want, 24000))) {
				t.Fatalf("%x: %d samples, %v", p, n, bad)
			}
			if err := d.Recover(pcm[:480], p); err != nil && !errors.Is(err, ErrPacket) {
				t.Fatal(err)
			}
			if err := d.Conceal(pcm[:480]); err != nil {
				t.Fatalf("conceal behind %x: %v", p, err)
			}
		}
	})
}

// BenchmarkEncode measures one frame. Goal: 200 us, 1 % of a core per call.
func BenchmarkEncode(b *testing.B) {
	for _, rate := range []int{16000, 24000, 48000} {
		b.Run(fmt.Sprint(rate), func(b *testing.B) {
			b.ReportAllocs()
			e, err := NewEncoder(EncoderOptions{Rate: rate})
			if err != nil {
				b.Fatal(err)
			}
			sound, packet, frame := voice(rate, time.Second), make([]byte, MaxPacket), audio.FrameSamples(rate)
			for i := 0; b.Loop(); i++ {
				at := i % 50 * frame
				if _, err := e.Encode(packet, sound[at:at+frame]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkDecode measures one frame. Goal: 40 us.
func BenchmarkDecode(b *testing.B) {
	for _, rate := range []int{16000, 24000, 48000} {
		b.Run(fmt.Sprint(rate), func(b *testing.B) {
			b.ReportAllocs()
			packets := encode(b, 48000, 10, voice(48000, time.Second)) // like browsers
			d := decoder(b, rate)
			pcm := make([]int16, audio.PosOf(maxDuration, rate))
			for i := 0; b.Loop(); i++ {
				if _, err := d.Decode(pcm, packets[i%len(packets)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
