package conv

import "time"

// UserTurn is the user's open turn, or what is kept of words before one opens.
type UserTurn struct {
	Turn       int       `json:"turn"` // zero: none is open
	Text       string    `json:"text"` // final words
	Partial    string    `json:"partial"`
	Confidence float64   `json:"confidence"`
	Ended      bool      `json:"ended"` // its end has been decided
	Started    time.Time `json:"started"`
	Began      time.Time `json:"began,omitzero"` // when the voice of its first words did
}

// Words are all words of the turn so far.
func (u UserTurn) Words() string { return joinWords(u.Text, u.Partial) }

// note adds words of the recognizer, whose voice began at an instant.
func (u *UserTurn) note(text string, confidence float64, final bool, began time.Time) {
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
