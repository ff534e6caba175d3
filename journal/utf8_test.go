package journal_test

import (
	"bytes"
	"testing"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/journal"
)

// TestTextThatIsNoUTF8: services cut their pieces where they like, in the middle of a
// letter too. The trace of such a call is replayed like any other.
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
