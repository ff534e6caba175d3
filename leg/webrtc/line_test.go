package webrtc

import (
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	pion "github.com/pion/webrtc/v4"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// watch waits for a state of the connection and skips others.
func watch(t *testing.T, l *Leg, last, want port.Line) {
	t.Helper()
	for last != want {
		line, err := l.Watch(t.Context(), last)
		if err != nil {
			t.Fatalf("the line is %v, want %v: %v", line, want, err)
		}
		last = line
	}
}

// hearing checks that both sides hear each other.
func hearing(t *testing.T, c *client, l *Leg) {
	t.Helper()
	tone := porttest.Tone(rate, 400*time.Millisecond)
	c.say(tone)
	until(t, l, "the person is heard", loud)
	n := len(c.all())
	speak(t, l, tone)
	until(t, l, "the agent is heard", func(audio.Frame) bool {
		h := c.all()
		return len(h) > n && audio.RMS(h[n:]) > 0.02
	})
}

// Two seconds without a packet make the connection shaky; it recovers when packets
// arrive.
func TestLineIsShaky(t *testing.T) {
	t.Parallel()
	network := rough(t)
	c, l := connect(t, server(t, Options{Conn: network}), clientOptions{})
	hearing(t, c, l)
	network.Cut(true)
	cut := time.Now()
	if line, err := l.Watch(t.Context(), port.LineUp); err != nil || line != port.LineShaky {
		t.Fatalf("the line is %v, %v", line, err)
	}
	t.Logf("shaky after %v", time.Since(cut))
	network.Cut(false)
	if line, err := l.Watch(t.Context(), port.LineShaky); err != nil || line != port.LineUp {
		t.Fatalf("the line is %v, %v", line, err)
	}
	hearing(t, c, l)
}

// A lost connection is restored by an ICE restart.
func TestRestart(t *testing.T) {
	t.Parallel()
	network := rough(t)
	c, l := connect(t, server(t, Options{Conn: network}), clientOptions{})
	hearing(t, c, l)
	// The network changes while the old one still works.
	restart(t, c, l)
	hearing(t, c, l)
	if line, err := l.Watch(t.Context(), port.LineLost); err != nil || line != port.LineUp {
		t.Fatalf("the line is %v, %v", line, err)
	}
	network.Cut(true)
	watch(t, l, port.LineUp, port.LineLost)
	network.Cut(false)
	restart(t, c, l)
	watch(t, l, port.LineLost, port.LineUp)
	hearing(t, c, l)
}

func restart(t *testing.T, c *client, l *Leg) {
	t.Helper()
	answer, err := l.Restart(t.Context(), c.offer(&pion.OfferOptions{ICERestart: true}))
	check(t, err)
	c.answer(answer)
}

// A client that does not return has hung up.
func TestLinger(t *testing.T) {
	t.Parallel()
	c, l := connect(t, server(t, Options{Linger: 300 * time.Millisecond}), clientOptions{})
	hearing(t, c, l)
	c.close()
	watch(t, l, port.LineUp, port.LineLost)
	lost := time.Now()
	var err error
	for err == nil {
		_, err = l.Read(t.Context())
	}
	if !errors.Is(err, io.EOF) {
		t.Fatalf("Read returned %v, want io.EOF", err)
	}
	t.Logf("it ended %v after the loss", time.Since(lost))
	if _, err := l.Watch(t.Context(), port.LineLost); !errors.Is(err, io.EOF) {
		t.Errorf("Watch returned %v, want io.EOF", err)
	}
	if _, err := l.Reattach(t.Context(), newClient(t, clientOptions{}).offer(nil)); !errors.Is(err, ErrClosed) {
		t.Errorf("Reattach behind the end: %v", err)
	}
	if err := l.Send("hello"); !errors.Is(err, ErrClosed) {
		t.Errorf("Send behind the end: %v", err)
	}
	if _, err := l.Receive(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("Receive behind the end: %v", err)
	}
	check(t, l.Write(t.Context(), audio.Frame{Rate: rate, PCM: make([]int16, rate/50)}))
}

// A leg whose answer never reaches the browser ends soon, however long Linger is.
func TestNobodyConnects(t *testing.T) {
	t.Parallel()
	s := server(t, Options{Connect: 300 * time.Millisecond, Linger: time.Hour})
	l, _, err := s.Accept(t.Context(), newClient(t, clientOptions{}).offer(nil))
	check(t, err)
	if n := s.Connecting(); n != 1 {
		t.Errorf("%d legs are connecting", n)
	}
	if _, err := l.Read(t.Context()); !errors.Is(err, port.ErrNeverConnected) || !errors.Is(err, io.EOF) {
		t.Errorf("Read returned %v, want %v", err, port.ErrNeverConnected)
	}
	check(t, l.Write(t.Context(), audio.Frame{Rate: rate, PCM: make([]int16, rate/50)}))
	if n := s.Legs(); n != 1 {
		t.Errorf("%d legs before Close", n)
	}
	check(t, l.Close())
	check(t, l.Close())
	if n := s.Legs(); n != 0 {
		t.Errorf("%d legs behind Close", n)
	}
}

// A person who returns over a new leg has as long to connect as after a loss. Then the
// leg ends.
func TestReturningNeverConnects(t *testing.T) {
	t.Parallel()
	s := server(t, Options{Connect: 100 * time.Millisecond, Linger: 500 * time.Millisecond})
	began := time.Now()
	l, _, err := s.Accept(t.Context(), newClient(t, clientOptions{}).offer(nil))
	check(t, err)
	l.Returning()
	if _, err := l.Read(t.Context()); !errors.Is(err, io.EOF) || errors.Is(err, port.ErrNeverConnected) {
		t.Errorf("Read returned %v, want io.EOF", err)
	}
	if took := time.Since(began); took < 500*time.Millisecond {
		t.Errorf("it ended after %v, before the time for a return", took)
	}
	check(t, l.Close())
}

// A connection that was established and lost is not reported as one that was never
// established.
func TestConnectedOnce(t *testing.T) {
	t.Parallel()
	s := server(t, Options{Linger: 300 * time.Millisecond})
	c, l := connect(t, s, clientOptions{})
	if n := s.Connecting(); n != 0 {
		t.Errorf("%d legs are connecting", n)
	}
	c.close()
	var err error
	for err == nil {
		_, err = l.Read(t.Context())
	}
	if errors.Is(err, port.ErrNeverConnected) {
		t.Errorf("Read returned %v", err)
	}
}

// A second page takes over from the first as soon as it is connected.
func TestTakeover(t *testing.T) {
	t.Parallel()
	first, l := connect(t, server(t, Options{}), clientOptions{})
	hearing(t, first, l)
	never := newClient(t, clientOptions{})
	_, err := l.Reattach(t.Context(), never.offer(nil))
	check(t, err)
	hearing(t, first, l) // it has not connected
	second := newClient(t, clientOptions{})
	answer, err := l.Restart(t.Context(), second.offer(nil))
	check(t, err)
	second.answer(answer)
	second.await(pion.PeerConnectionStateConnected)
	hearing(t, second, l)
	first.await(pion.PeerConnectionStateClosed)
}

// The end of the server ends all legs, including those that are being read.
func TestServerCloses(t *testing.T) {
	t.Parallel()
	s, err := NewServer(Options{MaxLegs: 1})
	check(t, err)
	c, l := connect(t, s, clientOptions{})
	hearing(t, c, l)
	if _, _, err := s.Accept(t.Context(), newClient(t, clientOptions{}).offer(nil)); !errors.Is(err, ErrFull) {
		t.Errorf("one leg too many: %v", err)
	}
	done := make(chan error)
	go func() {
		for {
			if _, err := l.Read(t.Context()); err != nil {
				done <- err
				return
			}
		}
	}()
	check(t, s.Close())
	if err := <-done; !errors.Is(err, io.EOF) {
		t.Errorf("Read returned %v, want io.EOF", err)
	}
	if _, _, err := s.Accept(t.Context(), newClient(t, clientOptions{}).offer(nil)); !errors.Is(err, ErrClosed) {
		t.Errorf("Accept behind the end: %v", err)
	}
}

// The last sound sent is heard before the connection is closed.
func TestLastWords(t *testing.T) {
	t.Parallel()
	c, l := connect(t, server(t, Options{}), clientOptions{})
	speak(t, l, porttest.Tone(rate, 400*time.Millisecond))
	began := time.Now()
	check(t, l.Close())
	t.Logf("the leg was closed within %v", time.Since(began))
	c.await(pion.PeerConnectionStateClosed)
	n := 0
	for piece := range slices.Chunk(c.all(), rate/50) {
		if audio.RMS(piece) > 0.02 {
			n++
		}
	}
	if n < 15 {
		t.Errorf("of 20 frames %d were heard", n)
	}
}
