package text

import (
	"github.com/hocketvoice/hocket/session"
	"github.com/hocketvoice/hocket/turn"
)

// Session makes the parts of a session those of a conversation by text: a line is a
// turn, what the agent says counts as read at once, and nobody is asked whether they are
// still there, for who types takes their time.
func Session(o session.Options) session.Options {
	o.Text = true
	o.Recognizer, o.Synthesizer, o.Detector = nil, nil, nil
	o.Turn, o.Onset, o.Stability = turn.Options{}, turn.OnsetOptions{}, turn.StabilityOptions{}
	o.Conv.Endpoint, o.Conv.SpeakNotices = turn.PolicyManual, false // the page shows what is not said
	o.Conv.DeadAir = turn.DeadAirOptions{Off: true}
	return o
}
