package conv

import (
	"strings"
	"unicode"

	"github.com/hocketvoice/hocket/turn"
)

// This file resumes a reply that was cut off by a voice that said no words, or none that can be
// trusted. Source: ADR 0034.

// goesOnMost is how many times in a row a reply is resumed after a voice has cut it off. The next
// time, the agent answers the words, whatever they are, and listens to a voice without words.
const goesOnMost = 2

// repeatedWords is the maximum number of words that the agent repeats when it resumes a reply.
const repeatedWords = 6

// going is a reply that was cut off and may go on. Its states:
//
//	none  -> cut    a voice cuts off a reply, or the reply is lost with the connection
//	cut   -> again  the voice said no words, or none that can be trusted: the rest is said
//	cut   -> none   the user said something, typed, or gave a command; a fault; a client
//	                that starts the replies itself
//	again -> cut    the rest is cut off too, fewer than goesOnMost times in a row
//	again -> none   the user said something, or a reply was heard to its end
//
// In the state cut, Turn is not 0. In the state again, Row is not 0. Offsets are in bytes.
type going struct {
	Turn     int    `json:"turn,omitempty"`      // number of the turn that was cut off; zero: none
	UserTurn int    `json:"user_turn,omitempty"` // number of the user's turn that the reply answers; zero: none
	Text     string `json:"text,omitempty"`      // all of the reply, including the part that was not heard
	Heard    int    `json:"heard,omitempty"`     // how much of Text was heard
	Asks     bool   `json:"asks,omitempty"`      // Text is incomplete: the model has more
	Row      int    `json:"row,omitempty"`       // how many times in a row a voice has cut off the agent
}

// waits reports whether the reply has a rest that was not heard.
func (g *going) waits() bool {
	return g.Turn != 0 && (g.Asks || strings.TrimSpace(g.Text[g.Heard:]) != "")
}

// rest returns the text with which the agent resumes the reply. It begins at the sentence in
// which the reply was cut off or, if many words of the sentence were heard, between two of them.
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

// asked reports whether the user has heard the beginning of the last sentence. A yes before that
// answers something else.
func (g *going) asked() bool {
	text := strings.TrimRightFunc(g.Text, unicode.IsSpace)
	return g.Heard > lastSentence(text, len(text)-1)
}

// lastSentence returns the offset of the first sentence that does not end within the first heard
// bytes of the text, or of the last sentence if all do.
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

// halfway returns the offset of the last repeatedWords words of a text. If one of them ends in a
// comma, a semicolon or a colon, it returns the offset behind the first such mark.
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

// wordEnd returns the offset of the end of the first word of a text.
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

// leaveOff notes the text of the reply and how much of it was heard.
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
	s.Consent.asksLater(r, s.Going.rest())
}

// flushed corrects how much of the reply was heard, as measured by the playout.
func (g *going) flushed(e PlayoutFlushed, p *playout) {
	if g.Turn == 0 || g.Turn != e.Turn {
		return
	}
	if e.Text == "" && p.Turn == e.Turn {
		e.Text = p.Text
	}
	g.Heard = len(heardPrefix(g.Text, e.Heard, e.Text))
}

// goOn says the rest of the reply that was cut off, in the open turn of the agent or, if there is
// none, in a new one. If the model's reply was incomplete, goOn asks the model for the end: the
// history contains what was said before.
func (c *Conversation) goOn() {
	st := &c.st
	g := st.Going
	st.Going = going{Row: g.Row}
	if st.Reply.Turn == 0 {
		st.openReply(&c.out, ReplyResumed, 0)
	}
	if !g.Asks {
		c.sayWords(g.rest(), "", causeResume)
		st.Consent.asksAgain(st.Reply.Turn)
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
	st.Consent.asksAgain(st.Reply.Turn)
	st.sealPart(&c.opts)
	st.request(&c.out, &c.opts, RequestResumed, st.History.utteranceText(g.UserTurn))
}

// untrusted reports whether the agent resumes the reply that a voice has cut off in spite of the
// words that the voice said. It does for fillers, signs of listening, words that the recognizer
// doubts and words that mean nothing to the dialogue, but not for "stop" or for an answer to a
// question that the user has heard.
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

// answersCut reports whether words answer the question that the reply asks. Without a dialogue,
// a reply that ends in a question mark is a question.
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
