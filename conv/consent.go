package conv

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// This file: calls of a model that need a yes of the user. A flow asks about its own
// calls itself: see [ReadBack].

// CodeNeedsYes is the code of the result of a call that the user has not said yes
// to: it did not run.
const CodeNeedsYes = "CONFIRMATION_NEEDED"

// Consent is the question whether calls that the model has made may run. Its life:
//
//	none  -> asked  a call is put back: its result tells the model to ask
//	asked -> heard  the turn that asks has been heard to its end
//	heard -> given  the user says yes and nothing else, and began to after that
//	given -> none   each of the calls has run once, the user's next turn ends, or the
//	                final transcript of the yes says something else
//	any   -> asked  a call is put back; a yes to another stays given
//	any   -> open   a yes began too early, the question was cut off, or the agent
//	                says something that does not answer the user: a yes after it is
//	                not taken as one to this question
//	open  -> asked  the call is put back once more
//	any   -> none   the user says something else
type Consent struct {
	Calls []Asked `json:"calls,omitempty"` // calls that were put back and have not run
	// Turn is the turn of the agent that asks, in its text from At; UserTurn is the turn
	// of the user that it answers. Both are 0 while nobody asks. Rest says that the
	// question was cut off and the rest of it will be said.
	Turn     int       `json:"turn,omitempty"`
	UserTurn int       `json:"user_turn,omitempty"`
	At       int       `json:"at,omitempty"`
	Rest     bool      `json:"rest,omitempty"`
	Heard    time.Time `json:"heard,omitzero"`  // when the question had been heard
	Early    bool      `json:"early,omitempty"` // a yes came that did not count
}

// Asked is a call that the user is asked about. Its arguments are spelled in one way,
// so that they can be compared. Yes is the turn in which the user said yes to it.
type Asked struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Yes       int    `json:"yes,omitempty"`
}

// asked is the call as it is compared with another.
func (call *Call) asked() Asked {
	return Asked{Name: call.Name, Arguments: oneSpelling(call.Arguments)}
}

// same reports whether both are the same call.
func (a Asked) same(b Asked) bool { return a.Name == b.Name && a.Arguments == b.Arguments }

// index is the position of the call among those that are asked about, or -1.
func (k *Consent) index(call Asked) int { return slices.IndexFunc(k.Calls, call.same) }

// oneSpelling is a JSON text with its keys in order and without spaces, or the text
// where it is not JSON.
func oneSpelling(text string) string {
	if text == "" {
		return "{}"
	}
	var v any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil || d.More() {
		return text
	}
	b, err := json.Marshal(v)
	if err != nil {
		return text
	}
	return string(b)
}

// consented reports whether a call may run, and takes the yes for it: a yes is good
// for one run, in the reply to it.
func (s *State) consented(call *Call) bool {
	k := &s.Consent
	if !call.Confirm {
		return true
	}
	i := k.index(call.asked())
	if i < 0 || k.Calls[i].Yes == 0 || k.Calls[i].Yes != s.Reply.UserTurn {
		return false
	}
	k.Calls = slices.Delete(slices.Clone(k.Calls), i, i+1)
	if len(k.Calls) == 0 {
		*k = Consent{}
	}
	return true
}

// refuse answers a call that the user has not said yes to.
func (c *Conversation) refuse(i int) {
	k, r := &c.st.Consent, &c.st.Reply
	asked := c.st.Calls[i].asked()
	why := "needs the user's consent"
	if k.Early && k.index(asked) >= 0 {
		why = "needs the user's consent, and the user's yes came before they had heard the whole question, or behind something else"
	}
	c.endCall(i, failedResult(CodeNeedsYes, fmt.Sprintf(
		"%s %s: say what it will do, with its values, ask for a yes or no, and call it again with the same arguments after a yes", asked.Name, why), ""))
	calls := append(slices.DeleteFunc(slices.Clone(k.Calls), asked.same), asked)
	*k = Consent{
		Calls: calls[max(0, len(calls)-c.opts.Limits.Calls):],
		Turn:  r.Turn, UserTurn: r.UserTurn, At: len(r.Text),
	}
}

// answered takes what the user said in a turn as the answer to the question.
func (k *Consent) answered(e *ear, number int, text string, began time.Time) {
	calls := slices.DeleteFunc(slices.Clone(k.Calls), func(a Asked) bool { return a.Yes != 0 })
	if len(calls) == 0 || !e.saidYes(text) {
		*k = Consent{}
		return
	}
	k.Calls = calls
	if !answers(began, k.Heard) {
		k.open()
		k.Early = true
		return
	}
	for i := range calls {
		calls[i].Yes = number
	}
}

// corrected takes back what a turn said yes to when its transcript comes and has
// something else.
func (k *Consent) corrected(e *ear, number int, text string) {
	given := slices.ContainsFunc(k.Calls, func(a Asked) bool { return a.Yes == number })
	if given && text != "" && !e.saidYes(text) {
		*k = Consent{}
	}
}

// open notes that nobody asks any more: the calls must be put back again.
func (k *Consent) open() { *k = Consent{Calls: k.Calls, Early: k.Early} }

// aside notes that the agent says something that does not answer the user. A question
// from before it is not open any more: a yes after it may be meant for what was said.
func (s *State) aside() {
	s.Consent.open()
	if b := &s.ReadBack; b.Text != "" {
		*b = ReadBack{Text: b.Text, End: b.End}
	}
}

// asking reports whether the reply asks for the consent.
func (s *State) asking() bool {
	k, r := &s.Consent, &s.Reply
	return len(k.Calls) > 0 && k.Heard.IsZero() && r.Turn != 0 &&
		(r.Turn == k.Turn || r.UserTurn != 0 && r.UserTurn == k.UserTurn && r.Request != 0)
}

// consentAsked notes that the reply has been heard to its end, if it asks.
func (s *State) consentAsked() {
	k, r := &s.Consent, &s.Reply
	if !s.asking() || !r.Complete() {
		return
	}
	at := 0
	if r.Turn == k.Turn {
		at = min(k.At, len(r.Text))
	}
	if strings.TrimSpace(r.Text[at:]) != "" {
		k.Heard = s.Now
	}
}

// asksLater notes that the reply, which asks, is cut off and its rest said later.
func (s *State) asksLater(rest string) {
	if rest != "" && s.asking() {
		s.Consent.Rest = true
	}
}

// asksAgain notes that the reply says the rest of one that was cut off.
func (s *State) asksAgain() {
	if k := &s.Consent; k.Rest {
		k.Turn, k.At, k.Rest = s.Reply.Turn, 0, false
	}
}
