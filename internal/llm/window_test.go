package llm

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hocketvoice/hocket/port"
)

// TestCut checks on any history that the newest messages are kept, in order and without a gap but for
// words of the system, which stay, and that what is kept fits unless it has to be kept.
func TestCut(t *testing.T) {
	message := rapid.Custom(func(t *rapid.T) port.Message {
		return port.Message{
			Role:    rapid.SampledFrom([]string{"user", "agent", "tool", "system"}).Draw(t, "role"),
			Content: strings.Repeat("x", rapid.IntRange(0, 90).Draw(t, "length")),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(message, 0, 20).Draw(t, "messages")
		for i := range list {
			list[i].CallID = string(rune('a' + i))
		}
		window := rapid.IntRange(11, 600).Draw(t, "window")
		before := port.Request{Instructions: "Be brief.", Messages: list}
		after := Cut(before, window, 10)
		total, from := 0, len(list)
		for i := range after.Messages {
			total += size(&after.Messages[i])
		}
		for _, m := range after.Messages {
			if m.Role != "system" {
				from = int(m.CallID[0] - 'a')
				break
			}
		}
		last := 0 // of the user's words
		for i, m := range list {
			if m.Role == "user" {
				last = i
			}
		}
		at := 0
		for i, m := range list {
			if i < from && m.Role != "system" {
				continue
			}
			if at == len(after.Messages) || after.Messages[at].CallID != m.CallID {
				t.Fatalf("message %d of %d is missing, window %d", i, len(list), window)
			}
			at++
		}
		if from > last && last < len(list) && len(list) > 0 && list[last].Role == "user" {
			t.Fatalf("the user's last words are cut")
		}
		if from < last && total+tokens(before.Instructions)+10 > window {
			t.Fatalf("%d tokens of messages from %d to %d in a window of %d", total, from, len(list), window)
		}
	})
	r := port.Request{Messages: []port.Message{{Role: "user", Content: "x"}}}
	if got := Cut(r, 0, 0); len(got.Messages) != 1 {
		t.Error("a window of 0 cuts")
	}
}
