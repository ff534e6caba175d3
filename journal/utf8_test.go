package journal_test

import (
	"bytes"
	"testing"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/journal"
)

// TestTextThatIsNoUTF8 checks that a trace can be replayed if a service divides its
// text within a character.
func TestTextThatIsNoUTF8(t *testing.T) {
	trace := record(t, conv.Options{Endpoint: "recognizer"}, []conv.Event{
		conv.UserStart{},
		conv.SessionReady{},
		conv.AudioReady{},
		conv.STTFinal{Text: "a caf\xc3"},
		conv.ReplyRequested{},
		conv.ReplyDelta{Text: "Un caf\xc3"},
		conv.ReplyDelta{Text: "\xa9. "},
		conv.PlayoutStarted{},
		conv.PlayoutFinished{},
	})
	if _, err := journal.Replay(bytes.NewReader(trace), nil); err != nil {
		t.Fatal(err)
	}
}
