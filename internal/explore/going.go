package explore

import (
	"errors"
	"fmt"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/internal/timers"
)

// This file explores replies that a voice cuts off without saying anything that can be trusted.

// mostGoings is how many times in a row a reply may go on.
const mostGoings = 2

// The sentences of the replies of the alphabet.
const (
	firstSentence  = "Well."
	secondSentence = "And"
)

// meaningless is a message that means nothing to the flows.
const meaningless = "purple monkeys"

// goingConfigs returns the configurations in which replies go on.
func goingConfigs(o conv.Options, still []timers.Timer) []Config {
	o.ResumeAfterFalseInterruption = true
	model, flow, advised := o, o, o
	flow.Agent = changed("type: city,", "type: city, values: [Boston, Denver],") // any other word means nothing
	advised.Agent = agentOf(byModel, "travel", "")
	return []Config{
		{
			Name: "replies that a noise cuts off", Options: model,
			Events: any_(beginning, noises, setbacks), More: goingFacts(), Still: still,
		},
		{
			Name: "flows that a noise cuts off", Options: flow,
			Events: any_(beginning, sounds), More: append(goingFacts(), flowFacts()...), Still: still,
		},
		{
			Name: "flows and a model that understands noises", Options: advised,
			Events: any_(beginning, sounds, advice), More: append(goingFacts(), adviceFacts()...), Still: still,
		},
	}
}

// noises selects the events around a reply that is cut off.
func noises(ev conv.Event) bool {
	switch e := ev.(type) {
	case conv.UserCancel:
		return e.ID == ""
	case conv.ReplyDelta:
		return e.Text == "Well. And"
	case conv.ReplyDone:
		return e.Turn == 0 && !e.Silent
	case conv.UserText, conv.ReplyRequested:
		return true
	default:
		return sounds(ev)
	}
}

// sounds selects what is heard of the user and of the agent.
func sounds(ev conv.Event) bool {
	switch e := ev.(type) {
	case conv.SpeechStarted:
		return e.Source == "vad"
	case conv.STTFinal:
		return e.Turn == 0 && e.Text != "never mind"
	case conv.PlayoutProgress:
		return e.Text != ""
	case conv.PlayoutStarted:
		return e.Turn == 0
	case conv.PlayoutFinished:
		return e.Turn == 0
	case conv.SpeechStopped:
		return true
	default:
		return false
	}
}

// goingFacts returns a report of the playout and words that mean nothing.
func goingFacts() []conv.Event {
	return []conv.Event{
		conv.PlayoutProgress{Heard: 300 * time.Millisecond, Text: firstSentence},
		conv.STTFinal{Text: meaningless},
	}
}

// cut is what the monitor remembers of a reply that a voice cut off.
type cut struct {
	open  bool // it has neither gone on nor been answered yet
	first bool // its first sentence had been heard
	row   int8 // how many times in a row replies have gone on
	spent bool // a voice has cut off one that had gone on as often as it may
}

// checkCut checks that a reply that a voice has cut off goes on if the voice says nothing that can
// be trusted, and is otherwise answered; that it repeats no sentence that was heard; and that it
// does not go on for ever. It reads effects and events, and not the machine's own conclusions.
func (s *stepped) checkCut(q cut) (cut, error) {
	if !s.resumes || s.out.Late || s.out.Deferred {
		return q, nil
	}
	q, err := s.wentOn(q)
	if err != nil {
		return q, err
	}
	switch {
	case s.advised && s.consults():
		if q.open { // the model tells whether the words mean anything
			q.open, q.row = false, q.row+1
		}
	case s.answersCut():
		if s.nothingTrusted() && q.open {
			return q, errors.New("words that cannot be trusted have ended a reply that a voice cut off")
		}
		q = cut{}
	case s.commanded():
		q = cut{}
	default:
		if _, other := s.consulted(); other {
			q = cut{} // the model has found a meaning
		}
	}
	if s.cutsOff() && q.row >= mostGoings {
		q.spent = true
	} else if s.cutsOff() {
		q.open, q.first = true, s.before.Phase == conv.Speaking && s.before.Playout.Text == firstSentence
	}
	if s.after.Phase == conv.ListeningReady && !s.after.Floor.Speaking && q.open {
		return q, errors.New("a reply that a voice cut off is lost")
	}
	return q, nil
}

// wentOn updates q with a reply that goes on in this step.
func (s *stepped) wentOn(q cut) (cut, error) {
	resumed := 0
	for _, e := range s.out.Turns {
		switch {
		case e.Type != conv.TurnStarted || e.Role != conv.RoleAgent:
		case e.Kind == conv.ReplyResumed:
			resumed = e.Turn
		case e.Kind != conv.ReplyAnswer || !s.answersCut():
			return cut{}, nil // what the user had said before is answered, or the dialogue recovers
		}
	}
	if resumed != 0 && q.spent {
		return q, fmt.Errorf("a reply goes on more than %d times in a row", mostGoings)
	}
	if resumed == 0 || !q.open {
		return q, nil
	}
	for _, e := range s.out.Effects {
		if e, ok := e.(conv.Speak); ok && e.Turn == resumed && q.first && e.Text == firstSentence {
			return q, errors.New("a sentence that was heard is said again")
		}
	}
	q.open, q.row = false, q.row+1
	return q, nil
}

// cutsOff reports whether a voice cuts off a reply in this step of which something was not heard.
func (s *stepped) cutsOff() bool {
	if s.after.Phase != conv.Interrupted || s.before.Phase == conv.Interrupted || s.after.Rules.ListenOnly {
		return false
	}
	if s.before.Playout.Heard >= time.Second && s.before.Reply.Complete() {
		return false
	}
	switch e := s.event.(type) {
	case conv.SpeechStarted, conv.STTPartial, conv.STTFinal, conv.DeadlinePassed, conv.PlayoutStarted:
		return true
	case conv.UserInterrupt:
		return e.Source == "vad"
	default:
		return false
	}
}

// consults reports whether a model is asked in this step what the user meant, or answers that it
// meant nothing, so that the reply goes on.
func (s *stepped) consults() bool {
	if s.after.Reply.Why == conv.RequestUnderstanding && s.after.Reply.Request != 0 {
		return true
	}
	rest, _ := s.consulted()
	return rest
}

// consulted reports whether the rest of a reply is said in this step, or something else, after a
// model was asked what the user meant.
func (s *stepped) consulted() (rest, other bool) {
	if s.before.Reply.Why != conv.RequestUnderstanding {
		return false, false
	}
	for _, e := range s.out.Effects {
		switch e := e.(type) {
		case conv.Speak:
			rest = rest || e.Text == firstSentence || e.Text == secondSentence
			other = !rest
		case conv.RunTool:
			other = true // an action of the flow
		default:
			// Other effects say nothing about the words.
		}
	}
	return rest, other
}

// answersCut reports whether a turn of the user is answered in this step, or the agent's turn was
// heard to its end.
func (s *stepped) answersCut() bool {
	for _, e := range s.out.Turns {
		if e.Type == conv.TurnCompleted {
			return true
		}
	}
	return false
}

// nothingTrusted reports whether the only words of the user's turn came in this step and are no
// reason to end a reply.
func (s *stepped) nothingTrusted() bool {
	e, ok := s.event.(conv.STTFinal)
	if s.before.Dialogue.ConversationState == dialog.ExecutingAction {
		return false // the agent says that it is busy
	}
	if !ok || s.before.User.Words() != "" || s.before.Over.Words() != "" || s.before.Conn.Unanswered.Turn != 0 || len(s.before.Pending.Texts) > 0 {
		return false
	}
	return e.Text == "mhm" || e.Text == meaningless && s.after.Dialogue.ConversationState != "" && !s.advised
}

// commanded reports whether the step ends or takes over the agent's turn for another reason than
// a voice.
func (s *stepped) commanded() bool {
	switch s.after.Phase {
	case conv.Faulted, conv.Terminating, conv.Idle, conv.Preparing, conv.Suspended:
		return true
	default:
	}
	switch e := s.event.(type) {
	case conv.UserText, conv.UserKey, conv.UserCancel, conv.SessionConfigured:
		return true
	case conv.UserInterrupt:
		return e.Source != "vad"
	default:
		return s.before.Phase == conv.Suspended
	}
}
