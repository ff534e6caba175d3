package conv

import (
	"strings"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/turn"
)

// This file: what the recognizer hears. Seed 000, INT-002; seed 004, features
// 2, 4 and 6.

// staleWords reports words that belong to what is answered already.
func (s *State) staleWords(number, utterance int, text string, final bool) bool {
	f := &s.Floor
	if s.Floor.isTail(number, utterance, final) {
		return false // the transcript of the turn that is being answered
	}
	if s.staleSpeech(number, utterance) {
		return true
	}
	if !s.thinking() || s.Audible() || f.Speaking || utterance > f.Closed {
		return false
	}
	// No new voice was heard since the turn ended. Words that repeat it, and
	// those of a turn whose transcript was not waited for, are its tail.
	text = squeeze(text)
	return f.Tail != 0 || text == "" || s.repeats(text)
}

// repeats reports whether words are those of the turn that is being answered.
func (s *State) repeats(text string) bool {
	asked := s.utteranceText(s.Reply.UserTurn)
	return asked == "" || asked == dialog.Hidden || strings.EqualFold(asked, text) || strings.HasSuffix(strings.ToLower(asked), strings.ToLower(text))
}

func (c *Conversation) handlePartial(e STTPartial) {
	c.st.Floor.noteWorded(e.Utterance)
	c.began = c.st.Floor.began(e.Utterance, c.st.Now)
	c.hear(squeeze(e.Text), e.Confidence, false, false)
}

func (c *Conversation) handleFinal(e STTFinal) {
	text := squeeze(e.Text)
	if c.st.Floor.isTail(e.Turn, e.Utterance, true) {
		c.st.correctUtterance(&c.opts, c.st.Floor.Tail, text)
		c.st.Consent.corrected(&c.ear, c.st.Floor.Tail, text)
		if waits := &c.st.Conn.Unanswered; waits.Turn == c.st.Floor.Tail && text != "" {
			waits.completed(c.st.Floor.withFinal(waits.Text, text))
		}
		c.st.Floor.Tail, c.st.Floor.TailOpen = 0, 0
		return
	}
	c.st.Floor.noteWorded(e.Utterance)
	c.began = c.st.Floor.began(e.Utterance, c.st.Now)
	ends := c.opts.Endpoint == turn.PolicyRecognizer || e.Endpoint && c.opts.Endpoint != turn.PolicyManual
	c.hear(text, e.Confidence, true, ends)
}

// hear takes the recognizer's words. Filters apply while the agent's audio
// plays and at no other time (seed 004, feature 6); ends says that the
// recognizer's endpoint ends the turn.
func (c *Conversation) hear(text string, confidence float64, final, ends bool) {
	if u := &c.st.User; c.st.Audible() && final && u.Ended && u.Partial != "" && !c.st.Floor.Speaking {
		c.st.User.note(text, confidence, true, c.began) // of what was said before the agent began to speak
		return
	}
	if c.st.Audible() {
		c.hearOverAgent(text, confidence, final, ends)
		return
	}
	switch c.st.Phase {
	case ListeningReady:
		if text == "" || c.ear.echoed(&c.st, text) {
			return
		}
		c.takeFloor(c.event)
		c.st.User.note(text, confidence, final, c.began)
		c.afterWords(ends)
	case ListeningCapturing:
		if c.ear.echoed(&c.st, text) {
			text = ""
		}
		c.st.User.note(text, confidence, final, c.began)
		if text != "" && c.st.Reply.Held() {
			c.cancelReply(TurnInterrupted)
		}
		// A silent user of whom the recognizer has understood nothing has said
		// nothing.
		nothing := final && !c.st.Floor.Speaking && c.st.User.Words() == "" && !c.st.Floor.Pushed
		c.afterWords(ends || nothing)
	case Understanding, Waiting, Generating:
		c.hearWhileThinking(text, confidence, final, ends)
	case Delegated:
		c.st.User.note(text, confidence, final, c.began)
		if final && c.ear.words.CallsOff(c.st.User.Words()) {
			c.callOffAloud(ends)
			return
		}
		c.st.endsWhileWorking(ends)
	case ToolRunning:
		c.st.User.note(text, confidence, final, c.began)
		c.st.endsWhileWorking(ends)
	case Interrupted:
		c.st.Floor.BrokeIn = true
		c.st.openUserTurn(&c.out)
		c.st.User.note(text, confidence, final, c.began)
		c.st.User.Ended = c.st.User.Ended || ends
	case Preparing, Reconnecting, Faulted:
		// A service failed, the line is up: it is answered afterwards.
		c.st.User.note(text, confidence, final, c.began)
	case Idle, Suspended, Terminating, Speaking:
		// No microphone; Speaking is audible.
	}
}

// endsWhileWorking: the user's turn may end while a tool or an agent works; it is
// answered with the result.
func (s *State) endsWhileWorking(ends bool) {
	if ends && s.User.Words() != "" {
		s.User.Ended = true
		s.Floor.Speaking = false
	}
}

// afterWords decides what follows from words in ListeningCapturing.
func (c *Conversation) afterWords(ends bool) {
	if ends {
		c.endTurn(c.event, false)
		return
	}
	if !c.st.Floor.Speaking {
		c.st.armEndpoint(&c.opts)
	}
}

// hearWhileThinking takes words after the end of the turn: the final transcript
// that was waited for, or something new. What is neither was dropped as late.
func (c *Conversation) hearWhileThinking(text string, confidence float64, final, ends bool) {
	st := &c.st
	if c.st.awaitingFinal() {
		if c.ear.echoed(&c.st, text) {
			text = ""
		}
		c.st.User.note(text, confidence, final, c.began)
		if final {
			c.commit(c.event)
		}
		return
	}
	c.st.User.note(text, confidence, final, c.began)
	if c.st.profile(&c.opts).Policy == turn.BargeInNone {
		st.User.Ended = st.User.Ended || ends && st.User.Words() != ""
		return
	}
	if st.User.Words() == "" {
		return
	}
	c.speechWhileThinking(c.event)
	c.afterWords(ends)
}

// hearOverAgent takes words while the agent is heard.
func (c *Conversation) hearOverAgent(text string, confidence float64, final, ends bool) {
	over := &c.st.Over
	verdict := c.ear.classify(text, c.st.Reply.Text)
	answer := final && verdict.Kind != turn.Echo && c.st.answersOver(&c.opts, text, c.began)
	switch {
	case ignored(verdict.Kind) && final && !answer:
		over.note("", confidence, true, c.began) // it does not belong to what the user says
	default:
		over.note(text, confidence, final, c.began)
		if !ignored(verdict.Kind) {
			verdict = c.ear.classify(over.Words(), c.st.Reply.Text)
		}
	}
	over.Ended = ends && over.Words() != ""
	action := c.st.Barge.Words(c.st.profile(&c.opts), c.st.Now, verdict, final)
	if answer {
		action = turn.Stop
	}
	c.actOnBarge(action, c.event)
	if final && action != turn.Stop && !c.st.Floor.Speaking {
		// Filtered: it was no interruption, and it is no input either.
		c.st.Over = UserTurn{}
	}
}

// ignored reports whether words of a kind are nothing that the user wants to
// say. Each result of the recognizer is judged by itself: words that were real do not
// make an echo after them real.
func ignored(k turn.VerdictKind) bool {
	switch k {
	case turn.Nothing, turn.Echo, turn.Filler, turn.Backchannel:
		return true
	default:
		return false
	}
}
