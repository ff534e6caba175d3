package twilio

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/internal/carrier/fake"
	"github.com/hocketvoice/hocket/internal/nettest"
	"github.com/hocketvoice/hocket/port"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	caller = "+15551234567"
	called = "+15557654321"
	friend = "+15550100200"
)

// home is a server and the account whose calls it answers, in virtual time.
type home struct {
	t      *testing.T
	s      *Server
	f      *fake.Twilio
	legs   chan Leg
	failed chan error
}

// atHome runs a test in a bubble.
func atHome(t *testing.T, o Options, fo fake.TwilioOptions, test func(*testing.T, *home)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := &home{t: t, legs: make(chan Leg, 10), failed: make(chan error, 100)}
		server := nettest.Serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.s.ServeHTTP(w, r) }))
		fo.Secret, fo.URL, fo.From, fo.To = secret, public, caller, called
		fo.Client = &http.Client{Transport: server.Transport()}
		h.f = fake.NewTwilio(fo)
		o.Secret, o.URL, o.API = secret, public, "http://api.test/2010-04-01"
		o.Client = &http.Client{Transport: nettest.Serve(t, h.f).Transport()}
		o.Start = func(_ context.Context, _ Incoming, leg Leg) error {
			h.legs <- leg
			return nil
		}
		o.Failed = func(err error) {
			if strings.Contains(err.Error(), "555") || strings.Contains(err.Error(), secret) {
				t.Errorf("the error has a number or the secret: %v", err)
			}
			h.failed <- err
		}
		var err error
		if h.s, err = New(o); err != nil {
			t.Fatal(err)
		}
		test(t, h)
		if err := h.f.Close(); err != nil {
			t.Error(err)
		}
		h.s.mu.Lock()
		defer h.s.mu.Unlock()
		if len(h.s.calls) > 0 || len(h.s.placed) > 0 {
			t.Errorf("%d calls and %d that were placed are remembered", len(h.s.calls), len(h.s.placed))
		}
	})
}

// settle lets a time pass in which everything happens that can.
func settle(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func over(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(5 * time.Minute):
		t.Fatal("waited in vain for the end")
	}
}

func (h *home) none() {
	h.t.Helper()
	for len(h.failed) > 0 {
		h.t.Errorf("failed: %v", <-h.failed)
	}
}

// talk returns a call whose conversation has begun.
func (h *home) talk() (*fake.TwilioCall, *fake.Call, Leg) {
	h.t.Helper()
	c := h.f.Ring()
	s, err := c.Stream(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	return c, s, <-h.legs
}

func wantVerbs(t *testing.T, c *fake.TwilioCall, want ...string) {
	t.Helper()
	if got := c.Verbs(); !slices.Equal(got, want) {
		t.Errorf("the TwiML was %q, expected %q", got, want)
	}
}

func loud() audio.Frame {
	f := audio.Frame{Rate: 8000, PCM: make([]int16, 160)}
	for i := range f.PCM {
		f.PCM[i] = int16(8000 * (i%20 - 10) / 10)
	}
	return f
}

func isLoud(v int16) bool { return v > 2000 }

// say writes frames at the pace of the clock.
func say(t *testing.T, l Leg, frames int) {
	t.Helper()
	clock := time.NewTicker(audio.FrameDuration)
	defer clock.Stop()
	for range frames {
		if err := l.Write(t.Context(), loud()); err != nil {
			t.Fatal(err)
		}
		<-clock.C
	}
}

// hear waits until the caller is heard.
func hear(t *testing.T, leg Leg, s *fake.Call) {
	t.Helper()
	s.Say(slices.Repeat(loud().PCM, 20))
	for {
		f, err := leg.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(f.PCM, isLoud) {
			return
		}
	}
}

// wantHeard checks that the person hears the agent.
func wantHeard(t *testing.T, leg Leg, s *fake.Call) {
	t.Helper()
	say(t, leg, 20)
	settle(time.Second)
	if !slices.ContainsFunc(s.Played(), isLoud) {
		t.Error("the person hears nothing")
	}
}

// TestEnds checks the end of a call on behalf of both sides.
func TestEnds(t *testing.T) {
	atHome(t, Options{}, fake.TwilioOptions{}, func(t *testing.T, h *home) {
		c, _, leg := h.talk()
		if err := leg.Close(); err != nil {
			t.Error(err)
		}
		over(t, c.Over())
		wantVerbs(t, c, "Connect", "Redirect", "Hangup")

		c, _, leg = h.talk()
		c.HangUp()
		begun := time.Now()
		for err := error(nil); err == nil; {
			if _, err = leg.Read(t.Context()); err != nil && !errors.Is(err, io.EOF) {
				t.Errorf("Read returned %v, expected io.EOF", err)
			}
		}
		if took := time.Since(begun); took > time.Second {
			t.Errorf("the end was noticed after %v", took)
		}
		if err := leg.Close(); err != nil {
			t.Error(err)
		}
		h.none()
	})
}

// TestLostStream breaks the stream in the middle of a call, twice: Twilio asks what follows and gets
// another one.
func TestLostStream(t *testing.T) {
	atHome(t, Options{}, fake.TwilioOptions{}, func(t *testing.T, h *home) {
		c, _, leg := h.talk()
		for range 2 {
			say(t, leg, 50)
			c.Drop()
			s, err := c.Stream(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			hear(t, leg, s)
			wantHeard(t, leg, s)
		}
		if err := leg.Close(); err != nil {
			t.Error(err)
		}
		over(t, c.Over())
		wantVerbs(t, c, "Connect", "Redirect", "Connect", "Redirect", "Connect", "Redirect", "Hangup")
		h.none()
	})
}

// TestStreamStaysLost checks that the conversation of a call ends that does not come back.
func TestStreamStaysLost(t *testing.T) {
	lost := func(path string) bool { return path == "again" }
	atHome(t, Options{Linger: 20 * time.Second}, fake.TwilioOptions{Lost: lost}, func(t *testing.T, h *home) {
		c, _, leg := h.talk()
		begun := time.Now()
		c.Drop()
		for err := error(nil); err == nil; {
			_, err = leg.Read(t.Context())
		}
		if took := time.Since(begun); took < 20*time.Second || took > 21*time.Second {
			t.Errorf("the conversation ended after %v", took)
		}
		if err := leg.Close(); err != nil {
			t.Error(err)
		}
	})
}

func ring(p fake.Party) func(string) fake.Party {
	return func(string) fake.Party { return p }
}

// TestTransfer connects callers with somebody who answers, also where the webhook is lost that says
// so: the leg can be closed, and the call ends when the two have talked.
func TestTransfer(t *testing.T) {
	for _, lost := range []string{"", "status"} {
		t.Run("lost "+lost, func(t *testing.T) {
			fo := fake.TwilioOptions{Parties: ring(fake.Party{After: 4 * time.Second, Talk: 20 * time.Second}), Lost: func(path string) bool { return path == lost }}
			atHome(t, Options{}, fo, func(t *testing.T, h *home) {
				c, _, leg := h.talk()
				begun := time.Now()
				if err := leg.Transfer(t.Context(), port.Transfer{To: friend, Ring: 20 * time.Second}); err != nil {
					t.Fatal(err)
				}
				took, want := time.Since(begun), 4*time.Second
				if lost != "" {
					want += 20 * time.Second // the end of the talk says it
				}
				if took < want || took > want+time.Second {
					t.Errorf("the transfer took %v, expected %v", took, want)
				}
				if err := leg.Close(); err != nil {
					t.Error(err)
				}
				over(t, c.Over())
				wantVerbs(t, c, "Connect", "Redirect", "Dial "+friend, "Hangup")
				if h.f.Commands() > 0 {
					t.Errorf("%d commands were sent", h.f.Commands())
				}
				h.none()
			})
		})
	}
}

// TestTransferFails checks that a caller who is not connected is back within two seconds of the
// failure, that the reason is told, and that the call goes on, to another transfer too.
func TestTransferFails(t *testing.T) {
	for how, want := range map[string]error{"busy": port.ErrLineBusy, "no_answer": port.ErrNoAnswer, "unreachable": port.ErrUnreachable} {
		t.Run(how, func(t *testing.T) {
			atHome(t, Options{}, fake.TwilioOptions{Parties: ring(fake.Party{After: 3 * time.Second, How: how})}, func(t *testing.T, h *home) {
				c, _, leg := h.talk()
				known := 3 * time.Second
				if how == "no_answer" {
					known = 10 * time.Second
				}
				for range 2 {
					begun := time.Now()
					err := leg.Transfer(t.Context(), port.Transfer{To: friend, Ring: 10 * time.Second})
					if !errors.Is(err, want) || strings.Contains(err.Error(), "555") {
						t.Errorf("the error is %v, expected %v", err, want)
					}
					if took := time.Since(begun); took > known+2*time.Second {
						t.Errorf("the caller was back after %v, %v after the failure", took, took-known)
					}
					s, err := c.Stream(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					hear(t, leg, s)
					wantHeard(t, leg, s)
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

// TestTransferGivenUp ends a transfer before anybody has answered.
func TestTransferGivenUp(t *testing.T) {
	atHome(t, Options{}, fake.TwilioOptions{Parties: ring(fake.Party{After: time.Minute})}, func(t *testing.T, h *home) {
		c, _, leg := h.talk()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		begun := time.Now()
		if err := leg.Transfer(ctx, port.Transfer{To: friend, Ring: 30 * time.Second}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the error is %v", err)
		}
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("the caller was back after %v", took)
		}
		s, err := c.Stream(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		hear(t, leg, s)
		// The caller may hang up while it rings.
		done := make(chan error)
		go func() { done <- leg.Transfer(t.Context(), port.Transfer{To: friend, Ring: 10 * time.Second}) }()
		settle(2 * time.Second)
		c.HangUp()
		begun = time.Now()
		if err := <-done; !errors.Is(err, io.EOF) {
			t.Errorf("after the caller has hung up: %v", err)
		}
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("that was known after %v", took)
		}
		if err := leg.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestDial places calls: who answers talks with the agent, and what Twilio says of machines is told.
func TestDial(t *testing.T) {
	for detected, want := range map[string]port.Answer{
		"human": port.AnswerHuman, "machine_start": port.AnswerMachine, "machine_end_beep": port.AnswerBeep, "fax": port.AnswerFax, "unknown": port.AnswerUnsure,
	} {
		t.Run(detected, func(t *testing.T) {
			p := fake.Party{After: 3 * time.Second, Detected: detected, DetectedAfter: 2 * time.Second}
			atHome(t, Options{Account: fake.TwilioAccount}, fake.TwilioOptions{Parties: ring(p)}, func(t *testing.T, h *home) {
				var states []string
				leg, err := h.s.Dial(t.Context(), port.Dial{To: friend, From: called, Ring: 20 * time.Second, Detect: true, Progress: func(s string) { states = append(states, s) }})
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(states, []string{"ringing", "answered"}) {
					t.Errorf("the states are %q", states)
				}
				c := h.f.Calls()[0]
				s, err := c.Stream(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if a, err := leg.ReadAnswer(t.Context()); err != nil || a != want {
					t.Errorf("the answer is %q, error %v, expected %q", a, err, want)
				}
				hear(t, leg, s)
				wantHeard(t, leg, s)
				c.Drop() // a call that was placed survives that, too
				if s, err = c.Stream(t.Context()); err != nil {
					t.Fatal(err)
				}
				hear(t, leg, s)
				if err := leg.Close(); err != nil {
					t.Error(err)
				}
				over(t, c.Over())
				settle(time.Second)
				if len(h.legs) > 0 {
					t.Error("the call has begun as one that came in")
				}
				h.none()
			})
		})
	}
}

// TestDialFails checks that the reason is told why nobody answers, and that nothing rings on.
func TestDialFails(t *testing.T) {
	for name, tc := range map[string]struct {
		party   fake.Party
		to      string
		account string
		most    time.Duration
		want    error
		text    string
	}{
		"busy":         {party: fake.Party{How: "busy"}, want: port.ErrLineBusy},
		"no answer":    {party: fake.Party{After: time.Hour}, want: port.ErrNoAnswer},
		"unreachable":  {party: fake.Party{How: "unreachable"}, want: port.ErrUnreachable},
		"given up":     {party: fake.Party{After: time.Hour}, most: 3 * time.Second, want: context.DeadlineExceeded},
		"no number":    {to: "5551234", text: "400 Bad Request, error 21211"},
		"not ours":     {account: "AC2", text: "401 Unauthorized, error 20003"},
		"no account":   {account: "-", text: "the name of the account is empty"},
		"not answered": {party: fake.Party{How: "reject", After: time.Second}, want: port.ErrLineBusy}, // Twilio tells them alike
	} {
		t.Run(name, func(t *testing.T) {
			account := map[string]string{"": fake.TwilioAccount, "-": "", "AC2": "AC2"}[tc.account]
			atHome(t, Options{Account: account}, fake.TwilioOptions{Parties: ring(tc.party)}, func(t *testing.T, h *home) {
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
				for _, c := range h.f.Calls() {
					over(t, c.Over())
				}
				settle(time.Second)
				h.none()
			})
		})
	}
}
