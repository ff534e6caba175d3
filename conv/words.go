package conv

import (
	"strings"

	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/turn"
)

// This file handles the words of the recognizer. Sources: seed 000, INT-002; seed 004, features
// 2, 4 and 6.

// staleWords reports whether words belong to a turn that is answered already.
func (s *State) staleWords(number, utterance int, text string, final bool) bool {
	f := &s.Floor
	if s.Floor.isTail(number, utterance, final) || final && s.History.unwritten(number, utterance) != nil {
		return false // handleFinal corrects the turn
	}
	if s.staleSpeech(number, utterance) {
		return true
	}
	if !s.thinking() || s.Audible() || f.Speaking || utterance > f.Closed {
		return false
	}
	// No new voice has been heard since the turn ended. Words that repeat the turn, or that
	// come while its final transcript is missing, belong to the turn.
	text = squeeze(text)
	return f.Tail != 0 || text == "" || s.History.repeats(s.Reply.UserTurn, text)
}

// repeats reports whether words are those of a turn of the user, or the end of them. If the words
// of the turn are not known, any words are.
func (h history) repeats(number int, text string) bool {
	asked := h.utteranceText(number)
	return asked == "" || asked == dialog.Hidden || strings.EqualFold(asked, text) || strings.HasSuffix(strings.ToLower(asked), strings.ToLower(text))
}

func (c *Conversation) handlePartial(e STTPartial) {
	c.st.Floor.noteWorded(e.Utterance)
	c.began = c.st.Floor.began(e.Utterance, c.st.Now)
	c.hear(squeeze(e.Text), e.Confidence, false, false)
}

func (c *Conversation) handleFinal(e STTFinal) {
	text := squeeze(e.Text)
	if it := c.st.History.unwritten(e.Turn, e.Utterance); it != nil {
		c.st.writeDown(&c.opts, it, text)
		return
	}
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

// hear handles words of the recognizer. Filters apply only while the agent's audio plays (seed
// 004, feature 6). ends says that the words end the turn.
func (c *Conversation) hear(text string, confidence float64, final, ends bool) {
	if final && c.st.awaitsWords() {
		c.st.User.note(text, confidence, true, c.began)
		return
	}
	if c.st.Audible() {
		c.hearOverAgent(text, confidence, final, ends)
		return
	}
	switch c.st.Phase {
	case ListeningReady, ListeningCapturing:
		c.hearWhileListening(text, confidence, final, ends)
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
		// The audio path may still work. The words are answered afterwards.
		c.st.User.note(text, confidence, final, c.began)
	case Idle, Suspended, Terminating, Speaking:
		// The microphone is closed; in Speaking, hearOverAgent was called.
	}
}

// awaitsWords reports whether the agent's audio plays and the words that the user said before it
// are not final yet.
func (s *State) awaitsWords() bool {
	return s.Audible() && s.User.Ended && s.User.Partial != "" && !s.Floor.Speaking
}

// hearWhileListening handles words in a listening phase. They belong to the user's turn, which
// they begin if it is not open.
func (c *Conversation) hearWhileListening(text string, confidence float64, final, ends bool) {
	if c.ear.echoed(&c.st, text) {
		text = ""
	}
	if c.st.Phase == ListeningReady {
		if text == "" {
			return
		}
		c.takeFloor(c.event)
		c.st.User.note(text, confidence, final, c.began)
		c.afterWords(ends)
		return
	}
	c.st.User.note(text, confidence, final, c.began)
	if text != "" && c.st.Reply.Held() {
		c.cancelReply(TurnInterrupted)
	}
	// An empty final transcript for a silent user without words ends the turn.
	nothing := final && !c.st.Floor.Speaking && c.st.User.Words() == "" && !c.st.Floor.Pushed
	c.afterWords(ends || nothing)
}

// endsWhileWorking ends the user's turn while a tool or a delegated agent works. The turn is
// answered together with the result.
func (s *State) endsWhileWorking(ends bool) {
	if ends && s.User.Words() != "" {
		s.User.Ended = true
		s.Floor.Speaking = false
	}
}

// afterWords ends the turn after words in ListeningCapturing, or limits how long it may stay
// silent.
func (c *Conversation) afterWords(ends bool) {
	if ends {
		c.endTurn(c.event, false)
		return
	}
	if !c.st.Floor.Speaking {
		c.st.armEndpoint(&c.opts)
	}
}

// hearWhileThinking handles words after the end of the turn: its final transcript, or new
// words. Step has dropped others as late.
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
	if c.st.profile(&c.opts).Policy == turn.BargeInNone && !st.Reply.agrees() {
		st.User.Ended = st.User.Ended || ends && st.User.Words() != ""
		return
	}
	if st.User.Words() == "" {
		return
	}
	c.speechWhileThinking(c.event)
	c.afterWords(ends)
}

// faint is the confidence below which final words over the agent's audio are a noise or the rest
// of an echo. Without the agent's audio such words are asked for again. Zero is unknown.
const faint = 0.03

// hearOverAgent handles words while the agent's audio plays.
func (c *Conversation) hearOverAgent(text string, confidence float64, final, ends bool) {
	over := &c.st.Over
	if final && confidence > 0 && confidence < faint {
		text = ""
	}
	verdict := c.ear.classify(text, c.st.Reply.Text)
	before := over.Partial
	stood := c.ear.classify(joinWords(over.Text, turn.Stood(before, text)), c.st.Reply.Text)
	answer := final && verdict.Kind != turn.Echo && c.st.answersOver(&c.opts, text, c.began)
	switch {
	case ignored(verdict.Kind) && final && !answer:
		over.note("", confidence, true, c.began) // ignored words are not part of the user's turn
	default:
		over.note(text, confidence, final, c.began)
		if !ignored(verdict.Kind) {
			verdict = c.ear.classify(over.Words(), c.st.Reply.Text)
		}
	}
	over.Ended = ends && over.Words() != ""
	if verdict.Kind != turn.Echo && c.st.expected(&c.opts, text) {
		verdict.Alone = true
		stood.Alone = stood.Alone || c.st.expected(&c.opts, turn.Stood(before, text))
	}
	action := c.st.Barge.Words(c.st.profile(&c.opts), c.st.Now, verdict, stood, final)
	if answer {
		action = turn.Stop
	}
	c.actOnBarge(action, c.event)
	if final && action != turn.Stop && !c.st.Floor.Speaking {
		// The words did not interrupt and are not input either.
		c.st.Over = userTurn{}
	}
}

// expected reports whether the agent expects words while it speaks: a no to what it reads back, a
// value of the slot that it asks for, and an answer to a question that is heard by now. A yes to
// what it reads back is kept and asked for again if it was too early.
func (s *State) expected(o *Options, text string) bool {
	a := o.Agent
	switch {
	case a == nil || text == "":
		return false
	case s.Dialogue.Confirmation != nil:
		return a.SaidNo(text)
	case s.Expect.Kind == kindYesNo && a.SaidYes(text):
		if s.Expect.ReadBack {
			return false
		}
		heard := heardPrefix(s.Reply.Text, s.heardSoFar(), s.Playout.Text)
		return len(heard) > lastSentence(s.Reply.Text, len(s.Reply.Text)-1)
	default:
		return a.Expects(&s.Dialogue, s.Now, text)
	}
}

// kindYesNo is the kind of an expected yes or no.
const kindYesNo = "yes_no"

// ignored reports whether words of a kind are not meant for the agent: an echo, a filler or a
// sign of listening. Each result of the recognizer is judged by itself, so that an echo after
// real words is still ignored.
func ignored(k turn.VerdictKind) bool {
	switch k {
	case turn.Nothing, turn.Echo, turn.Filler, turn.Backchannel:
		return true
	default:
		return false
	}
}
