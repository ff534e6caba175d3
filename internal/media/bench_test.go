package media

import (
	"fmt"
	"testing"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// BenchmarkUplinkFrame measures all work for 20 ms of the person's sound, with fakes
// for the engines: resampling, detector, turn controller, pre-roll, the recognizer's
// frames, commands and results. Goal: no allocation, and less than 20 us, a thousandth
// of the frame's duration.
func BenchmarkUplinkFrame(b *testing.B) {
	for _, rate := range legRates {
		for _, loud := range []bool{false, true} {
			name := "silence"
			if loud {
				name = "speech"
			}
			b.Run(fmt.Sprintf("%d/%s", rate, name), func(b *testing.B) {
				rec := &porttest.Recognizer{}
				c := newCaller(b, UplinkOptions{Rate: rate, Detector: &porttest.Detector{}}, rec)
				rec.Heard = nil
				c.u.Listen()
				c.frames(50, loud)
				pcm := make([]int16, audio.FrameSamples(rate))
				for i := range pcm {
					pcm[i] = sample(i, loud)
				}
				f := audio.Frame{Rate: rate, PCM: pcm}
				b.ReportAllocs()
				for b.Loop() {
					if err := c.u.Frame(f, 0.01); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkDownlinkFrame measures 20 ms of the agent's speech from the voice to the
// pacer. Goal: less than 20 us, and no allocation except for the report after every
// tenth frame.
func BenchmarkDownlinkFrame(b *testing.B) {
	for _, c := range []struct {
		name   string
		speech bool
		acks   port.Acknowledger
	}{
		{"silence", false, nil},
		{"speech", true, nil},
		{"speech, acknowledged", true, &porttest.AckLeg{Leg: porttest.NewLeg(porttest.LegOptions{})}},
	} {
		b.Run(c.name, func(b *testing.B) {
			d, err := NewDownlink(DownlinkOptions{Rate: 16000, Post: func(...conv.Event) {}, Acks: c.acks})
			if err != nil {
				b.Fatal(err)
			}
			pcm, out := sine(320), make([]int16, 320)
			d.Begin(Text{Turn: 1, Part: 1, Words: "one two three"})
			b.ReportAllocs()
			for b.Loop() {
				if c.speech {
					if err := d.Write(b.Context(), 1, pcm, nil); err != nil {
						b.Fatal(err)
					}
				}
				if d.Frame(out) != c.speech {
					b.Fatal("no speech in the frame")
				}
			}
		})
	}
}
