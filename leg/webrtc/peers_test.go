//go:build peers

package webrtc

import (
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/nettest"
)

// behind returns what the jitter buffer sees of six seconds of sound over a network
// that loses packets once the call is connected.
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

// Lost packets are recovered from copies, or retransmitted by a client that
// negotiated it; other clients lose them.
func TestAloneLosses(t *testing.T) {
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
