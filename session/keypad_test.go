package session

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/porttest"
)

// telephone is a silent leg with keys.
type telephone struct {
	*same
	keys chan byte
}

func (l *telephone) ReadKey(ctx context.Context) (byte, error) {
	select {
	case k, ok := <-l.keys:
		if !ok {
			return 0, io.EOF
		}
		return k, nil
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// keyed holds a call in which somebody opens the safe by keys. They are pressed when the agent
// has begun to ask for the PIN, a blank is 200 ms; then the telephone has no more keys. keyed returns the transitions since then, what was said, and the
// trace without the agent.
func keyed(t *testing.T, pressed string) (changes []string, said string, trace []byte) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		agent, files := safeAgent(t, safe)
		var recorded bytes.Buffer
		leg := &telephone{quiet(8000), make(chan byte)}
		s, err := New(Options{
			Leg: leg, Synthesizer: newDrone(150), Tools: locksmith(false), AgentFiles: files, Trace: &recorded,
			Conv: conv.Options{Agent: agent, Greeting: "Hello."}, Detector: &porttest.Detector{},
		})
		if err != nil {
			t.Fatal(err)
		}
		greeted, asked := make(chan struct{}, 1), make(chan struct{}, 1)
		s.OnStep(func(st Step) {
			for _, e := range st.Output.Effects {
				if e, ok := e.(conv.Speak); ok {
					said += e.Text + " "
				}
			}
			for _, tr := range st.Output.Transitions {
				switch {
				case changes != nil:
				case tr.To == conv.Speaking && st.State.Expect.Slot == "pin":
					asked <- struct{}{}
				case tr.To == conv.ListeningReady && st.State.Expect.Slot == "" && len(greeted) == 0:
					greeted <- struct{}{}
					continue
				default:
					continue
				}
				changes = append(changes, string(tr.Cause)+": "+tr.To.String())
			}
		})
		ctx, stop := context.WithCancel(t.Context())
		go func() {
			defer stop()
			<-greeted
			_ = s.Post(conv.UserText{Text: "open the safe"})
			select {
			case <-asked:
			case <-ctx.Done():
				return
			}
			time.Sleep(500 * ms)
			for _, k := range []byte(pressed) {
				if k == ' ' {
					time.Sleep(200 * ms)
				} else {
					leg.keys <- k
				}
			}
			close(leg.keys)
			time.Sleep(10 * time.Second)
		}()
		if err := s.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		_, trace, _ = bytes.Cut(recorded.Bytes(), []byte("\n"))
	})
	return changes, said, trace
}

// TestKeysAreAnAnswer checks that the first key stops the agent, that the last digit ends the
// answer, and that a secret that is pressed is not recorded.
func TestKeysAreAnAnswer(t *testing.T) {
	changes, said, trace := keyed(t, "4 7 1 1")
	if len(changes) < 2 || changes[1] != "user.key: interrupted" {
		t.Errorf("the first key: transitions %q", changes)
	}
	if !strings.Contains(said, "Which city?") {
		t.Errorf("the agent said %q: the keys are no answer", said)
	}
	wantNone(t, "the trace", trace)
	if !bytes.Contains(trace, []byte(`"user.key"`)) {
		t.Error("the trace has no key")
	}
}

// TestKeysThatAreNoAnswer checks that fewer digits than expected end with the time or #, and are
// asked for again, and that a telephone that is gone ends nothing.
func TestKeysThatAreNoAnswer(t *testing.T) {
	for _, pressed := range []string{"47", "47#", "*471*47#"} {
		_, said, trace := keyed(t, pressed)
		if strings.Contains(said, "Which city?") || !strings.Contains(said, "provide a valid value") {
			t.Errorf("after %q the agent said %q: expected that it asks for a valid value", pressed, said)
		}
		if n := bytes.Count(trace, []byte(`"type":"user.text"`)); n != 2 {
			t.Errorf("%q: %d lines of the user are in the trace, want that by which the safe is opened and that of the keys", pressed, n)
		}
	}
}
