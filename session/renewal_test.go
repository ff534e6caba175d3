package session

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// expiring is a service whose sessions live so many frames, and of which there are two
// at once at most.
type expiring struct {
	*porttest.Recognizer
	life  int
	frame int // now
}

var errExpired = errors.New("the session has expired")

func (e *expiring) Open(ctx context.Context, cfg port.RecognizerConfig, sink func(port.Transcript)) (port.RecognizerStream, error) {
	if e.OpenStreams() > 1 {
		return nil, errors.New("too many sessions")
	}
	s, err := e.Recognizer.Open(ctx, cfg, sink)
	if err != nil {
		return nil, err
	}
	return &expiringStream{s, e, e.frame + e.life}, nil
}

type expiringStream struct {
	port.RecognizerStream
	of    *expiring
	until int
}

func (s *expiringStream) Write(f audio.Frame) error {
	if s.of.frame > s.until {
		return errExpired
	}
	return s.RecognizerStream.Write(f)
}

// limited is a plan with a service whose sessions live for 8 seconds.
func limited(p plan, service *expiring) plan {
	p.conv.Limits.Session, p.conv.Limits.SessionWarning = 8*time.Second, 2*time.Second
	p.conv.DeadAir.Off = true
	p.parts = func(o *Options) {
		service.Recognizer, service.life = o.Recognizer.(*porttest.Recognizer), 8*50
		o.Recognizer = service
	}
	p.each = func(c *call, frame int) {
		if service.frame = frame; frame > 90*50 {
			c.t.Fatalf("the call does not come to its end: %q", c.log)
		}
	}
	return p
}

// TestRenewal: a call that lasts longer than a session of the service's goes on
// without a gap: a new session is there before the old one ends, no word is lost, and
// nothing is asked for twice.
func TestRenewal(t *testing.T) {
	texts := []string{"one", "two words", "three", "and four words more", "five", "six", "seven is the last"}
	var lines []line
	for range texts {
		lines = append(lines, line{answers, 1500 * ms})
	}
	service := &expiring{}
	c := hold(t, limited(plan{texts: texts, lines: lines, replies: []string{"I see. Tell me more about it."}}, service))
	if c.err != nil {
		t.Fatal(c.err)
	}
	c.wantSaid(conv.RoleUser, texts...)
	if !slices.Equal(c.asked, texts) {
		t.Errorf("the mind was asked %q, want each text once", c.asked)
	}
	if n := service.Calls("open"); n < 3 || service.OpenStreams() != 0 {
		t.Errorf("%d sessions were opened, %d are open", n, service.OpenStreams())
	}
	for _, phase := range []string{"suspended", "reconnecting", "faulted"} {
		if slices.ContainsFunc(c.log, func(entered string) bool { return strings.HasPrefix(entered, phase) }) {
			t.Errorf("it was %s: %q", phase, c.log)
		}
	}
	if !slices.Contains(c.events, "session.renewed") {
		t.Errorf("no session was renewed: %q", c.events)
	}
}

// TestRenewalThatFails: if no new session can be opened the old one expires, and the
// conversation gets another one as soon as there is.
func TestRenewalThatFails(t *testing.T) {
	service := &expiring{}
	p := limited(plan{
		texts: []string{"before", "and behind it"},
		lines: []line{{answers, 800 * ms}, {func(m porttest.Moment) bool {
			return m.State == "listening.ready" && service.Calls("open") >= 5 && m.Quiet >= 30
		}, 800 * ms}},
	}, service)
	p.rec = func(r *porttest.Recognizer) {
		r.Fail = func(call string, n int) error {
			if call == "open" && n > 1 && n < 4 {
				return errors.New("no session is free")
			}
			return nil
		}
	}
	c := hold(t, p)
	if c.err != nil {
		t.Fatal(c.err)
	}
	c.wantPhases("reconnecting", "listening.ready", "listening.capturing")
	c.wantSaid(conv.RoleUser, "before", "and behind it")
	if service.OpenStreams() != 0 {
		t.Errorf("%d sessions are open", service.OpenStreams())
	}
}
