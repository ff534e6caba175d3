package telnyx

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/internal/carrier/fake"
	"github.com/hocketvoice/hocket/port"
)

// wantLine waits for a state of the line.
func wantLine(t *testing.T, leg Leg, want port.Line) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for line := 1 - want; line != want; {
		var err error
		if line, err = leg.Watch(ctx, line); err != nil {
			t.Fatalf("waited for the line %v: %v", want, err)
		}
	}
}

// TestLostStream breaks the stream in the middle of a call, with and without failures of the
// commands: another one is started, over which both hear each other, and what was written meanwhile
// does not count as heard before it is dropped.
func TestLostStream(t *testing.T) {
	for name, fault := range map[string]func(string, int) fake.Fault{
		"at once": nil,
		"after failures": func(action string, n int) fake.Fault {
			if action == "streaming_start" && n > 1 && n < 5 {
				return fake.Fault{Status: 422, Code: "10015"}
			}
			return fake.Fault{}
		},
	} {
		t.Run(name, func(t *testing.T) {
			inHouse(t, Options{}, fake.TelnyxOptions{Fault: fault}, func(t *testing.T, h *house) {
				c, _, leg := h.talk()
				say(t, leg, loud(leg), 50)
				settle(time.Second)
				c.Drop()
				wantLine(t, leg, port.LineLost)
				before := leg.Played()
				if err := leg.Write(t.Context(), loud(leg)); err != nil {
					t.Fatal(err)
				}
				if got := leg.Played(); got != before {
					t.Errorf("what is lost counts as heard: %d, expected %d", got, before)
				}
				s, err := c.Stream(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				wantLine(t, leg, port.LineUp)
				s.Say(bytesOf(4000))
				s.Press("5")
				if key, err := leg.ReadKey(t.Context()); err != nil || key != '5' {
					t.Errorf("the key is %c, error %v", key, err)
				}
				for heard := false; !heard; {
					f, err := leg.Read(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					heard = slices.ContainsFunc(f.PCM, isLoud)
				}
				say(t, leg, loud(leg), 20)
				settle(time.Second)
				if !slices.ContainsFunc(s.Played(), isLoud) {
					t.Error("the caller hears nothing")
				}
				if got := leg.Played(); got != 71*160 {
					t.Errorf("Played is %d, expected %d", got, 71*160)
				}
				if err := leg.Close(); err != nil {
					t.Error(err)
				}
				over(t, c.Over())
				h.none()
			})
		})
	}
}

// TestStreamStaysLost checks that a call whose stream cannot be started again is hung up.
func TestStreamStaysLost(t *testing.T) {
	fault := func(action string, n int) fake.Fault {
		if action == "streaming_start" && n > 1 {
			return fake.Fault{Status: 422, Code: "10015"}
		}
		return fake.Fault{}
	}
	inHouse(t, Options{Linger: 20 * time.Second}, fake.TelnyxOptions{Fault: fault}, func(t *testing.T, h *house) {
		c, _, leg := h.talk()
		begun := time.Now()
		c.Drop()
		for err := error(nil); err == nil; {
			if _, err = leg.Read(t.Context()); err != nil && !errors.Is(err, io.EOF) {
				t.Errorf("Read returned %v, expected io.EOF", err)
			}
		}
		if took := time.Since(begun); took < 20*time.Second || took > 21*time.Second {
			t.Errorf("the call was given up after %v", took)
		}
		if err := leg.Close(); err != nil {
			t.Error(err)
		}
		over(t, c.Over())
		settle(time.Second)
		wantOver(t, c, "normal_clearing", "callee")
		h.wantFailure("could not be started again", "")
	})
}

// friend is who a caller is connected with.
const friend = "+15550100200"

// ring returns parties of whom one is somebody.
func ring(p fake.Party) func(string) fake.Party {
	return func(string) fake.Party { return p }
}

// TestTransfer connects callers with somebody who answers: the conversation's leg can be closed
// without a hang-up, and the call ends when the two have talked.
func TestTransfer(t *testing.T) {
	inHouse(t, Options{}, fake.TelnyxOptions{Parties: ring(fake.Party{After: 4 * time.Second, Talk: time.Minute})}, func(t *testing.T, h *house) {
		c, _, leg := h.talk()
		begun := time.Now()
		if err := leg.Transfer(t.Context(), port.Transfer{To: friend, Ring: 20 * time.Second}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took < 4*time.Second || took > 5*time.Second {
			t.Errorf("the transfer took %v", took)
		}
		if err := leg.Close(); err != nil {
			t.Error(err)
		}
		settle(30 * time.Second)
		wantActions(t, c, "answer", "streaming_start", "transfer "+friend, "streaming_stop")
		wantOver(t, c, "", "")
		over(t, c.Over())
		settle(time.Second)
		if h.f.Attempts("hangup") != 0 || len(h.ended) != 1 {
			t.Errorf("%d hang-ups were sent, %d ends were told", h.f.Attempts("hangup"), len(h.ended))
		}
		h.none()
	})
}

// TestTransferFails checks that a caller who is not connected is back within two seconds of the
// failure, that the reason is told, and that the call goes on.
func TestTransferFails(t *testing.T) {
	for how, want := range map[string]error{
		"busy": port.ErrLineBusy, "no_answer": port.ErrNoAnswer, "reject": port.ErrRejected, "unreachable": port.ErrUnreachable,
	} {
		t.Run(how, func(t *testing.T) {
			inHouse(t, Options{}, fake.TelnyxOptions{Parties: ring(fake.Party{After: 3 * time.Second, How: how})}, func(t *testing.T, h *house) {
				c, s, leg := h.talk()
				begun := time.Now()
				err := leg.Transfer(t.Context(), port.Transfer{To: friend, Ring: 10 * time.Second})
				if !errors.Is(err, want) || strings.Contains(err.Error(), "555") {
					t.Errorf("the error is %v, expected %v", err, want)
				}
				known := 3 * time.Second
				if how == "no_answer" {
					known = 10 * time.Second
				}
				if took := time.Since(begun); took > known+2*time.Second {
					t.Errorf("the caller was back after %v, %v after the failure", took, took-known)
				}
				say(t, leg, loud(leg), 20)
				settle(time.Second)
				if !slices.ContainsFunc(s.Played(), isLoud) {
					t.Error("the caller does not hear the agent again")
				}
				if err := leg.Close(); err != nil {
					t.Error(err)
				}
				over(t, c.Over())
				settle(time.Second)
				wantOver(t, c, "normal_clearing", "callee")
				h.none()
			})
		})
	}
}

// TestTransferGivenUp ends a transfer before anybody has answered: the telephone elsewhere stops
// ringing.
func TestTransferGivenUp(t *testing.T) {
	inHouse(t, Options{}, fake.TelnyxOptions{Parties: ring(fake.Party{After: time.Minute})}, func(t *testing.T, h *house) {
		c, _, leg := h.talk()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if err := leg.Transfer(ctx, port.Transfer{To: friend, Ring: 30 * time.Second}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the error is %v", err)
		}
		settle(time.Second)
		for _, other := range h.f.Placed() {
			wantOver(t, other, "originator_cancel", "caller")
		}
		// Another transfer is possible afterwards, and the caller may hang up while it rings.
		done := make(chan error)
		go func() { done <- leg.Transfer(t.Context(), port.Transfer{To: friend, Ring: 30 * time.Second}) }()
		settle(2 * time.Second)
		c.HangUp()
		if err := <-done; !errors.Is(err, io.EOF) {
			t.Errorf("after the caller has hung up: %v", err)
		}
		if err := leg.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestDial places calls: who answers talks with the agent, and what the carrier says of machines is
// told.
func TestDial(t *testing.T) {
	p := fake.Party{After: 3 * time.Second, Detected: "machine", DetectedAfter: 2 * time.Second, Beep: 4 * time.Second}
	deliver := func(string) fake.Delivery { return fake.Delivery{Again: 1} }
	inHouse(t, Options{Connection: "app"}, fake.TelnyxOptions{Parties: ring(p), Deliver: deliver}, func(t *testing.T, h *house) {
		var states []string
		begun := time.Now()
		leg, err := h.s.Dial(t.Context(), port.Dial{
			To: friend, From: called, Ring: 20 * time.Second, Detect: true, AwaitEnd: true, Progress: func(s string) { states = append(states, s) },
		})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took > 4*time.Second {
			t.Errorf("the leg came after %v", took)
		}
		if !slices.Equal(states, []string{"ringing", "answered"}) {
			t.Errorf("the states are %q", states)
		}
		for _, want := range []port.Answer{port.AnswerMachine, port.AnswerBeep} {
			if a, err := leg.ReadAnswer(t.Context()); err != nil || a != want {
				t.Errorf("the answer is %q, error %v, expected %q", a, err, want)
			}
		}
		c := h.f.Placed()[0]
		s, err := c.Stream(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		say(t, leg, loud(leg), 20)
		settle(time.Second)
		if !slices.ContainsFunc(s.Played(), isLoud) {
			t.Error("nothing is heard")
		}
		if err := leg.Close(); err != nil {
			t.Error(err)
		}
		over(t, c.Over())
		settle(time.Second)
		wantActions(t, c, "dial", "streaming_start", "hangup")
		wantOver(t, c, "normal_clearing", "caller")
		if len(h.legs) > 0 {
			t.Error("the call has begun as one that came in")
		}
		h.none()
	})
}

// TestDialFails checks that the reason is told why nobody answers, and that nothing rings on.
func TestDialFails(t *testing.T) {
	for name, tc := range map[string]struct {
		party fake.Party
		fault fake.Fault
		to    string
		most  time.Duration
		want  error
		text  string
	}{
		"busy":        {party: fake.Party{How: "busy"}, want: port.ErrLineBusy},
		"no answer":   {party: fake.Party{After: time.Hour}, want: port.ErrNoAnswer},
		"rejected":    {party: fake.Party{How: "reject", After: time.Second}, want: port.ErrRejected},
		"unreachable": {party: fake.Party{How: "unreachable"}, want: port.ErrUnreachable},
		"given up":    {party: fake.Party{After: time.Hour}, most: 3 * time.Second, want: context.DeadlineExceeded},
		"no number":   {to: "5551234", text: "422 Unprocessable Entity, error 10016"},
		"refused":     {fault: fake.Fault{Status: 403, Code: "10010"}, text: "403 Forbidden, error 10010"},
	} {
		t.Run(name, func(t *testing.T) {
			fo := fake.TelnyxOptions{Parties: ring(tc.party), Fault: func(action string, _ int) fake.Fault {
				if action == "dial" {
					return tc.fault
				}
				return fake.Fault{}
			}}
			inHouse(t, Options{Connection: "app"}, fo, func(t *testing.T, h *house) {
				ctx := t.Context()
				if tc.most > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tc.most)
					defer cancel()
				}
				to := friend
				if tc.to != "" {
					to = tc.to
				}
				_, err := h.s.Dial(ctx, port.Dial{To: to, From: called, Ring: 20 * time.Second})
				if tc.want != nil && !errors.Is(err, tc.want) || err == nil || !strings.Contains(err.Error(), tc.text) || strings.Contains(err.Error(), "555") {
					t.Errorf("the error is %v, expected %v %s", err, tc.want, tc.text)
				}
				settle(5 * time.Second)
				for _, c := range h.f.Placed() {
					over(t, c.Over())
				}
				settle(time.Second)
			})
		})
	}
	inHouse(t, Options{}, fake.TelnyxOptions{}, func(t *testing.T, h *house) {
		if _, err := h.s.Dial(t.Context(), port.Dial{To: friend}); err == nil || !strings.Contains(err.Error(), "the name of the application is empty") {
			t.Errorf("without an application: %v", err)
		}
	})
}
