package conv

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/dialog"
)

// This file: a model's calls that need a yes. What a flow calls it has asked about
// itself: see [ReadBack].

// CodeNeedsYes is the code of the result of a call that the user has not said yes
// to: it did not run.
const CodeNeedsYes = "CONFIRMATION_NEEDED"

// Consent is the question about calls of the model's that need a yes. Its life:
//
//	none  -> asked  a call is put back: its result tells the model to ask
//	asked -> heard  the turn that asks has been heard to its end
//	heard -> given  the user says yes and nothing else, and began to behind it
//	given -> none   each of the calls has run once, or the user's next turn ends
//	any   -> asked  a call is put back
//	any   -> none   the user says something else; a yes that began too early leaves
//	                the question open
type Consent struct {
	Calls []Asked `json:"calls,omitempty"` // that were put back and have not run
	// Turn is the agent's that asks, from At in its text; 0: the one that will say
	// the rest of it. UserTurn is the user's that it answers.
	Turn     int       `json:"turn,omitempty"`
	UserTurn int       `json:"user_turn,omitempty"`
	At       int       `json:"at,omitempty"`
	Heard    time.Time `json:"heard,omitzero"`  // when the question had been heard
	Yes      int       `json:"yes,omitempty"`   // the user's turn that said yes
	Early    bool      `json:"early,omitempty"` // one did before the question had been heard
}

// Asked is a call that the user is asked about; Arguments are in one spelling.
type Asked struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// asked is the call as it is compared with another.
func (call *Call) asked() Asked { return Asked{call.Name, oneSpelling(call.Arguments)} }

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
func (c *Conversation) consented(call *Call) bool {
	k := &c.st.Consent
	if !call.Confirm {
		return true
	}
	i := slices.Index(k.Calls, call.asked())
	if i < 0 || k.Yes == 0 || k.Yes != c.st.Reply.UserTurn {
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
	if k.Early && slices.Contains(k.Calls, asked) {
		why = "needs the user's consent, and the user's yes came before they had heard the whole question"
	}
	c.endCall(i, failedResult(CodeNeedsYes, fmt.Sprintf(
		"%s %s: say what it will do, with its values, ask for a yes or no, and call it again with the same arguments after a yes", asked.Name, why), ""))
	calls := slices.DeleteFunc(slices.Clone(k.Calls), func(a Asked) bool { return a == asked })
	calls = append(calls, asked)
	*k = Consent{
		Calls: calls[max(0, len(calls)-c.opts.Limits.Calls):],
		Turn:  r.Turn, UserTurn: r.UserTurn, At: len(r.Text),
	}
}

// noteConsent takes what the user said in a turn as the answer to the question.
func (c *Conversation) noteConsent(number int, text string, began time.Time) {
	k := &c.st.Consent
	switch {
	case len(k.Calls) == 0:
	case k.Yes != 0 || !c.saidYes(text):
		*k = Consent{}
	case answers(began, k.Heard):
		k.Yes = number
	default:
		k.Early = true
	}
}

// saidYes reports whether the words are a yes and nothing else.
func (c *Conversation) saidYes(text string) bool {
	if c.opts.Agent != nil {
		return c.opts.Agent.SaidYes(text)
	}
	if c.yes == nil {
		c.yes = dialog.YesIn(c.opts.Language)
	}
	return c.yes(text)
}

// asking reports whether the reply asks for the consent.
func (c *Conversation) asking() bool {
	k, r := &c.st.Consent, &c.st.Reply
	return len(k.Calls) > 0 && k.Heard.IsZero() &&
		(r.Turn == k.Turn || r.UserTurn != 0 && r.UserTurn == k.UserTurn && r.Request != 0)
}

// consentAsked notes that the reply has been heard to its end, if it asks.
func (c *Conversation) consentAsked() {
	k, r := &c.st.Consent, &c.st.Reply
	if !c.asking() || !r.Done {
		return
	}
	at := 0
	if r.Turn == k.Turn {
		at = min(k.At, len(r.Text))
	}
	if strings.TrimSpace(r.Text[at:]) != "" {
		k.Heard = c.st.Now
	}
}

// asksLater notes that the reply, which asks, is cut off and its rest said later.
func (c *Conversation) asksLater(rest string) {
	if rest != "" && c.asking() {
		c.st.Consent.Turn = 0
	}
}

// asksAgain notes that the reply says the rest of one that was cut off.
func (c *Conversation) asksAgain() {
	if k := &c.st.Consent; len(k.Calls) > 0 && k.Turn == 0 {
		k.Turn, k.At = c.st.Reply.Turn, 0
	}
}
