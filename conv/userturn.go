package conv

import (
	"time"

	"github.com/hocketvoice/hocket/turn"
)

// userTurn is the user's open turn, or words that have come before a turn is open.
type userTurn struct {
	Turn       int       `json:"turn"`       // number of the turn; zero: no turn is open
	Text       string    `json:"text"`       // the words of final transcripts
	Partial    string    `json:"partial"`    // the words since then, which may still change
	Confidence float64   `json:"confidence"` // the lowest confidence of a final transcript, from 0 to 1
	Ended      bool      `json:"ended"`      // the turn has ended, but its words are not handled yet
	Started    time.Time `json:"started"`
	Began      time.Time `json:"began,omitzero"` // when the voice began that said the first words
}

// Words returns all words of the turn so far.
func (u userTurn) Words() string { return joinWords(u.Text, u.Partial) }

// note adds words of the recognizer. final says that they are a final transcript, which
// replaces the partial words. began is when the voice that said them began.
func (u *userTurn) note(text string, confidence float64, final bool, began time.Time) {
	if text != "" && u.Words() == "" {
		u.Began = began
	}
	if !final {
		if text != "" {
			u.Partial = text
		}
		return
	}
	u.Partial = ""
	if text == "" {
		return
	}
	if u.Text == "" || confidence < u.Confidence {
		u.Confidence = confidence
	}
	u.Text = joinWords(u.Text, text)
}

// takeOver adds the words that were said over the agent's audio.
func (u *userTurn) takeOver(over userTurn) {
	if over.Text != "" {
		u.note(over.Text, over.Confidence, true, over.Began)
	}
	if over.Partial != "" {
		u.note(over.Partial, over.Confidence, false, over.Began)
	}
}

// waits reports whether the user speaks, or has said words that are not handled yet.
func (u *userTurn) waits(f *floor, o *Options) bool {
	if o.Endpoint == turn.PolicyManual && !f.Pushed {
		return u.Ended && u.Words() != ""
	}
	return f.Speaking || u.Words() != ""
}
