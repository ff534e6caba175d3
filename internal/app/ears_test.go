//go:build flite && pocketsphinx && cgo

package app

import (
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/leg/file"
	"github.com/hocketvoice/hocket/session"
)

// TestEarsBookingWithEcho checks that a spoken booking works to its end with an echo of the
// agent's voice.
func TestEarsBookingWithEcho(t *testing.T) {
	if raceDetector {
		t.Skip("most of it is decoding, three times as slow with the race detector")
	}
	echo, err := file.ParseEcho("-15dB@200ms")
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	_, err = Call(t.Context(), CallOptions{
		Agent: "../../examples/flights", Echo: echo, Day: time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC),
		Lines: []CallerLine{
			{Text: "I want to book a flight"}, {Text: "from Boston"}, {Text: "to Denver"}, {Text: "next friday"}, {Text: "yes"},
		},
		Said: func(s session.Spoken) {
			if s.Role == conv.RoleUser {
				said = append(said, s.Text)
			} else if s.Outcome != conv.TurnCompleted {
				t.Errorf("the agent was interrupted after %q", s.Text)
			} else if strings.HasPrefix(s.Text, "Your flight is booked.") {
				said = append(said, "booked")
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(said) != 6 || said[5] != "booked" {
		t.Errorf("the caller was heard to say %q: expected five answers and a booking", said)
	}
}
