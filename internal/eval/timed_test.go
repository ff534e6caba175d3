package eval

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
)

// busyEngine is a recognizer that works for a time and gives a partial result in the first Write.
type busyEngine struct {
	sink func(port.Transcript)
	work time.Duration
	n    int
}

func (b *busyEngine) Open(_ context.Context, _ port.RecognizerConfig, sink func(port.Transcript)) (port.RecognizerStream, error) {
	b.sink = sink
	return b, nil
}
func (b *busyEngine) Begin() error            { return nil }
func (b *busyEngine) Expect(port.Expectation) {}
func (b *busyEngine) Discard() error          { return nil }
func (b *busyEngine) Close() error            { return nil }
func (b *busyEngine) Finalize() error {
	b.sink(port.Transcript{Text: "final", Final: true})
	return nil
}

func (b *busyEngine) Write(audio.Frame) error {
	if b.n++; b.n == 1 {
		<-time.After(b.work) // in virtual time
		b.sink(port.Transcript{Text: "partial"})
	}
	return nil
}

// TestTimedResults: a result comes when the engine would have it in real time, and the final
// one at once.
func TestTimedResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		frame := 0
		s, err := timed{&busyEngine{work: 70 * time.Millisecond}}.Open(t.Context(), port.RecognizerConfig{Rate: Rate}, func(r port.Transcript) {
			got = append(got, r.Text)
			if r.Text == "partial" && frame != 4 {
				t.Errorf("the partial result comes with frame %d: expected frame 4, 70 ms after the end of frame 1", frame)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		n := audio.FrameSamples(Rate)
		if err := s.Begin(); err != nil {
			t.Fatal(err)
		}
		for frame = 1; frame <= 6; frame++ {
			if err := s.Write(audio.Frame{Pos: audio.Pos((frame - 1) * n), Rate: Rate, PCM: make([]int16, n)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Finalize(); err != nil {
			t.Fatal(err)
		}
		if len(got) != 2 || got[1] != "final" {
			t.Errorf("results %q: expected a partial and a final one", got)
		}
	})
}
