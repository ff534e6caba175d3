package webrtc

import (
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

func TestConformance(t *testing.T) {
	porttest.TestLeg(t, func(t *testing.T) porttest.Line {
		network := rough(t)
		s := server(t, Options{Conn: network, Linger: 300 * time.Millisecond})
		c, l := connect(t, s, clientOptions{})
		return porttest.Line{
			Leg: l, Say: c.say, HangUp: c.close,
			Cut: func() { network.Cut(true) }, Mend: func() { network.Cut(false) },
			Heard: func() []int16 {
				for range 200 { // what was written is on its way
					if len(c.all()) >= 20*rate/50 {
						break
					}
					_, err := l.Read(t.Context()) // Read waits for the next deadline
					check(t, err)
				}
				return c.all()
			},
		}
	})
}

// Both sides hear each other.
func TestBothWays(t *testing.T) {
	s := server(t, Options{})
	c, l := connect(t, s, clientOptions{})
	tone := porttest.Tone(rate, time.Second)
	c.say(tone)
	until(t, l, "the person is heard", loud)
	n := 0
	for range 60 {
		f, err := l.Read(t.Context())
		check(t, err)
		if loud(f) {
			n++
		}
	}
	if n < 45 || n > 51 {
		t.Errorf("%d more frames hold the 49 that were said", n)
	}
	speak(t, l, tone)
	for range 20 {
		_, err := l.Read(t.Context())
		check(t, err)
	}
	h := c.all()
	if a, b := audio.RMS(h), audio.RMS(tone); len(h) < len(tone) || a < b*0.8 || a > b*1.2 {
		t.Errorf("heard %d samples at level %v, want %d at %v", len(h), a, len(tone), b)
	}
	if st := l.Stats(); st.Lost > 0 || st.Malformed > 0 || st.Received < 60 {
		t.Errorf("statistics of a perfect line: %+v", st)
	}
}

// A closed page is a lost connection; a page that returns continues with the same
// leg.
func TestReattach(t *testing.T) {
	s := server(t, Options{})
	c, l := connect(t, s, clientOptions{})
	c.close()
	line, err := l.Watch(t.Context(), port.LineUp)
	check(t, err)
	if line == port.LineShaky {
		line, err = l.Watch(t.Context(), line)
		check(t, err)
	}
	if line != port.LineLost {
		t.Fatalf("the line is %v", line)
	}
	for range 5 { // the call continues
		_, err := l.Read(t.Context())
		check(t, err)
		check(t, l.Write(t.Context(), audio.Frame{Rate: rate, PCM: porttest.Tone(rate, audio.FrameDuration)}))
	}
	again := newClient(t, clientOptions{})
	answer, err := l.Reattach(t.Context(), again.offer(nil))
	check(t, err)
	again.answer(answer)
	if line, err = l.Watch(t.Context(), line); err != nil || line != port.LineUp {
		t.Fatalf("the line is %v, %v", line, err)
	}
	tone := porttest.Tone(rate, 500*time.Millisecond)
	again.say(tone)
	until(t, l, "the person is heard again", loud)
	speak(t, l, tone)
	until(t, l, "the agent is heard again", func(audio.Frame) bool { return audio.RMS(again.all()) > 0.05 })
}

// A server that listens on all addresses announces all of them and is reachable at
// each.
func TestAllAddresses(t *testing.T) {
	t.Parallel()
	for _, addr := range []string{"0.0.0.0:0", ":0"} {
		s, err := NewServer(Options{Addr: addr})
		check(t, err)
		l, answer, err := s.Accept(t.Context(), newClient(t, clientOptions{}).offer(nil))
		check(t, err)
		check(t, l.Close())
		if !strings.Contains(answer, " typ host") {
			t.Skipf("%s: this machine has no address but loopback", addr)
		}
		if strings.Contains(answer, " 127.0.0.1 ") {
			t.Errorf("%s: the answer has addresses that nobody can reach:\n%s", addr, answer)
		}
		c, l := connect(t, s, clientOptions{anywhere: true})
		hearing(t, c, l)
		check(t, s.Close())
	}
}
