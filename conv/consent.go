package conv

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// This file decides about calls of a model that need the user's yes. A flow asks about its
// own calls by itself: see [readBack].

// CodeNeedsYes is the error code of a call that did not run because the user has not said
// yes to it.
const CodeNeedsYes = "CONFIRMATION_NEEDED"

// consent is the question whether calls that the model has made may run. A call is refused
// at first: its result tells the model to ask the user and to call again after a yes. The
// states of the question:
//
//	none  -> asked  a call is refused
//	asked -> heard  the agent's turn that asks has been heard to its end
//	heard -> given  the user begins to speak after that, and says yes and nothing else
//	given -> none   each of the calls has run once, the user's next turn ends, or the
//	                final transcript of the yes says something else
//	any   -> asked  a call is refused; a yes to another call stays valid
//	any   -> open   a yes began too early, the question was cut off, or the agent
//	                says something that does not answer the user: a yes after that
//	                does not count for this question
//	open  -> asked  the call is refused once more
//	any   -> none   the user says something else
type consent struct {
	Calls []asked `json:"calls,omitempty"` // calls that were refused and have not run
	// Turn is the agent's turn that asks; the question begins at the offset At of its text,
	// in bytes. UserTurn is the user's turn that it answers. Both are 0 while no turn asks.
	// Rest says that the question was cut off and that the agent will say the rest of it.
	Turn     int       `json:"turn,omitempty"`
	UserTurn int       `json:"user_turn,omitempty"`
	At       int       `json:"at,omitempty"`
	Rest     bool      `json:"rest,omitempty"`
	Heard    time.Time `json:"heard,omitzero"`  // when the question had been heard; zero: not yet
	Early    bool      `json:"early,omitempty"` // the user said a yes that did not count
}

// asked is a call that the user is asked about. Arguments are in a normal form, so that they
// can be compared. Yes is the number of the turn in which the user said yes to the call, or
// zero.
type asked struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Yes       int    `json:"yes,omitempty"`
}

// asked returns the call in the form in which it is compared with others.
func (call *Call) asked() asked {
	return asked{Name: call.Name, Arguments: oneSpelling(call.Arguments)}
}

// same reports whether both have the same name and arguments.
func (a asked) same(b asked) bool { return a.Name == b.Name && a.Arguments == b.Arguments }

// index returns the index of the call in k.Calls, or -1.
func (k *consent) index(call asked) int { return slices.IndexFunc(k.Calls, call.same) }

// oneSpelling returns a JSON text with sorted keys and without white space. It returns
// a text that is not one JSON value as it is, and {} for an empty one.
func oneSpelling(text string) string {
	if text == "" {
		return "{}"
	}
	b, err := oneForm([]byte(text))
	if err != nil {
		return text
	}
	return string(b)
}

// use reports whether a call may run. A yes is valid for one run, in the reply to the user's turn
// that said yes; use uses it up.
func (k *consent) use(call *Call, userTurn int) bool {
	if !call.Confirm {
		return true
	}
	i := k.index(call.asked())
	if i < 0 || k.Calls[i].Yes == 0 || k.Calls[i].Yes != userTurn {
		return false
	}
	k.Calls = slices.Delete(slices.Clone(k.Calls), i, i+1)
	if len(k.Calls) == 0 {
		*k = consent{}
	}
	return true
}

// refuse ends a call that the user has not said yes to. Its result tells the model to ask
// the user.
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
	*k = consent{
		Calls: calls[max(0, len(calls)-c.opts.Limits.Calls):],
		Turn:  r.Turn, UserTurn: r.UserTurn, At: len(r.Text),
	}
}

// answered takes what the user said in a turn as the answer to the question. began is when
// the voice of the turn began.
func (k *consent) answered(e *ear, number int, text string, began time.Time) {
	calls := slices.DeleteFunc(slices.Clone(k.Calls), func(a asked) bool { return a.Yes != 0 })
	if len(calls) == 0 || !e.saidYes(text) {
		*k = consent{}
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

// corrected takes back the yes of a turn when the final transcript of the turn says
// something else.
func (k *consent) corrected(e *ear, number int, text string) {
	given := slices.ContainsFunc(k.Calls, func(a asked) bool { return a.Yes == number })
	if given && text != "" && !e.saidYes(text) {
		*k = consent{}
	}
}

// open notes that no turn asks the question now. The calls must be refused again before a
// yes counts.
func (k *consent) open() { *k = consent{Calls: k.Calls, Early: k.Early} }

// aside notes that the agent says something that does not answer the user. A yes after that
// may be meant for it, so an earlier question must be asked again.
func (s *State) aside() {
	s.Consent.open()
	if b := &s.ReadBack; b.Text != "" {
		*b = readBack{Text: b.Text, End: b.End}
	}
}

// asking reports whether a reply asks the user for consent.
func (k *consent) asking(r *reply) bool {
	return len(k.Calls) > 0 && k.Heard.IsZero() && r.Turn != 0 &&
		(r.Turn == k.Turn || r.UserTurn != 0 && r.UserTurn == k.UserTurn && r.Request != 0)
}

// heard notes that the question has been heard, if the reply that has been heard to its end
// asks it.
func (k *consent) heard(r *reply, now time.Time) {
	if !k.asking(r) || !r.Complete() {
		return
	}
	at := 0
	if r.Turn == k.Turn {
		at = min(k.At, len(r.Text))
	}
	if strings.TrimSpace(r.Text[at:]) != "" {
		k.Heard = now
	}
}

// asksLater notes that a reply is cut off and that its rest will be said later, if the reply
// asks for consent.
func (k *consent) asksLater(r *reply, rest string) {
	if rest != "" && k.asking(r) {
		k.Rest = true
	}
}

// asksAgain notes that the agent's turn says the rest of the question that was cut off, if
// there is one.
func (k *consent) asksAgain(turn int) {
	if k.Rest {
		k.Turn, k.At, k.Rest = turn, 0, false
	}
}
