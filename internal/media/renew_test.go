package media

import (
	"errors"
	"slices"
	"testing"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/porttest"
)

// TestUplinkRenew checks that a new stream replaces the old one when nothing is being
// recognized, that speech across the replacement is recognized completely, and that the
// old stream is closed.
func TestUplinkRenew(t *testing.T) {
	rec := &porttest.Recognizer{Texts: []string{"one two three", "four"}}
	retired := 0
	c := newCaller(t, UplinkOptions{Retired: func() { retired++ }}, rec)
	var calls []string
	hear := rec.Heard
	rec.Heard = func(call string, f audio.Frame) {
		if hear(call, f); call != "write" && call != "expect" {
			calls = append(calls, call)
		}
	}
	c.speaks(300 * ms)
	if err := c.u.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.speaks(300 * ms)
	if rec.OpenStreams() != 2 || retired != 0 {
		t.Fatalf("in the middle of an utterance %d streams are open, %d were replaced", rec.OpenStreams(), retired)
	}
	c.isQuiet(240 * ms)
	c.u.Finalize()
	c.isQuiet(40 * ms)
	if retired != 1 {
		t.Fatalf("behind the utterance %d were replaced", retired)
	}
	c.u.Tidy()
	if rec.OpenStreams() != 1 {
		t.Errorf("%d streams are open behind the change", rec.OpenStreams())
	}
	c.u.Listen()
	c.speaks(300 * ms)
	c.isQuiet(240 * ms)
	c.u.Finalize()
	c.isQuiet(40 * ms)
	c.want("started 1 vad", "partial 1 one", "partial 1 one two", "partial 1 one two three", "stopped 1", "final 1 one two three",
		"started 2 vad", "partial 2 four", "stopped 2", "final 2 four")
	if want := []string{"begin", "open", "finalize", "close", "begin", "finalize"}; !slices.Equal(calls, want) {
		t.Errorf("the streams were asked %q, want %q", calls, want)
	}
}

// TestUplinkRenewFails checks that the current stream remains in use.
func TestUplinkRenewFails(t *testing.T) {
	rec := &porttest.Recognizer{Texts: []string{"one"}, Fail: func(call string, n int) error {
		if call == "open" && n == 2 {
			return errors.New("no more sessions")
		}
		return nil
	}}
	c := newCaller(t, UplinkOptions{}, rec)
	if err := c.u.Renew(t.Context()); err == nil {
		t.Error("no error")
	}
	c.speaks(300 * ms)
	c.isQuiet(240 * ms)
	c.u.Finalize()
	c.isQuiet(40 * ms)
	c.want("started 1 vad", "partial 1 one", "stopped 1", "final 1 one")
	if rec.OpenStreams() != 1 || c.u.Failed() {
		t.Errorf("%d streams are open, failed %v", rec.OpenStreams(), c.u.Failed())
	}
}

// TestUplinkStreamThatFailsWhileItIsReplaced checks that the new stream takes over.
func TestUplinkStreamThatFailsWhileItIsReplaced(t *testing.T) {
	ended := false
	rec := &porttest.Recognizer{Texts: []string{"one", "two"}, Fail: func(call string, _ int) error {
		if call == "write" && ended {
			ended = false
			return errors.New("the session is over")
		}
		return nil
	}}
	c := newCaller(t, UplinkOptions{}, rec)
	c.speaks(200 * ms)
	if err := c.u.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.speaks(40 * ms)
	ended = true
	c.speaks(40 * ms)
	c.isQuiet(400 * ms)
	if c.u.Failed() || len(c.errs) != 1 {
		t.Errorf("failed %v, errors %v", c.u.Failed(), c.errs)
	}
	c.u.Tidy()
	if rec.OpenStreams() != 1 {
		t.Errorf("%d streams are open", rec.OpenStreams())
	}
}

// TestUplinkLateResultOfAnOldStream checks that results of a replaced stream are
// ignored.
func TestUplinkLateResultOfAnOldStream(t *testing.T) {
	rec := &porttest.Recognizer{}
	c := newCaller(t, UplinkOptions{}, rec)
	if err := c.u.Renew(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.isQuiet(40 * ms)
	c.log = nil
	c.u.take(1, port.Transcript{Text: "late", Final: true})
	c.isQuiet(40 * ms)
	c.want()
	c.u.take(2, port.Transcript{Text: "of the new one", Final: true, Endpoint: true})
	c.isQuiet(40 * ms)
	if len(c.log) != 1 {
		t.Errorf("%q", c.log)
	}
}
