package media

import (
	"math"
	"time"

	"github.com/hocketvoice/hocket/audio"
	"github.com/hocketvoice/hocket/turn"
)

// This file asks a model in the pauses of a turn whether the speaker has finished.

const (
	// longestAsked is the length of the sound that the model gets at most.
	longestAsked = 8 * time.Second
	// beforeSpeech is how much of the sound before the turn the model gets.
	beforeSpeech = 500 * time.Millisecond
	// askAfter is the silence after which the model is asked. The detector notices silence
	// about 130 ms late, so the model hears some 230 ms of it.
	askAfter = 100 * time.Millisecond
)

// pauses are the pauses of a turn.
type pauses struct {
	sound *audio.Ring // the last sound; nil if there is no model
	begun bool        // the user has spoken in this turn
	from  audio.Pos   // where the sound of the turn begins

	number int  // of the last pause
	asked  bool // the model was asked in this pause
	at     audio.Pos
	score  float64 // what it has said, until it is passed on; NaN if nothing
}

// spoke notes where speech began.
func (p *pauses) spoke(at time.Duration) {
	if p.sound != nil && !p.begun {
		p.begun = true
		p.from = max(audio.PosOf(at-beforeSpeech, recognizerRate), 0)
	}
}

// take takes what the model says about a pause.
func (p *pauses) take(pause int, score float64) {
	if pause == p.number && p.asked {
		p.score = score
	}
}

// over notes that the user speaks.
func (p *pauses) over() {
	if p.asked {
		p.asked, p.score = false, math.NaN()
	}
}

// score asks the model at the beginning of a pause, and passes its answer to the policy. It
// returns what was passed in this frame, or NaN.
func (u *Uplink) score(a turn.Acoustic) float64 {
	p := &u.pauses
	if p.sound == nil {
		return math.NaN()
	}
	policy, ok := u.endpointer.(turn.Scored)
	switch {
	case a.Silence < askAfter:
		p.over()
	case !ok || !p.begun || u.ended:
	case !p.asked && policy.Asks():
		p.asked, p.score, p.at = true, math.NaN(), u.pos
		p.number++
		from := max(p.from, p.sound.Pos())
		pcm := make([]int16, p.sound.End()-from)
		p.sound.CopyAt(pcm, from)
		u.o.Ask(p.number, pcm)
	case p.asked && !math.IsNaN(p.score) && (u.pos-p.at).Duration(recognizerRate) >= u.o.Thinking:
		score := p.score
		p.score = math.NaN()
		policy.SetScore(score)
		return score
	}
	return math.NaN()
}
