package conv_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/convtest"
)

// TestSnapshotInEveryPhase: what is restored is what was there, in every phase.
// (That nothing can tell the difference is checked after every step of every
// scenario and every random sequence.)
func TestSnapshotInEveryPhase(t *testing.T) {
	for _, p := range conv.Phases() {
		r, err := convtest.Reach(p, conv.Options{Endpoint: "recognizer"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.Conv.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		c, err := conv.Restore(r.Conv.Options(), b)
		if err != nil {
			t.Fatal(err)
		}
		again, err := c.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b, again) || c.Phase() != p || !c.NextDeadline().Equal(r.Conv.NextDeadline()) {
			t.Errorf("%v: snapshot of what was restored:\n%s\n%s", p, b, again)
		}
	}
}

// TestRecentIsNotPersisted: CON-003 keeps the last transitions out of snapshots.
func TestRecentIsNotPersisted(t *testing.T) {
	r, err := convtest.Reach(conv.Speaking, conv.Options{Endpoint: "recognizer"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Conv.Recent()) == 0 {
		t.Fatal("no transitions are kept in memory")
	}
	b, err := r.Conv.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	c, err := conv.Restore(r.Conv.Options(), b)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(c.Recent()); n != 0 {
		t.Errorf("%d transitions outlived the snapshot", n)
	}
}

// TestRestoreRefuses: an invalid snapshot, or one of another version, is one clear
// error.
func TestRestoreRefuses(t *testing.T) {
	c, err := conv.New(conv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	good, err := c.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	replace := func(old, with string) []byte {
		if !bytes.Contains(good, []byte(old)) {
			t.Fatalf("the snapshot has no %s: %s", old, good)
		}
		return bytes.Replace(good, []byte(old), []byte(with), 1)
	}
	for name, c := range map[string]struct {
		snapshot []byte
		want     string
	}{
		"empty":             {nil, "not valid JSON"},
		"garbage":           {[]byte("hello"), "not valid JSON"},
		"truncated":         {good[:len(good)/2], "not valid JSON"},
		"another version":   {replace(`"version":1`, `"version":7`), "version 7: expected 1"},
		"unknown phase":     {replace(`"phase":"idle"`, `"phase":"dreaming"`), "dreaming"},
		"unknown timer":     {replace(`"timers":{}`, `"timers":{"lunch":"2026-01-01T00:00:00Z"}`), "lunch"},
		"broken fact":       {replace(`"version":1`, `"version":1,"deferred":[{"type":"nonsense"}]`), "nonsense"},
		"JSON of something": {[]byte(`{"answer":42}`), "version 0: expected 1"},
	} {
		_, err := conv.Restore(conv.Options{}, c.snapshot)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, expected one line with %q", name, err, c.want)
		}
	}
	if _, err := conv.Restore(conv.Options{Endpoint: "nonsense"}, good); err == nil {
		t.Error("options that make no sense are taken")
	}
}

// TestPrivateSnapshotHoldsNoWords: SEC-002. With privacy "none" nothing that was
// said, typed, called or answered is in a snapshot, in any phase.
func TestPrivateSnapshotHoldsNoWords(t *testing.T) {
	secrets := []string{"zebra", "yacht", "xylophone"}
	for _, p := range conv.Phases() {
		r, err := convtest.Reach(p, conv.Options{Endpoint: "recognizer", Privacy: conv.PrivacyNone}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range []conv.Event{
			conv.STTPartial{Text: "my zebra"},
			conv.UserText{Text: "my yacht"},
			conv.ReplyDelta{Text: "Your xylophone. A zebra"},
			conv.ToolCalled{ID: "n", Name: "t", Arguments: `{"animal":"zebra"}`},
			conv.ToolDone{ID: "n", Output: "a yacht"},
			conv.SessionRenewal{},
			conv.STTFinal{Text: "one more zebra"},
			conv.ToolDone{ID: "a", Output: "a yacht"},
		} {
			if _, err := r.Do(convtest.Line{Event: ev}); err != nil {
				t.Fatal(err)
			}
			b, err := r.Conv.Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range secrets {
				if bytes.Contains(b, []byte(s)) {
					t.Errorf("%v, after %s: the snapshot says %q: %s", p, conv.EventType(ev), s, b)
				}
			}
			if bytes.Contains(b, []byte("book a flight")) || bytes.Contains(b, []byte("any train")) {
				t.Errorf("%v, after %s: the snapshot holds words: %s", p, conv.EventType(ev), b)
			}
		}
	}
}

// TestPrivateSnapshotGoesOn: a conversation that is restored without its words
// still keeps the promise of liveness.
func TestPrivateSnapshotGoesOn(t *testing.T) {
	for _, p := range conv.Phases() {
		r, err := convtest.Reach(p, conv.Options{Endpoint: "recognizer", Privacy: conv.PrivacyNone}, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := r.Conv.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		c, err := conv.Restore(r.Conv.Options(), b)
		if err != nil {
			t.Fatal(err)
		}
		good := listensOrEnds(c.Phase())
		end := c.State().Now.Add(6 * time.Minute)
		for next := c.NextDeadline(); !good && !next.IsZero() && next.Before(end); next = c.NextDeadline() {
			c.Step(next, conv.DeadlinePassed{})
			for _, tr := range c.Last().Transitions {
				good = good || listensOrEnds(tr.To)
			}
		}
		if !good {
			t.Errorf("%v: nothing ever happens again", p)
		}
	}
}

// TestStateChangesHoldNoWords: SEC-001. What observers and logs are given of a
// change of state, transitions and turn events, holds nothing that was said.
func TestStateChangesHoldNoWords(t *testing.T) {
	r, err := convtest.NewRun(conv.Options{Endpoint: "recognizer", Greeting: "Hello zebra."}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"user.start", "session.ready id=zebra-session", "audio.ready", "playout.started", "playout.finished",
		`+1s speech.started`, `+1s stt.final text="my zebra" confidence=0.7`, "reply.requested",
		`reply.delta text="Your zebra. "`, "playout.started", `tool.called id=zebra name=zebra arguments=zebra`,
		`tool.done id=zebra output=zebra`, "reply.requested", `reply.failed code=UNKNOWN message=zebra`, `user.text text=zebra`,
		"wait 30s", "user.stop reason=zebra", "session.ended",
	} {
		l, err := convtest.ParseLine(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Do(l); err != nil {
			t.Fatal(err)
		}
	}
	changes := 0
	for _, s := range r.Steps {
		for _, tr := range s.Transitions {
			changes++
			b, err := json.Marshal(tr)
			if err != nil || bytes.Contains(b, []byte("zebra")) {
				t.Errorf("a transition says %s (%v)", b, err)
			}
		}
		for _, turn := range s.Turns {
			changes++
			b, err := json.Marshal(turn)
			if err != nil || bytes.Contains(b, []byte("zebra")) {
				t.Errorf("a turn event says %s (%v)", b, err)
			}
		}
	}
	if changes < 20 {
		t.Errorf("only %d changes were looked at", changes)
	}
}

// TestForkGoesItsOwnWay: a fork shares nothing with what it was made from.
func TestForkGoesItsOwnWay(t *testing.T) {
	for _, p := range conv.Phases() {
		r, err := convtest.Reach(p, conv.Options{Endpoint: "recognizer"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		before, err := r.Conv.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		fork := r.Conv.Fork()
		now := fork.State().Now
		for _, ev := range []conv.Event{
			conv.ToolDone{ID: "a", Output: "1"},
			conv.TaskDone{ID: "c", Output: "1"},
			conv.UserText{Text: "hello"},
			conv.Fault{Code: "UNKNOWN"},
			conv.UserText{Text: "hello"},
			conv.SessionRenewal{},
			conv.UserText{Text: "x"},
			conv.UserStop{},
		} {
			fork.Step(now, ev)
		}
		after, err := r.Conv.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(before, after) {
			t.Errorf("%v: stepping a fork changed the original:\n%s\n%s", p, before, after)
		}
		other, err := conv.New(r.Conv.Options())
		if err != nil {
			t.Fatal(err)
		}
		other.Become(r.Conv.State())
		if got, err := other.Snapshot(); err != nil || !bytes.Equal(before, got) {
			t.Errorf("%v: what became the state is not the same (%v):\n%s\n%s", p, err, before, got)
		}
	}
}

// FuzzSnapshot: bytes that a store gives back make a conversation or an error, and what
// was made takes facts and can be kept again.
func FuzzSnapshot(f *testing.F) {
	for _, p := range conv.Phases() {
		r, err := convtest.Reach(p, conv.Options{Endpoint: "recognizer"}, nil)
		if err != nil {
			f.Fatal(err)
		}
		b, err := r.Conv.Snapshot()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"version":1}`))
	f.Add([]byte(`{"version":1,"state":{"phase":"speaking","reply":{"turn":-1}},"deferred":[{"type":"user.start"}]}`))
	now := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := conv.Restore(conv.Options{Endpoint: "recognizer"}, b)
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Fatal("an empty error")
			}
			return
		}
		for i, ev := range []conv.Event{
			conv.ConnectionRestored{},
			conv.DeadlinePassed{},
			conv.UserText{Text: "hello"},
			conv.SpeechStarted{},
			conv.SessionRenewed{ID: "s"},
			conv.ToolDone{ID: "t", Output: "1"},
			conv.TaskDone{ID: "k", Output: "1"},
			conv.DeadlinePassed{},
			conv.UserStop{},
		} {
			c.Step(now.Add(time.Duration(i)*time.Second), ev)
			c.State()
		}
		if _, err := c.Snapshot(); err != nil {
			t.Fatalf("what was restored cannot be kept: %v", err)
		}
	})
}
