package hub_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/leg/text"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/session"
	"github.com/hocketvoice/hocket/turn"
)

// TestHandedOver checks that a conversation that may continue in another process is not
// said to have ended when this one stops.
func TestHandedOver(t *testing.T) {
	for _, c := range []struct {
		handOver     bool
		reason, line string
	}{{true, "handed_over", "conversation handed over"}, {false, "user.stop", "conversation ended"}} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			h := mustHub(t, hub.Options{HandOver: c.handOver, Log: slog.New(slog.NewTextHandler(&log, nil))})
			one := mustStart(t, h, call(text.New(text.Options{}), ""))
			drained(h)
			if info := one.Info(); info.Reason != c.reason || info.Over() == c.handOver {
				t.Errorf("the reason is %q, over %v; expected %q", info.Reason, info.Over(), c.reason)
			}
			if !strings.Contains(log.String(), c.line) || c.handOver && strings.Contains(log.String(), "ended") {
				t.Errorf("the log has no %q:\n%s", c.line, log.String())
			}
		})
	}
}

// slowly answers after three seconds.
type slowly struct{}

func (slowly) Reply(ctx context.Context, _ port.Request, emit func(port.Delta) error) error {
	select {
	case <-time.After(3 * time.Second):
		return emit(port.Delta{Text: "Yes."})
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestTypedLinesWaitForNoTranscript checks that the wait of a line that was typed in a
// pause does not count as time of the recognizer.
func TestTypedLinesWaitForNoTranscript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := mustHub(t, hub.Options{})
		defer drained(h)
		c := mustStart(t, h, hub.Call{
			Agent: "test", Transport: "text", Leg: text.New(text.Options{}),
			Session: func(c *hub.Conversation) (*session.Session, error) {
				return session.New(session.Options{
					ID: c.ID(), Leg: c.Leg(), Trace: c.Recorder(), TraceLive: true, Text: true, Model: slowly{},
					Conv: conv.Options{Endpoint: "manual", DeadAir: turn.DeadAirOptions{Off: true}},
				})
			},
		})
		for _, m := range []hub.Command{{Type: "suspend"}, {Type: "send_text", Text: "one"}, {Type: "resume"}} {
			if err := c.Command(m); err != nil {
				t.Fatal(err)
			}
			time.Sleep(3 * time.Second) // of virtual time
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		timings := c.Details().Timings
		if len(timings) == 0 {
			t.Fatal("there are no timings")
		}
		for _, one := range timings {
			if sum := one.EndpointMS + one.TranscriptMS + one.ReplyMS + one.VoiceMS; one.TranscriptMS != 0 || sum != one.TotalMS {
				t.Errorf("the stages are %+v", one)
			}
		}
	})
}
