package hub_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/leg/text"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
	"github.com/hocketvoice/hocket/server/hub"
	"github.com/hocketvoice/hocket/session"
)

// slow is a store that answers late.
type slow struct {
	porttest.Store
	takes time.Duration
}

func (s *slow) Save(ctx context.Context, h port.Hold, b []byte) error {
	select {
	case <-time.After(s.takes):
		return s.Store.Save(ctx, h, b)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestAnswersAheadOfTheWarning checks that a client knows that the store is away when it
// reads words that were not saved.
func TestAnswersAheadOfTheWarning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := mustHub(t, hub.Options{})
		defer drained(h)
		asked := call(text.New(text.Options{}), "")
		asked.Session = func(c *hub.Conversation) (*session.Session, error) {
			return session.New(text.Session(session.Options{
				ID: c.ID(), Leg: c.Leg(), Conv: conv.Options{Greeting: "Hello."},
				Checkpoints: session.Checkpoints{Store: &slow{takes: time.Hour}, Behind: c.Behind},
			}))
		}
		s, err := mustStart(t, h, asked).Stream(hub.StreamOptions{From: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for warned := false; ; {
			m, err := s.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			warned = warned || strings.Contains(string(m.Payload), "store.behind")
			if m.Type == hub.TypeCaption {
				if !warned {
					t.Error("the agent speaks, and nobody was told that it is not kept")
				}
				return
			}
		}
	})
}

// TestAnswersLostInAKill checks that the store has a turn when a client reads the agent's
// answer to it, in part or whole, so that a killed process loses nothing that was answered.
func TestAnswersLostInAKill(t *testing.T) {
	flows, problems := dialog.Parse([]agent.File{{Name: "a.yaml", Data: []byte(`
settings: {language: en, greeting: "Hello."}
slots:
  city: {type: city, values: [Boston, Denver], prompt: "Where to?"}
flows:
  trip:
    description: book a trip
    trigger: {intents: [book a trip]}
    steps:
      - {step: a, type: collect, slot: city}
      - {step: b, type: say, message: "To {city} it is."}
`)}})
	if flows == nil {
		t.Fatal(problems)
	}
	synctest.Test(t, func(t *testing.T) {
		store := &slow{takes: 30 * time.Millisecond}
		h := mustHub(t, hub.Options{})
		defer drained(h)
		c := mustStart(t, h, hub.Call{
			Agent: "test", Transport: "text", Leg: text.New(text.Options{}),
			Session: func(c *hub.Conversation) (*session.Session, error) {
				return session.New(text.Session(session.Options{
					ID: c.ID(), Leg: c.Leg(), Trace: c.Recorder(), TraceLive: true, Conv: conv.Options{Agent: flows},
					Checkpoints: session.Checkpoints{Store: store},
				}))
			},
		})
		s, err := c.Stream(hub.StreamOptions{From: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		lines, said, answered := []string{"book a trip", "to Denver"}, "", 0
		for answered < len(lines) {
			m, err := s.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var caption hub.Caption
			if m.Type != hub.TypeCaption || json.Unmarshal(m.Payload, &caption) != nil {
				continue
			}
			kept, _, err := store.Load(t.Context(), c.ID())
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(kept), said) {
				t.Errorf("the answer to %q is told, and the store has only %s", said, kept)
			}
			switch {
			case !caption.Final:
				continue
			case said != "":
				answered++
			}
			if answered < len(lines) {
				said = lines[answered]
				if err := c.Command(hub.Command{Type: "send_text", Text: said}); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// TestAnswerKeptAndNotRead checks that the process that continues repeats an answer, with its
// time, that was saved as told but not read by the client because the process was killed. A
// client that has read it recognizes it by the time.
func TestAnswerKeptAndNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &porttest.Store{}
		talk := func(started time.Time, restore []byte) (c *hub.Conversation, told hub.Message, kept []byte) {
			h := mustHub(t, hub.Options{})
			defer drained(h)
			c = mustStart(t, h, hub.Call{
				ID: "conv_one", Agent: "test", Transport: "text", Leg: text.New(text.Options{}), Started: started,
				Session: func(c *hub.Conversation) (*session.Session, error) {
					return session.New(text.Session(session.Options{
						ID: c.ID(), Leg: c.Leg(), Conv: conv.Options{Greeting: "Hello."}, Restore: restore,
						Checkpoints: session.Checkpoints{Store: store},
					}))
				},
			})
			s, err := c.Stream(hub.StreamOptions{From: 1})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			for {
				m, err := s.Next(ctx)
				if err != nil {
					t.Fatal(err)
				}
				var caption hub.Caption
				if m.Type == hub.TypeCaption && json.Unmarshal(m.Payload, &caption) == nil && caption.Final {
					b, _, err := store.Load(t.Context(), c.ID())
					if err != nil {
						t.Fatal(err)
					}
					return c, m, b
				}
			}
		}
		first, told, b := talk(time.Time{}, nil)
		kept, err := journal.ReadCheckpoint(b)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // until it runs again
		_, again, _ := talk(first.Started(), kept.Snapshot)
		if again.At != told.At || string(again.Payload) != string(told.Payload) {
			t.Errorf("told again is %s at %v, expected %s at %v", again.Payload, again.At, told.Payload, told.At)
		}
	})
}
