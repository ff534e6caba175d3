package session

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/turn"
)

// burst is a leg whose frames come all at once, and then none for a long time.
type burst struct {
	frames, read int
	pcm          []int16
	speech       atomic.Int64 // samples
}

func (b *burst) Clocked()  {}
func (b *burst) Rate() int { return 16000 }

func (b *burst) Read(ctx context.Context) (audio.Frame, error) {
	for i := range b.pcm {
		b.pcm[i] = int16(b.read) // the frame before must not be in use any more
	}
	if b.read == b.frames {
		<-ctx.Done()
		return audio.Frame{}, ctx.Err()
	}
	b.read++
	return audio.Frame{Rate: 16000, PCM: b.pcm}, nil
}

func (b *burst) Write(ctx context.Context, _ audio.Frame) error { return ctx.Err() }
func (b *burst) Clear(ctx context.Context) error                { return ctx.Err() }
func (b *burst) Notify(port.Notice)                             {}

func (b *burst) WriteSpeech(_ int, pcm []int16) { b.speech.Add(int64(len(pcm))) }

// counter is a detector that counts what it is given and checks the order.
type counter struct {
	t       *testing.T
	samples int
}

func (c *counter) Name() string                       { return "counter" }
func (c *counter) Rate() int                          { return 16000 }
func (c *counter) Open() (port.DetectorStream, error) { return c, nil }
func (c *counter) Reset()                             {}

func (c *counter) Write(pcm []int16) float64 {
	if want := int16(c.samples / 320); pcm[0] != want || pcm[len(pcm)-1] != want {
		c.t.Errorf("frame %d has the samples of frame %d", want, pcm[0])
	}
	c.samples += len(pcm)
	return 0
}

// A leg whose frames are its clock loses none of a burst, and gets no silence put
// in while it sends nothing.
func TestClockedLeg(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leg, detector := &burst{frames: 500, pcm: make([]int16, 320)}, &counter{t: t}
		s, err := New(Options{
			Leg: leg, Detector: detector,
			Conv: conv.Options{DeadAir: turn.DeadAirOptions{Off: true}},
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		if err := s.Run(ctx); err == nil {
			t.Error("it has ended by itself")
		}
		if detector.samples != 500*320 {
			t.Errorf("%d frames were heard, expected 500", detector.samples/320)
		}
	})
}
