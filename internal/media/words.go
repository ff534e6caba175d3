package media

import (
	"math"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/port"
	"github.com/hocketvoice/hocket/turn"
)

// This file handles the recognizer's results and runs the turn controller.

// forget drops the words of the turn that is over. Results for utterances from the
// given one on belong to the next turn.
func (u *Uplink) forget(from int) {
	u.ours = from
	u.said, u.text, u.settled, u.confidence, u.answer = "", "", false, math.NaN(), turn.Undecided
	u.stability.Reset()
	u.pauses.begun = false
}

// collect handles the recognizer's results.
func (u *Uplink) collect() {
	for len(u.asked) > 0 && (u.pos-u.asked[0].at).Duration(recognizerRate) > finalPatience {
		u.overdue = u.asked[0].utterance
		u.asked = u.asked[:copy(u.asked, u.asked[1:])]
	}
	u.mu.Lock()
	u.taken, u.results = u.results, u.taken[:0]
	u.mu.Unlock()
	for i := range u.taken {
		u.hear(&u.taken[i])
	}
}

// utteranceOf returns the utterance that a result belongs to, and whether the result
// was requested. Results come in the order of the utterances: while a final transcript
// is awaited, all results belong to its utterance. A final transcript that was not
// requested, during speech, is an overdue one.
func (u *Uplink) utteranceOf(t *port.Transcript) (number int, asked bool) {
	switch {
	case len(u.asked) > 0:
		number = u.asked[0].utterance
		if t.Final {
			u.asked = u.asked[:copy(u.asked, u.asked[1:])]
			u.overdue = 0
		}
		return number, true
	case t.Final && !t.Endpoint && u.overdue != 0 && u.open:
		number = u.overdue
		u.overdue = 0
		return number, true
	default:
		return u.utterance, false
	}
}

// hear handles one result.
func (u *Uplink) hear(t *port.Transcript) {
	number, asked := u.utteranceOf(t)
	if number < u.ours && !asked {
		return // discarded words
	}
	text := joinWords(u.said, t.Text)
	changed := text != u.text
	if number >= u.ours {
		u.text, u.confidence, u.settled = text, t.Confidence, t.Final
		if t.Final {
			u.said = text
			u.stability.Final(text)
		}
	}
	switch {
	case t.Final:
		u.o.Post(conv.STTFinal{
			Utterance: number, Text: t.Text, Confidence: share(t.Confidence), Stability: 1, Endpoint: t.Endpoint, Lag: u.since(t),
		})
	case t.Text != "" && changed:
		u.o.Post(conv.STTPartial{Utterance: number, Text: t.Text, Confidence: share(t.Confidence)})
	}
}

// since returns the time since the end of the last word of a result, or 0 if the recognizer does
// not tell it.
func (u *Uplink) since(t *port.Transcript) time.Duration {
	if t.Text == "" || t.End <= 0 {
		return 0
	}
	return max(u.pos.Duration(recognizerRate)-t.End, 0)
}

func joinWords(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + " " + b
}

// share limits a confidence to the range from 0 to 1. NaN becomes 0.
func share(v float64) float64 {
	if !(v > 0) {
		return 0
	}
	return min(v, 1)
}

// decide runs the turn controller. While the agent can be heard, there is no end of
// turn: what is said is an interruption or ignored.
func (u *Uplink) decide(a turn.Acoustic) {
	l := turn.Linguistic{Text: u.text, Confidence: u.confidence, Stability: 1, Answer: u.answer}
	if !u.settled {
		l.Stability = u.stability.Update(u.text, u.confidence, a.At)
	}
	if u.audible {
		return
	}
	if u.spoken { // over the agent; perhaps there is only silence now
		u.spoken = false
		a.VAD, a.Silence = 1, 0
	}
	score := u.score(a)
	d := u.endpointer.Update(a, l)
	if u.o.Features != nil {
		u.o.Features(Features{Acoustic: a, Linguistic: l, Decision: d, Score: score})
	}
	if d.State == turn.Speak && d.Reason.Transition() && !u.ended {
		u.ended = true
		u.o.Post(conv.TurnEnded{Utterance: u.utterance, Cause: u.cause()})
	}
}

// cause returns the cause of an end of turn for the policy.
func (u *Uplink) cause() conv.EndCause {
	switch u.o.Turn.Policy {
	case turn.PolicySilence:
		return conv.EndSilence
	case turn.PolicySemantic:
		return conv.EndSemantic
	case turn.PolicyManual:
		return conv.EndManual
	case turn.PolicyEasyTurn:
		return conv.EndEasyTurn
	default:
		return conv.EndAuto
	}
}
