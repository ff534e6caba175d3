package telnyx_test

import (
	"context"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/carrier/fake"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/session"
)

// moving is the tool that connects a caller with somebody else.
type moving struct{}

func (moving) Specs() []port.ToolSpec {
	return []port.ToolSpec{{Name: "connect", Schema: []byte(`{"type":"object"}`), Irreversible: true, Announced: true}}
}

func (moving) Call(ctx context.Context, _ port.ToolCall, _ func(string)) (string, error) {
	within, _ := session.ContextOf(ctx)
	return "{}", within.Transfer(ctx, port.Transfer{To: "+15550100200", Ring: 20 * time.Second})
}

// desk is an agent that connects callers with a person.
const desk = `
settings: {greeting: "Welcome to the television shop of our beautiful city", barge_in: words}
actions:
  connect: {description: connects with a person, http: {method: POST, url: "http://127.0.0.1:1/"}}
flows:
  person:
    trigger: {intents: ["connect me with your manager"]}
    steps:
      - {step: tell, type: say, message: "Wonderful therefore everybody listens while somebody responsible answers immediately"}
      - {step: connect, type: action, call: connect, on_error: sorry}
      - {step: done, type: end}
      - {step: sorry, type: say, message: "Unfortunately nobody responsible answered"}
  hello:
    trigger: {intents: ["hello"]}
    steps: [{step: a, type: say, message: "Good morning and how may anybody help you today"}]
`

const (
	connecting = "Wonderful therefore everybody listens while somebody responsible answers immediately"
	sorry      = "Unfortunately nobody responsible answered"
)

// TestTransferIsAnnounced speaks over the announcement of a transfer, which is heard to its end all
// the same before anybody is called. When somebody answers, the conversation ends and the call goes
// on.
func TestTransferIsAnnounced(t *testing.T) {
	parties := func(string) fake.Party { return fake.Party{After: 3 * time.Second} }
	holdWith(t, desk, fake.TelnyxOptions{Parties: parties}, []string{"connect me with your manager", "please stop and listen to me"}, func(c *talk) {
		c.wait(4 * time.Second)
		c.say()
		c.wait(2500 * time.Millisecond)
		if all := c.played(); all[len(all)-1].whole {
			t.Fatalf("the caller does not speak over the announcement: %+v", all)
		}
		c.say()
		c.wait(8 * time.Second)
		all := c.want(greeting, connecting)
		if n := c.line.Clears(); n != 0 {
			t.Errorf("the carrier's buffer was emptied %d times", n)
		}
		if began := c.call.Began("transfer +15550100200"); began.Before(all[1].until) || began.Sub(all[1].until) > time.Second {
			t.Errorf("somebody was called %v after the announcement", began.Sub(all[1].until))
		}
		select {
		case <-c.ended:
		case <-time.After(time.Second):
			t.Error("the conversation goes on")
		}
		if cause, _ := c.call.Cause(); cause != "" {
			t.Errorf("the call is over with %q", cause)
		}
		c.ended <- nil
	})
}

// TestTransferComesBack checks that a caller who is not connected hears so within two seconds, and
// can go on.
func TestTransferComesBack(t *testing.T) {
	for _, how := range []string{"busy", "no_answer", "reject", "unreachable"} {
		t.Run(how, func(t *testing.T) {
			parties := func(string) fake.Party { return fake.Party{After: 2 * time.Second, How: how} }
			holdWith(t, desk, fake.TelnyxOptions{Parties: parties}, []string{"connect me with your manager", "hello"}, func(c *talk) {
				c.wait(4 * time.Second)
				c.say()
				c.wait(40 * time.Second)
				all := c.played()
				if len(all) < 3 || all[2].text != sorry {
					t.Fatalf("the carrier has played %+v", all)
				}
				rang := 2 * time.Second
				if how == "no_answer" {
					rang = 20 * time.Second
				}
				failed := c.call.Began("transfer +15550100200").Add(rang)
				if late := all[2].at.Sub(failed); late < 0 || late > 2*time.Second {
					t.Errorf("the caller was told %v after the failure, expected at most 2 s", late)
				}
				c.say()
				c.wait(8 * time.Second)
				if all = c.played(); all[len(all)-1].text != help {
					t.Errorf("afterwards the carrier has played %+v", all)
				}
			})
		})
	}
}
