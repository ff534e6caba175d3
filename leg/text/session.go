package text

import (
	"github.com/hocketvoice/hocket/session"
	"github.com/hocketvoice/hocket/turn"
)

// Session changes the options of a session to those of a conversation by text: a
// line is a turn, the agent's text counts as read at once, and a silent person is
// not prompted, since typing takes time.
func Session(o session.Options) session.Options {
	o.Text = true
	o.Recognizer, o.Synthesizer, o.Detector = nil, nil, nil
	o.Turn, o.Onset, o.Stability = turn.Options{}, turn.OnsetOptions{}, turn.StabilityOptions{}
	o.Conv.Endpoint, o.Conv.SpeakNotices = turn.PolicyManual, false // the page shows notices
	o.Conv.DeadAir = turn.DeadAirOptions{Off: true}
	return o
}
