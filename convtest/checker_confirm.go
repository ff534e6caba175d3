package convtest

import (
	"errors"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/conv"
)

// This file: what cannot be undone, and the yes to it.

// answerMargin is how long behind the sound of the last value a voice may begin to
// answer.
const answerMargin = 100 * time.Millisecond

// question is what the checker knows of one that a flow asks: which turn says its
// value, where the value ends in what was spoken, and since when it can have been
// heard; and when the last words of the user's were begun.
type question struct {
	turn, end int
	heard     time.Time
	voices    map[int]time.Time // when each stretch of speech began
	voice     time.Time         // the last of them
	began     time.Time         // the last words
}

// checkConfirmed: a flow's question is answered with yes only by words that began
// when its last value can have been heard. What can have been heard is measured
// here, by the clock and the reports, at its longest.
func (k *Checker) checkConfirmed(s step) error {
	q := &k.question
	k.listenTo(s)
	if before, after := s.before.Dialogue.Confirmation, s.after.Dialogue.Confirmation; before != nil && after == nil && q.end > 0 {
		ran := false
		for _, e := range s.out.Effects {
			_, tool := e.(conv.RunTool)
			_, task := e.(conv.StartTask)
			ran = ran || tool || task
		}
		if (ran || s.after.Dialogue.Granted) && (q.heard.IsZero() || q.began.Before(q.heard.Add(answerMargin))) {
			return errors.New("an action runs on a yes that began before its values were heard")
		}
	}
	if s.after.Dialogue.Confirmation == nil {
		q.turn, q.end, q.heard = 0, 0, time.Time{}
		return nil
	}
	for _, e := range s.out.Effects {
		e, ok := e.(conv.Speak)
		if !ok {
			continue
		}
		for _, v := range s.after.Dialogue.Slots {
			text, _ := v.(string)
			if text != "" && strings.Contains(e.Text, text) {
				end := strings.LastIndex(k.spoken[e.Turn], text) + len(text)
				q.turn, q.end, q.heard = e.Turn, end, time.Time{}
			}
		}
	}
	return nil
}

// listenTo notes what the user and the playout did in the step.
func (k *Checker) listenTo(s step) {
	q := &k.question
	if q.end > 0 && q.heard.IsZero() && max(int(k.heard[q.turn].Seconds()*12)+1, k.known[q.turn]) >= q.end {
		q.heard = s.now
	}
	if s.out.Late || s.out.Deferred {
		return
	}
	events := []conv.Event{s.event}
	if s.before.Phase == conv.Suspended && s.after.Phase != conv.Suspended {
		events = append(events, s.before.Suspended.Facts...) // taken in now
	}
	for _, ev := range events {
		switch e := ev.(type) {
		case conv.SpeechStarted:
			if q.voices == nil {
				q.voices = map[int]time.Time{}
			}
			q.voice = s.now
			q.voices[e.Utterance] = s.now
		case conv.STTPartial:
			k.words(e.Text, e.Utterance, s.now)
		case conv.STTFinal:
			k.words(e.Text, e.Utterance, s.now)
		case conv.UserText:
			q.began = s.now.Add(answerMargin) // no voice, no margin
		default:
			// Nobody says anything.
		}
	}
}

// words notes when the voice began whose words come: at its latest.
func (k *Checker) words(text string, utterance int, now time.Time) {
	if strings.TrimSpace(text) == "" {
		return
	}
	q := &k.question
	q.began = now
	if at, ok := q.voices[utterance]; ok && utterance != 0 && at.Equal(q.voice) {
		q.began = at
	}
}
