package journal

import (
	"time"

	"github.com/hocketvoice/hocket/conv"
)

// What [Quiet.By] may be.
const (
	ByWord   = "word"           // the end of the last word, as the recognizer tells it
	BySpeech = "speech"         // the last frame of speech, as the detector tells it
	ByStop   = "speech.stopped" // that event; nothing tells how late it came
	ByLine   = "line"           // a typed line
)

// Quiet follows when the user fell silent, the time from which an answer's latency counts. The
// zero value is ready for use.
type Quiet struct {
	At time.Time // zero if the user has not spoken
	By string    // what At is
}

// Step takes an event that was stepped at the time now.
func (q *Quiet) Step(now time.Time, ev conv.Event) {
	switch e := ev.(type) {
	case conv.SpeechStarted:
		*q = Quiet{}
	case conv.UserText:
		*q = Quiet{now, ByLine}
	case conv.SpeechStopped:
		switch {
		case q.By == ByWord: // the words of this voice were final before
		case e.Lag > 0:
			*q = Quiet{now.Add(-e.Lag), BySpeech}
		default:
			*q = Quiet{now, ByStop}
		}
	case conv.STTFinal:
		if e.Text != "" && e.Lag > 0 {
			*q = Quiet{now.Add(-e.Lag), ByWord}
		}
	default:
	}
}
