package hub

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// frames counts frames, of which some are late.
func frames(p *Pace, n, late int) {
	for i := range n {
		by := time.Duration(0)
		if i < late {
			by = 61 * time.Millisecond
		}
		p.Sent(by)
	}
}

func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		p := NewPace(0, slog.New(slog.NewTextHandler(&log, nil)))
		if p.Late() {
			t.Fatal("late before the first frame")
		}
		for range 10 {
			frames(p, 100, 5)
			time.Sleep(time.Second)
		}
		if p.Late() {
			t.Error("one in twenty is late: it must not be reported yet")
		}
		for range 10 {
			frames(p, 100, 6)
			time.Sleep(time.Second)
		}
		if !p.Late() {
			t.Error("more than one in twenty is late, and it is not reported")
		}
		for range 10 {
			frames(p, 100, 1)
			time.Sleep(time.Second)
		}
		if !p.Late() {
			t.Error("one in a hundred is late: it is not over yet")
		}
		for range 11 {
			frames(p, 100, 0)
			time.Sleep(time.Second)
		}
		if p.Late() {
			t.Error("nothing is late: it must be over")
		}
		if got := strings.Count(log.String(), "\n"); got != 2 {
			t.Errorf("the log has %d lines, expected 2:\n%s", got, &log)
		}
	})
}

// A single call that begins badly says nothing yet, and the end of all calls ends it.
func TestPaceOfFewFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPace(10*time.Millisecond, nil)
		for range 50 {
			p.Heard(31 * time.Millisecond)
		}
		time.Sleep(time.Second)
		if p.Late() {
			t.Error("one second of one call was reported as late")
		}
		for range 3 {
			for range 50 {
				p.Heard(31 * time.Millisecond)
			}
			time.Sleep(time.Second)
		}
		if !p.Late() {
			t.Error("each frame takes half as long again as it lasts, and it is not reported")
		}
		time.Sleep(11 * time.Second)
		if p.Late() {
			t.Error("there was no sound for ten seconds: it must be over")
		}
	})
}

func TestPaceAllocatesNothing(t *testing.T) {
	p := NewPace(0, nil)
	if n := testing.AllocsPerRun(100, func() { p.Sent(0); p.Heard(0) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
