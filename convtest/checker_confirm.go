package convtest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
)

// This file checks consent to irreversible actions.

// answerMargin is how long after the sound of the last value an answering voice may
// begin.
const answerMargin = 100 * time.Millisecond

// question describes a question of a flow: the turn that says its value, where the
// value ends in the spoken text, since when it can have been heard, and when the
// user's last words began.
type question struct {
	turn, end int
	heard     time.Time
	voices    map[int]time.Time // when each period of speech began
	voice     time.Time         // the last of voices
	began     time.Time         // when the last words began
}

// checkConfirmed checks that a flow's question is only answered with yes by words
// that began after its last value can have been heard. The checker measures this by
// the clock and the reports, as an upper bound.
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
			return errors.New("an action runs because of a yes that began before its values were heard")
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

// listenTo records what the user and the playout did in the step.
func (k *Checker) listenTo(s step) {
	q := &k.question
	if q.end > 0 && q.heard.IsZero() && max(int(k.heard[q.turn].Seconds()*12)+1, k.known[q.turn]) >= q.end {
		q.heard = s.now
	}
	for _, ev := range taken(s) {
		switch e := ev.(type) {
		case conv.SpeechStarted:
			if q.voices == nil {
				q.voices = map[int]time.Time{}
			}
			q.voice = s.now.Add(-e.Lag)
			q.voices[e.Utterance] = q.voice
		case conv.STTPartial:
			k.words(e.Text, e.Utterance, s.now)
		case conv.STTFinal:
			k.words(e.Text, e.Utterance, s.now)
		case conv.UserText:
			q.began = s.now.Add(answerMargin) // without a voice there is no margin
		default:
			// The others contain no words.
		}
	}
}

// words records the latest time at which the voice of these words can have begun.
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

// consents describes a model's calls that need consent.
type consents struct {
	back  []putBack
	said  bool      // after the last of them text was passed to the voice and not dropped
	heard time.Time // when that text had been played
}

// putBack is a call that was refused for lack of consent, and whether words that
// began late enough followed the question about it.
type putBack struct {
	call conv.Item
	yes  bool
}

// checkConsented checks that a model's call that needs consent only runs if the
// same call was refused before, text spoken after that was played completely, and
// the user's words began after that and are nothing but a yes.
func (k *Checker) checkConsented(s step) error {
	q := &k.consents
	for _, e := range s.out.Effects {
		var id string
		switch e := e.(type) {
		case conv.RunTool:
			id = e.ID
		case conv.StartTask:
			id = e.ID
		default:
			continue
		}
		for i := range s.after.Calls {
			if call := &s.after.Calls[i]; call.ID == id && call.Confirm {
				if err := k.consented(s, call); err != nil {
					return err
				}
			}
		}
	}
	for _, ev := range taken(s) {
		switch ev.(type) {
		case conv.PlayoutFinished:
			if q.said {
				q.heard = s.now
			}
		case conv.STTFinal, conv.STTPartial, conv.UserText:
			if !q.heard.IsZero() && !k.question.began.Before(q.heard.Add(answerMargin)) {
				for i := range q.back {
					q.back[i].yes = true
				}
			}
		default:
			// The others neither speak nor finish speech.
		}
	}
	silent := false
	for _, e := range s.out.Turns {
		silent = silent || e.Type == conv.TurnCompleted && e.Role == conv.RoleAgent && k.silent[e.Turn]
	}
	if silent {
		q.heard = s.now // a reader has the text when it is complete
	}
	for i := len(s.before.History); i < len(s.after.History); i++ {
		it := s.after.History[i]
		if it.Role == conv.RoleTool && it.Failed && strings.Contains(it.Text, conv.CodeNeedsYes) {
			others := slices.DeleteFunc(q.back, func(b putBack) bool { return sameCall(b.call, it.Name, it.Arguments) })
			*q = consents{back: append(others, putBack{call: it})}
		}
	}
	for _, e := range s.out.Effects {
		switch e.(type) {
		case conv.FlushPlayout:
			q.said = false
		case conv.Speak:
			q.said = true
		default:
			// The others do not start or stop sound.
		}
	}
	return nil
}

// consented checks one call that runs.
func (k *Checker) consented(s step, call *conv.Call) error {
	back := k.consents.back
	i := slices.IndexFunc(back, func(b putBack) bool { return sameCall(b.call, call.Name, call.Arguments) })
	if i < 0 {
		return fmt.Errorf("call %s needs consent and runs, but was never refused before", call.ID)
	}
	if !back[i].yes {
		return fmt.Errorf("call %s runs because of a yes that began before its question was heard", call.ID)
	}
	if k.c.Options().Agent != nil {
		return nil // the dialogue may use other words for yes
	}
	said := dialog.YesIn(k.c.Options().Language)
	for i := range s.after.History {
		it := &s.after.History[i]
		if it.Role == conv.RoleUser && it.Turn == s.after.Reply.UserTurn && !said(it.Text) {
			return fmt.Errorf("call %s runs because of %q, which is not a yes", call.ID, it.Text)
		}
	}
	return nil
}

// sameCall reports whether a result belongs to a call with the same arguments.
// Missing arguments are equal to an empty object.
func sameCall(it conv.Item, name, arguments string) bool {
	var x, y any
	if json.Unmarshal([]byte(cmp.Or(it.Arguments, "{}")), &x) != nil || json.Unmarshal([]byte(cmp.Or(arguments, "{}")), &y) != nil {
		return it.Name == name && it.Arguments == arguments
	}
	return it.Name == name && reflect.DeepEqual(x, y)
}

// taken returns the events handled by the step: its own, and after a suspension the
// deferred ones.
func taken(s step) []conv.Event {
	if s.out.Late || s.out.Deferred {
		return nil
	}
	events := []conv.Event{s.event}
	if s.before.Phase == conv.Suspended && s.after.Phase != conv.Suspended {
		events = append(events, s.before.Suspended.Facts...)
	}
	return events
}
