package audio

import (
	"bytes"
	"fmt"
	"io"
	"testing"
)

// frameCalls returns every call of this package on the audio path, each as a
// function that handles one 20 ms frame. Shared state is created in advance, so
// that the first call is like the others; AllocsPerRun's first run grows the
// slices.
func frameCalls(tb testing.TB) []struct {
	name string
	call func()
} {
	frame := sine(440, 16000, 0.3, 320, 0)
	phone := sine(440, 8000, 0.3, 160, 0)
	other := sine(300, 16000, 0.3, 320, 0)
	scratch := make([]int16, 0, 4096)
	codes := ALaw.AppendEncode(nil, phone)
	encoded := make([]byte, 0, 160)
	var calls []struct {
		name string
		call func()
	}
	add := func(name string, call func()) {
		calls = append(calls, struct {
			name string
			call func()
		}{name, call})
	}

	for _, g := range []G711{MuLaw, ALaw} {
		add(fmt.Sprintf("G711/%v/encode", g), func() { encoded = g.AppendEncode(encoded[:0], phone) })
		add(fmt.Sprintf("G711/%v/decode", g), func() { scratch = g.AppendDecode(scratch[:0], codes) })
	}

	for _, pair := range [][2]int{{8000, 16000}, {16000, 8000}, {24000, 8000}, {24000, 16000}, {16000, 48000}, {48000, 16000}, {24000, 48000}, {44100, 16000}, {48000, 44100}} {
		r, err := NewResampler(ResamplerOptions{From: pair[0], To: pair[1]})
		if err != nil {
			tb.Fatal(err)
		}
		in := sine(440, pair[0], 0.3, FrameSamples(pair[0]), 0)
		add(fmt.Sprintf("Resampler/%d-%d", pair[0], pair[1]), func() { scratch = r.Append(scratch[:0], in) })
	}

	level := RMS(frame)
	check := func(ok bool) {
		if !ok {
			tb.Fatal("a measure is wrong")
		}
	}
	add("RMS", func() { check(RMS(frame) == level) })
	add("Peak", func() { check(Peak(frame) > level) })
	add("DBFS", func() { check(DBFS(level) < 0) })
	mixed := make([]int16, 320)
	add("Mix", func() { Mix(mixed, other) })
	add("Ramp", func() { Ramp(mixed, 0.9, 1.1) })
	var fader Fader
	add("Fader", func() {
		if fader.Settled() {
			fader.FadeTo(1.5-fader.Gain(), 480)
		}
		fader.Apply(mixed)
	})

	preRoll, err := NewRing(RingOptions{Capacity: 16000/2 + 7})
	if err != nil {
		tb.Fatal(err)
	}
	add("Ring/Overwrite", func() { preRoll.Overwrite(frame) })
	playout, err := NewRing(RingOptions{Capacity: 1000})
	if err != nil {
		tb.Fatal(err)
	}
	add("Ring/Write+CopyAt+Read", func() {
		playout.Write(frame)
		playout.CopyAt(mixed, playout.Pos())
		playout.Read(mixed)
	})

	for _, c := range []struct {
		name           string
		encoding       WAVEncoding
		channels, bits int
		read           func(*WAVReader, []int16) (int, error)
	}{
		{"WAVReader/PCM16", WAVPCM, 1, 16, (*WAVReader).Read},
		{"WAVReader/float stereo to mono", WAVFloat, 2, 32, (*WAVReader).ReadMono},
	} {
		// The header announces endless sound, and endless zeros follow.
		header := patched(riff(chunk("fmt ", fmtBody(c.encoding, c.channels, 16000, c.bits)), chunk("data", nil)), 40, 0xFFFFFFFF)
		w, err := NewWAVReader(io.MultiReader(bytes.NewReader(header), zeros{}), WAVReaderOptions{})
		if err != nil {
			tb.Fatal(err)
		}
		add(c.name, func() {
			if n, err := c.read(w, mixed); n != len(mixed) || err != nil {
				tb.Fatal(n, err)
			}
		})
	}
	mono, err := NewWAVWriter(io.Discard, WAVWriterOptions{Rate: 16000})
	if err != nil {
		tb.Fatal(err)
	}
	add("WAVWriter/mono", func() {
		if err := mono.Write(frame); err != nil {
			tb.Fatal(err)
		}
	})
	stereo, err := NewWAVWriter(io.Discard, WAVWriterOptions{Rate: 16000, Channels: 2})
	if err != nil {
		tb.Fatal(err)
	}
	add("WAVWriter/stereo", func() {
		if err := stereo.WriteStereo(frame, other); err != nil {
			tb.Fatal(err)
		}
	})
	return calls
}

// zeros is an endless stream.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestFrameCallsDoNotAllocate(t *testing.T) {
	for _, c := range frameCalls(t) {
		if n := testing.AllocsPerRun(100, c.call); n != 0 {
			t.Errorf("%s allocates %v times a frame, want 0", c.name, n)
		}
	}
}

// Goals per frame of 20 ms: 2 us for everything except the resampler, which is 1 %
// of the time for 100 calls on one core; 15 us for the resampler between 16 and 48
// kHz.
func BenchmarkFrame(b *testing.B) {
	for _, c := range frameCalls(b) {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.call()
			}
		})
	}
}

// Goal: 2 ms for the largest filter, which is computed once per call leg.
func BenchmarkNewResampler(b *testing.B) {
	for _, o := range []ResamplerOptions{{8000, 16000}, {48000, 16000}, {44100, 16000}, {11025, 32000}} {
		b.Run(fmt.Sprintf("%d-%d", o.From, o.To), func(b *testing.B) {
			for b.Loop() {
				if _, err := NewResampler(o); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
