package webrtc

import (
	"math"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/nettest"
)

// voice is a sound like a voice's, of which Opus makes copies: a tone has none.
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

// behind is what the jitter buffer sees of six seconds of sound over a network
// that loses packets once the call stands.
func behind(t *testing.T, o clientOptions, w nettest.Weather) Stats {
	t.Helper()
	network := rough(t)
	c, l := connect(t, server(t, Options{Conn: network}), o)
	c.say(voice(7 * time.Second))
	until(t, l, "the person is heard", loud)
	network.Turn(w)
	for range 6 * 50 {
		_, err := l.Read(t.Context())
		check(t, err)
	}
	return l.Stats()
}

// What is lost is recovered from the copies in other packets, or is sent again by
// a client that agreed on it; a client that does neither loses it.
func TestLosses(t *testing.T) {
	weather := nettest.Weather{Loss: 0.1, Seed: 5}
	var with, again, without Stats
	t.Run("at once", func(t *testing.T) {
		for _, c := range []struct {
			name string
			st   *Stats
			o    clientOptions
		}{
			{"copies", &with, clientOptions{}},
			{"again", &again, clientOptions{noFEC: true, gives: true}},
			{"neither", &without, clientOptions{noFEC: true}},
		} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				*c.st = behind(t, c.o, weather)
			})
		}
	})
	for _, st := range []Stats{with, again, without} {
		if st.Received+st.Lost < 6*45 {
			t.Skipf("the machine is too busy to send 50 packets a second: %+v", st)
		}
	}
	if without.Lost < 15 || without.Recovered > 0 {
		t.Errorf("neither: %+v", without)
	}
	if with.Lost < 15 || with.Recovered < with.Lost/2 {
		t.Errorf("copies: %+v", with)
	}
	if again.Lost > without.Lost/2 {
		t.Errorf("sent again: %+v, without it %+v", again, without)
	}
}

// What the browser reports to miss has the agent's packets carry copies.
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
