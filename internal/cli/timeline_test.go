package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/journal"
	"github.com/hocketvoice/hocket/port/errclass"
)

// TestTimelineShowsFailures checks that the timeline contains a provider's failure
// without the provider's message.
func TestTimelineShowsFailures(t *testing.T) {
	started := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	h, err := journal.NewHeader(started, conv.Options{Endpoint: "manual"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := h.Conversation()
	if err != nil {
		t.Fatal(err)
	}
	var trace bytes.Buffer
	w, err := journal.NewWriter(&trace, h)
	if err != nil {
		t.Fatal(err)
	}
	now := started
	for _, ev := range []conv.Event{
		conv.UserStart{},
		conv.SessionReady{ID: "s"},
		conv.AudioReady{},
		conv.UserText{Text: "hello"},
		conv.ReplyFailed{Code: errclass.RateLimit, Message: "the key sk-1 is limited", Retryable: true},
	} {
		c.Step(now, ev)
		if err := w.Step(now, c, ev); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Second)
	}
	var lines timelines
	if _, err := journal.Replay(&trace, lines.note); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(lines.String()), " ")
	if want := "4.000 failed model: RATE_LIMIT attempt 1, after 1.000 s another attempt follows"; !strings.Contains(got, want) {
		t.Errorf("the timeline has no %q:\n%s", want, got)
	}
	if strings.Contains(got, "sk-1") {
		t.Errorf("the timeline has the provider's message:\n%s", got)
	}
}
