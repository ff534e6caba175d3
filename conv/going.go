package conv

import (
	"strings"
	"unicode"

	"github.com/hocketvoice/hocket/turn"
)

// This file goes on with a reply that was cut off by a voice that said nothing, or nothing that
// can be trusted. Source: ADR 0034.

// goesOnMost is how many times in a row a voice can cut off a reply that then goes on. After
// that, its words are answered, whatever they are, and a voice without words is listened to.
const goesOnMost = 2

// repeatedWords is how many words are said again at most when a reply goes on.
const repeatedWords = 6

// going is a reply that was cut off and may go on. Its states:
//
//	none  -> cut    a voice cuts off a reply, or the reply is lost with the connection
//	cut   -> again  the voice said no words, or none that can be trusted: the rest is said
//	cut   -> none   the user said something, typed, or gave a command; a fault; a client
//	                that starts the replies itself
//	again -> cut    the rest is cut off, too, fewer than goesOnMost times in a row
//	again -> none   the user said something, or a reply was heard to its end
//
// Turn says that the state is cut; otherwise Row tells again from none. Offsets are in bytes.
type going struct {
	Turn     int    `json:"turn,omitempty"`      // number of the turn that was cut off; zero: none
	UserTurn int    `json:"user_turn,omitempty"` // number of the user's turn that it answered
	Text     string `json:"text,omitempty"`      // what it was to say
	Heard    int    `json:"heard,omitempty"`     // how much of Text was heard
	Asks     bool   `json:"asks,omitempty"`      // the end of the text had not come
	Row      int    `json:"row,omitempty"`       // how many times in a row a voice has cut off what the agent said
}

// waits reports whether something of the reply was not heard.
func (g *going) waits() bool {
	return g.Turn != 0 && (g.Asks || strings.TrimSpace(g.Text[g.Heard:]) != "")
}

// rest returns the text with which the reply goes on: from the beginning of the sentence in
// which it was cut off or, if many words of the sentence were heard, from a place between them.
func (g *going) rest() string {
	if !g.waits() {
		return ""
	}
	from := lastSentence(g.Text, g.Heard)
	if heard := g.Text[from:max(from, g.Heard)]; len(strings.Fields(heard)) > repeatedWords {
		from += halfway(heard)
	}
	return squeeze(g.Text[from:])
}

// asked reports whether the last sentence has begun to be heard. A yes before that answers
// something else.
func (g *going) asked() bool {
	text := strings.TrimRightFunc(g.Text, unicode.IsSpace)
	return g.Heard > lastSentence(text, len(text)-1)
}

// lastSentence returns where the last sentence begins that is not heard to its end, or is the
// last, when heard bytes of the text are heard.
func lastSentence(text string, heard int) int {
	from := 0
	for {
		n := sentenceEnd(text[from:])
		if n == 0 || from+len(strings.TrimRightFunc(text[from:from+n], unicode.IsSpace)) > heard {
			return from
		}
		from += n
	}
}

// halfway returns where the last repeatedWords words of a text begin, or the first part of the
// sentence within them.
func halfway(text string) int {
	at := 0
	for rest := text; len(strings.Fields(rest)) > repeatedWords; rest = text[at:] {
		at += wordEnd(rest)
	}
	rest := text[at:]
	for i := range rest {
		if strings.IndexByte(",;:", rest[i]) >= 0 && strings.HasPrefix(rest[i+1:], " ") && strings.TrimSpace(rest[i+1:]) != "" {
			return at + i + 1
		}
	}
	return at
}

// wordEnd returns where the first word of a text ends.
func wordEnd(text string) int {
	start := len(text) - len(strings.TrimLeftFunc(text, unicode.IsSpace))
	if n := strings.IndexFunc(text[start:], unicode.IsSpace); n >= 0 {
		return start + n
	}
	return len(text)
}

// cutOff notes that a voice cuts off the reply.
func (s *State) cutOff(o *Options) {
	row := s.Going.Row + 1
	s.Going = going{Row: row - 1}
	if !o.ResumeAfterFalseInterruption || s.Rules.ListenOnly || row > goesOnMost {
		return
	}
	s.leaveOff()
	s.Going.Row = row
}

// leaveOff notes what the reply was to say, and how much of it was heard.
func (s *State) leaveOff() {
	r := &s.Reply
	full := ""
	s.History.eachPart(r.Turn, r.Part, func(it *Item) { full += it.spoken() })
	full += r.Text[r.Sealed:]
	s.Going = going{
		Turn: r.Turn, UserTurn: r.UserTurn, Text: full, Row: s.Going.Row,
		Heard: len(heardPrefix(full, s.heardSoFar(), s.Playout.Text)),
		Asks:  r.Request != 0 && !r.Complete(),
	}
	s.asksLater(s.Going.rest())
}

// flushedGoing corrects how much was heard of the reply. The playout has measured it.
func (s *State) flushedGoing(e PlayoutFlushed) {
	g := &s.Going
	if g.Turn == 0 || g.Turn != e.Turn {
		return
	}
	if p := &s.Playout; e.Text == "" && p.Turn == e.Turn {
		e.Text = p.Text
	}
	g.Heard = len(heardPrefix(g.Text, e.Heard, e.Text))
}

// goOn says what was not heard of the reply that was cut off, in the open turn of the agent or,
// if there is none, in a new one. If the end of a model's reply had not come, the model is asked
// for it: the history has what was said before.
func (c *Conversation) goOn() {
	st := &c.st
	g := st.Going
	st.Going = going{Row: g.Row}
	if st.Reply.Turn == 0 {
		st.openReply(&c.out, ReplyResumed, 0)
	}
	if !g.Asks {
		c.sayWords(g.rest(), "", causeResume)
		st.asksAgain()
		return
	}
	st.Reply.UserTurn = g.UserTurn
	phase, rest := Understanding, g.rest()
	if rest != "" {
		phase = Generating
	}
	if st.Phase != phase {
		c.become(phase, causeResume)
	}
	st.speakAll(&c.out, rest)
	st.asksAgain()
	st.sealPart(&c.opts)
	st.request(&c.out, &c.opts, RequestResumed, st.History.utteranceText(g.UserTurn))
}

// untrusted reports whether words behind a voice that cut off a reply are no reason to end it:
// fillers, signs of listening, words that the recognizer doubts and words that mean nothing to
// the dialogue. An answer to a question that was heard is a reason, and so is "stop".
func (c *Conversation) untrusted(text string, u *userTurn, cause Cause) bool {
	st := &c.st
	if !st.Going.waits() || cause == causeUserText || st.Conn.Unanswered.Turn != 0 {
		return false
	}
	kind, a := c.ear.classify(text, "").Kind, c.opts.Agent
	switch {
	case kind == turn.AlwaysInterrupt:
		return false
	case a != nil && a.Missed(&st.Dialogue, st.Now, st.message(text, u.Confidence, u.Began)):
		return true
	default:
		return ignored(kind) && !c.answersCut(text)
	}
}

// answersCut reports whether words answer the question that the reply asks. Without a dialogue
// that knows the question, it is one that ends in a question mark.
func (c *Conversation) answersCut(text string) bool {
	st, a := &c.st, c.opts.Agent
	switch {
	case len(st.Consent.Calls) > 0:
		return c.ear.saidYes(text)
	case a == nil:
		return st.Going.asked() && strings.HasSuffix(strings.TrimSpace(st.Going.Text), "?") && c.ear.saidYes(text)
	default:
		return (st.Dialogue.Confirmation != nil || st.Going.asked()) && a.Completeness(&st.Dialogue, st.Now, text) == turn.Complete
	}
}
