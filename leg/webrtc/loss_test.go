package webrtc

import (
	"math"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/nettest"
)

// voice is a sound similar to a voice, for which Opus produces copies, unlike for a
// tone.
func voice(d time.Duration) []int16 {
	pcm := make([]int16, audio.PosOf(d, rate))
	phase := 0.0
	for i := range pcm {
		syllable, at := math.Modf(float64(i) / rate / 0.15)
		phase += 2 * math.Pi * (110 + float64(int(syllable)*37%60)) / rate
		v := 0.0
		for h := range 20 {
			v += math.Sin(float64(h+1)*phase) / float64(h+1)
		}
		pcm[i] = int16(6000 * v * math.Sin(math.Pi*at))
	}
	return pcm
}

// Packet loss reported by the browser makes the agent's packets contain copies.
func TestReportedLosses(t *testing.T) {
	t.Parallel()
	network := rough(t)
	c, l := connect(t, server(t, Options{Conn: network}), clientOptions{})
	copies := func() int {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.twice
	}
	speak(t, l, voice(time.Second))
	if n := copies(); n > 0 {
		t.Errorf("%d copies for a perfect network", n)
	}
	network.Turn(nettest.Weather{Loss: 0.2, Seed: 3})
	for range 10 {
		if speak(t, l, voice(time.Second)); copies() > 10 {
			return
		}
	}
	t.Errorf("%d copies for a network that loses a packet in five; the report is %d %%", copies(), l.loss.Load())
}
