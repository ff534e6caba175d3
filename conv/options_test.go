package conv_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/convtest"
	"github.com/hocketvoice/hocket/port/errclass"
	"github.com/hocketvoice/hocket/turn"
)

// TestOptionsAreChecked: each value that makes no sense is refused with its name; all
// of them at once.
func TestOptionsAreChecked(t *testing.T) {
	for _, c := range []struct{ path, value, want string }{
		{"endpoint", "telepathy", `Endpoint is "telepathy": expected one of auto, easyturn, `},
		{"privacy", "some", `Privacy is "some": expected one of keep, session, none`},
		{"language", "tlh", `Language is "tlh": expected one of de, en`},
		{"limits.waiting", "-1s", "Limits.Waiting is -1s: expected more than 0"},
		{"limits.interrupted", "-1ms", "Limits.Interrupted is -1ms"},
		{"limits.session_warning", "20m", "Limits.SessionWarning is 20m0s: expected less than Limits.Session, 15m0s"},
		{"limits.calls", "-1", "Limits.Calls is -1: expected 1 or more"},
		{"limits.queue", "-1", "Limits.Queue is -1"},
		{"history_limit", "-1", "HistoryLimit is -1: expected 1 or more"},
		{"retry.max", "-2", "Retry.Max is -2: expected 0 or more, or -1 for none"},
		{"retry.recover", "-2", "Retry.Recover is -2"},
		{"barge_in", "politeness", `BargeIn.Reply.Policy is "politeness": expected one of hybrid, energy, words, none`},
		{"barge_in.thinking.min_words", "-3", "BargeIn.Thinking.MinWords is -3: expected 1 or more"},
	} {
		var o conv.Options
		if err := convtest.SetOption(&o, c.path, c.value); err != nil {
			t.Fatal(err)
		}
		_, err := conv.New(o)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s=%s: %v, expected %q", c.path, c.value, err, c.want)
		}
	}
	_, err := conv.New(conv.Options{Endpoint: "x", Privacy: "y", Limits: conv.Limits{Feedback: []conv.Feedback{
		{After: 5 * time.Second, Code: "working.0"}, {After: 5 * time.Second, Code: "working.1"},
	}}})
	for _, want := range []string{"Endpoint is", "Privacy is", "Limits.Feedback[1].After is 5s: expected more than that of the step before, 5s"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: expected all problems at once, with %q", err, want)
		}
	}
}

// TestOptionsAreFilled: zero fields take the defaults, the others stay.
func TestOptionsAreFilled(t *testing.T) {
	c, err := conv.New(conv.Options{Language: "de", Limits: conv.Limits{Tool: time.Minute}, Retry: conv.Retry{Max: -1}})
	if err != nil {
		t.Fatal(err)
	}
	o, d := c.Options(), conv.DefaultOptions()
	if o.Language != "de" || o.Limits.Tool != time.Minute || o.Retry.Max != -1 {
		t.Errorf("what was set is lost: %+v", o)
	}
	if o.Endpoint != "auto" || o.Limits.Task != d.Limits.Task || o.HistoryLimit != 200 || o.Privacy != conv.PrivacyKeep ||
		o.BargeIn.Reply.Policy != turn.BargeInHybrid || o.BargeIn.ReadBack.OnSpeech != turn.OnSpeechNone {
		t.Errorf("what was not set is not the default: %+v", o)
	}
	if err := d.Validate(); err != nil {
		t.Errorf("the defaults are refused: %v", err)
	}
}

// TestErrorClassesByCode: codes in any case, with dashes; what is unknown is UNKNOWN.
func TestErrorClassesByCode(t *testing.T) {
	for code, want := range map[string]string{
		"RATE_LIMIT": errclass.RateLimit, "rate-limit": errclass.RateLimit, "Network_Timeout": errclass.NetworkTimeout,
		"": errclass.Unknown, "teapot": errclass.Unknown, "UNKNOWN": errclass.Unknown,
	} {
		if got := errclass.Of(code); got.Name != want {
			t.Errorf("%q is %s, expected %s", code, got.Name, want)
		}
	}
}

// TestHistoryIsBounded: the oldest items go first, whatever happens.
func TestHistoryIsBounded(t *testing.T) {
	r, err := convtest.NewRun(conv.Options{Endpoint: "recognizer", HistoryLimit: 5}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range convtest.Beginning() {
		do(t, r, text)
	}
	for range 10 {
		do(t, r, `+1s user.text text="one two"`)
		do(t, r, "reply.requested")
		do(t, r, `reply.delta text="Three. "`)
		do(t, r, "reply.done")
		do(t, r, "playout.started")
		do(t, r, "+1s playout.finished")
		if n := len(r.Conv.History()); n > 5 {
			t.Fatalf("%d items, expected at most 5", n)
		}
	}
	h := r.Conv.History()
	if len(h) != 5 || h[4].Text != "Three." || h[4].Turn != 20 {
		t.Errorf("the history ends with %+v, expected the last answer", h[len(h)-1])
	}
}

func do(t *testing.T, r *convtest.Run, text string) {
	t.Helper()
	l, err := convtest.ParseLine(text)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Do(l); err != nil {
		t.Fatal(err)
	}
}

// TestQueuesAreBounded: DESIGN rule 9: typed lines, facts of a suspension, calls.
func TestQueuesAreBounded(t *testing.T) {
	r, err := convtest.Reach(conv.ToolRunning, conv.Options{Endpoint: "recognizer", Limits: conv.Limits{Queue: 3, Calls: 3}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		do(t, r, "user.text text=hello")
	}
	rejected := 0
	for _, s := range r.Steps {
		for _, e := range s.Effects {
			if e == (conv.Reject{Code: "too_many_texts"}) {
				rejected++
			}
		}
	}
	if n := len(r.Conv.State().Pending.Texts); n != 3 || rejected != 7 {
		t.Errorf("%d typed lines wait and %d were refused, expected 3 and 7", n, rejected)
	}
	for i := range 10 {
		do(t, r, "tool.called name=x id=x"+string(rune('a'+i)))
	}
	if n := len(r.Conv.State().Calls); n != 3 {
		t.Errorf("%d calls are open, expected 3", n)
	}
	do(t, r, "session.renewal")
	for range 10 {
		do(t, r, "user.cancel")
	}
	if n := len(r.Conv.State().Suspended.Facts); n != 3 {
		t.Errorf("%d facts are kept, expected 3", n)
	}
}

// TestTimeDoesNotGoBack: an earlier instant is taken as the last one.
func TestTimeDoesNotGoBack(t *testing.T) {
	c, err := conv.New(conv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	c.Step(now, conv.UserStart{})
	c.Step(now.Add(-time.Hour), conv.SessionReady{})
	c.Step(now.Add(-2*time.Hour), conv.DeadlinePassed{})
	if got := c.State().Now; !got.Equal(now) || c.Phase() != conv.Preparing {
		t.Errorf("it is %v in %v, expected %v in preparing", got, c.Phase(), now)
	}
}

type alien struct{ conv.Event }

func (alien) EventType() string { return "alien" }

// TestUnknownEventPanics: the sets of events and effects are closed.
func TestUnknownEventPanics(t *testing.T) {
	c, err := conv.New(conv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if r := recover(); r == nil || !strings.Contains(r.(string), "unexpected event conv_test.alien") {
			t.Errorf("panic %v, expected one that names the type", r)
		}
	}()
	c.Step(time.Now(), alien{conv.SessionEnded{}})
}
