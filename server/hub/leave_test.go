package hub_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/leg/text"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/session"
	"github.com/hocketvoice/hocket/turn"
)

// TestDrainHandsOverWhatIsAtRest checks when a draining hub ends a conversation that
// another process can take: at once if nothing happens in it, after the answer if it
// answers, and only at the limit if no other process is there or the store does not save.
func TestDrainHandsOverWhatIsAtRest(t *testing.T) {
	kept := func() port.Store { return &porttest.Store{} }
	for name, c := range map[string]struct {
		say       string
		store     port.Store
		elsewhere bool
		from, to  time.Duration // when, at the earliest and at the latest
	}{
		"nothing happens":             {"", kept(), true, 0, 0},
		"a line is being answered":    {"Are you there?", kept(), true, 3 * time.Second, 3 * time.Second},
		"there is no other process":   {"", kept(), false, 20 * time.Second, 20 * time.Second},
		"the store is slow":           {"", &slow{takes: time.Second}, true, time.Second, 3 * time.Second},
		"the store does not save":     {"", &slow{takes: time.Hour}, true, 20 * time.Second, 24 * time.Second},
		"nothing is kept of anything": {"", nil, true, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := mustHub(t, hub.Options{HandOver: true, Elsewhere: func(context.Context) bool { return c.elsewhere }})
				asked := call(text.New(text.Options{}), "")
				asked.Session = func(one *hub.Conversation) (*session.Session, error) {
					return session.New(session.Options{
						ID: one.ID(), Leg: one.Leg(), Trace: one.Recorder(), TraceLive: true, Text: true, Model: slowly{},
						Conv:        conv.Options{Endpoint: "manual", DeadAir: turn.DeadAirOptions{Off: true}},
						Checkpoints: session.Checkpoints{Store: c.store},
					})
				}
				one := mustStart(t, h, asked)
				if _, slow := c.store.(*slow); !slow {
					synctest.Wait()
				}
				if c.say != "" {
					if err := one.Command(hub.Command{Type: "send_text", Text: c.say}); err != nil {
						t.Fatal(err)
					}
				}
				stream, err := one.Stream(hub.StreamOptions{From: 1})
				if err != nil {
					t.Fatal(err)
				}
				defer stream.Close()
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				h.Drain(ctx, 3*time.Second)
				if took := time.Since(began).Truncate(time.Second); took < c.from || took > c.to {
					t.Errorf("it took %v, expected %v to %v", took, c.from, c.to)
				}
				if info := one.Info(); info.Reason != hub.ReasonHandedOver {
					t.Errorf("the reason is %q", info.Reason)
				}
				answered := false
				for {
					m, err := stream.Next(t.Context())
					if errors.Is(err, io.EOF) {
						break
					}
					if err != nil {
						t.Fatal(err)
					}
					answered = answered || m.Type == hub.TypeCaption && bytes.Contains(m.Payload, []byte("Yes."))
				}
				if answered != (c.say != "") {
					t.Errorf("the client has read the answer: %v", answered)
				}
			})
		})
	}
}
