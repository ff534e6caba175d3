package session

import (
	"slices"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// lineCall is a call over a line that changes at frames of the person.
func lineCall(changes map[int]port.Line, end int) plan {
	p := plan{conv: conv.Options{Greeting: greeting}, stay: true, replies: []string{answer}}
	var leg *porttest.LineLeg
	p.setup = func(c *call) {
		leg = porttest.NewLineLeg(c.leg)
		c.s.o.Leg = leg
	}
	p.each = func(_ *call, n int) {
		if line, ok := changes[n]; ok {
			leg.SetLine(line)
		}
		if n == end {
			leg.HangUp()
		}
	}
	return p
}

// A line that is shaky for less than the grace leaves the phase as it is (seed
// 001, section 6).
func TestLiveLineIsShaky(t *testing.T) {
	live(t, lineCall(map[int]port.Line{150: port.LineShaky, 240: port.LineUp}, 400), func(c *call) {
		c.ok()
		c.never("reconnecting")
		if !slices.ContainsFunc(c.effects, func(e string) bool { return e == "notify" }) {
			t.Errorf("nobody is told: %v", c.effects)
		}
	})
}

// A line that does not come back within the grace, or is lost at once, makes the
// conversation wait for it; then it goes on.
func TestLiveLineIsLost(t *testing.T) {
	for name, changes := range map[string]map[int]port.Line{
		"shaky for too long": {150: port.LineShaky, 500: port.LineUp},
		"lost":               {150: port.LineLost, 400: port.LineUp},
		"shaky, then lost":   {150: port.LineShaky, 200: port.LineLost, 350: port.LineUp},
	} {
		t.Run(name, func(t *testing.T) {
			live(t, lineCall(changes, 700), func(c *call) {
				c.ok()
				if n := c.count("reconnecting"); n != 1 {
					t.Errorf("reconnecting %d times", n)
				}
				c.wantPhases("reconnecting", "listening.ready connection.restored")
				c.never("faulted")
			})
		})
	}
}

// Where nobody comes back the conversation ends, by itself.
func TestLiveLineStaysLost(t *testing.T) {
	live(t, lineCall(map[int]port.Line{150: port.LineLost}, 150+int(30*time.Second/(20*ms))), func(c *call) {
		c.ok()
		c.wantPhases("reconnecting", "faulted", "terminating")
	})
}
