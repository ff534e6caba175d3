package explore

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/conv"
	"github.com/hocketvoice/hocket/dialog"
	"github.com/hocketvoice/hocket/internal/timers"
	"github.com/hocketvoice/hocket/turn"
)

// This file explores questions whose confirmation triggers an irreversible action:
// those of a flow, and a model's calls that need consent.

// confirmedValue is the value that the flow reads back, askedFor the model's question.
const (
	confirmedValue = "Boston"
	askedFor       = "Shall I? "
)

// confirming compiles the agent with a confirmation before its action.
func confirming() *dialog.Agent {
	return changed("      - {step: run, type: action", "      - {step: sure, type: confirm, message: \"One moment please. To {destination}. Shall I?\"}\n      - {step: run, type: action")
}

// confirmConfigs returns the configurations with questions.
func confirmConfigs(o conv.Options, still []timers.Timer) []Config {
	flow, resumed, shaky, model, early := o, o, o, o, o
	flow.Agent = confirming()
	resumed.Agent, resumed.ResumeAfterFalseInterruption = flow.Agent, true
	shaky.Agent, shaky.DeadAir = flow.Agent, turn.DeadAirOptions{Steps: []turn.DeadAirStep{
		{After: 10 * time.Second, Code: "checkin.1"}, {After: 10 * time.Second, Code: "goodbye", End: true},
	}}
	early.Agent, early.Endpoint = flow.Agent, turn.PolicyAuto
	return []Config{
		{
			Name: "flows that ask first, and a yes that goes on", Options: early,
			Events: any_(beginning, confirmation, pausing), More: confirmFacts(), Still: still,
		},
		{
			Name: "flows that ask first", Options: flow,
			Events: any_(beginning, confirmation), More: confirmFacts(), Still: still,
		},
		{
			Name: "flows that ask first and go on behind a noise", Options: resumed,
			Events: any_(beginning, confirmation), More: confirmFacts(), Still: still,
		},
		{
			Name: "flows that ask first, silence and a bad line", Options: shaky,
			Events: any_(beginning, reading, setbacks), More: confirmFacts(), Still: still,
		},
		{
			Name: "tools that need a yes", Options: model,
			Events: any_(beginning, consent), More: consentFacts(), Still: still,
		},
	}
}

// confirmation selects the events around a question.
func confirmation(ev conv.Event) bool {
	switch e := ev.(type) {
	case conv.SpeechStarted:
		return e.Source == "vad"
	case conv.SpeechStopped:
		return true
	case conv.STTFinal:
		return e.Turn == 0 && e.Text != "mhm" && e.Text != "never mind"
	case conv.PlayoutStarted:
		return e.Turn == 0
	case conv.PlayoutProgress:
		return true // all of it was heard, or at most what precedes the value
	case conv.PlayoutFinished:
		return e.Turn == 0
	case conv.ToolDone:
		return e.ID == ""
	default:
		return false
	}
}

// pausing selects the ends of the user's turns.
func pausing(ev conv.Event) bool {
	e, ok := ev.(conv.TurnEnded)
	return ok && e.Turn == 0 && e.Cause != "manual"
}

// reading selects an exchange without noises that only the loss of the connection
// interrupts.
func reading(ev conv.Event) bool {
	switch e := ev.(type) {
	case conv.SpeechStarted, conv.SpeechStopped:
		return false
	case conv.STTFinal:
		return e.Turn == 0 && e.Text != "mhm" && e.Text != "never mind" && e.Text != ""
	default:
		return confirmation(ev)
	}
}

// confirmFacts returns the answers to the question. An hour is longer than any reply
// lasts.
func confirmFacts() []conv.Event {
	return []conv.Event{
		conv.STTFinal{Text: "boston"},
		conv.STTFinal{Text: "yes"},
		conv.STTFinal{Text: "no"},
		conv.UserText{Text: "yes"},
		conv.PlayoutProgress{Heard: time.Hour},
		conv.ToolDone{Output: "{}"},
	}
}

// consent selects the events around a model's question.
func consent(ev conv.Event) bool {
	switch e := ev.(type) {
	case conv.SpeechStarted:
		return e.Source == "vad"
	case conv.SpeechStopped:
		return true
	case conv.STTFinal:
		return e.Turn == 0 && e.Text != "mhm" && e.Text != "never mind"
	case conv.UserText:
		return e.Text == "yes"
	case conv.ReplyDelta:
		return e.Text == askedFor
	case conv.ReplyDone:
		return e.Turn == 0 && !e.Silent
	case conv.ToolCalled:
		return e.Confirm
	case conv.ToolDone:
		return e.ID == "a"
	case conv.PlayoutStarted:
		return e.Turn == 0
	case conv.PlayoutFinished:
		return e.Turn == 0
	default:
		return false
	}
}

func consentFacts() []conv.Event {
	return []conv.Event{
		conv.STTFinal{Text: "yes"},
		conv.UserText{Text: "yes"},
		conv.ReplyDelta{Text: askedFor},
		conv.ToolCalled{ID: "a", Name: "quick", Confirm: true},
	}
}

// The canonical times of voices and of what they must follow.
var (
	tooEarly  = past.Add(-2 * time.Hour)
	heardThen = past.Add(-time.Hour)
	lateThen  = past
)

// asks reports whether a confirmation is awaited that must follow a question.
func asks(st *conv.State) bool {
	return st.Dialogue.Confirmation != nil || len(st.Consent.Calls) > 0
}

// canonicalQuestion moves the beginning of each voice to one of two times: too early to
// answer the open question, or late enough. It must be called before the reply gets its
// canonical text and number. It returns the input of canonicalSaying.
func canonicalQuestion(st *conv.State) (q saying) {
	b, k, r := &st.ReadBack, &st.Consent, &st.Reply
	at := 0
	if k.Turn == r.Turn {
		at = min(k.At, len(r.Text))
	}
	voiced := max(at, len(r.Text)-len(r.Unsaid))
	q = saying{part: r.Part, some: strings.TrimSpace(r.Text[at:voiced]) != "", kept: strings.TrimSpace(r.Text[voiced:]) != ""}
	began := []*time.Time{&st.Floor.Voice, &st.User.Began, &st.Over.Began, &st.Reply.Began, &st.Conn.Unanswered.Began, &st.Pending.TypedAt}
	st.Floor.VoiceOf = 0
	if !asks(st) {
		for _, t := range began {
			*t = time.Time{}
		}
		if st.Floor.Speaking {
			st.Floor.Voice = tooEarly // too early for a question asked during it
		}
		reset(b)
		return q
	}
	heard := b.Heard
	if len(k.Calls) > 0 {
		heard = k.Heard
	}
	for _, t := range began {
		switch {
		case t.IsZero():
		case !heard.IsZero() && !t.Before(heard.Add(100*time.Millisecond)):
			*t = lateThen
		default:
			*t = tooEarly
		}
	}
	if !b.Heard.IsZero() {
		b.Heard = heardThen
	}
	if !k.Heard.IsZero() {
		k.Heard = heardThen
	}
	if b.Turn == 0 || b.Turn != st.Reply.Turn {
		b.Turn, b.Part, b.At, b.From = 0, 0, 0, 0
	}
	return q
}

// saying describes what a reply says about a question.
type saying struct {
	part int
	some bool // text after the call that was put back was passed to the voice
	kept bool // text after that call is not yet passed to the voice
}

// canonicalSaying reduces a reply with a question to the question. It must be called
// after the reply has its canonical text and number.
func canonicalSaying(st *conv.State, q saying) {
	b, k, r := &st.ReadBack, &st.Consent, &st.Reply
	if b.Turn != 0 {
		r.Text, b.At, b.Turn = b.Text[b.From:], 0, r.Turn
		r.Unsaid = presence(r.Unsaid, r.Text)
		b.Part += r.Part - q.part
		st.Playout.At = epoch // sound not reported as heard was not heard
	}
	if len(k.Calls) > 0 {
		k.At = 0
		switch {
		case q.some || r.Turn == 0:
		case q.kept:
			r.Unsaid = r.Text
		default:
			r.Text, r.Unsaid = "", ""
		}
		if k.Turn > 0 && k.Turn != r.Turn {
			k.Turn = oldTurn
		}
	}
}

// question appends what the answer to an open question depends on.
func (k *key) question(st *conv.State, m *monitor) {
	if !asks(st) {
		return
	}
	b, c := &st.ReadBack, &st.Consent
	k.text(b.Text)
	k.num(b.Done)
	k.num(b.From)
	k.num(b.Part)
	k.flags(b.Turn != 0, !b.Heard.IsZero(), !c.Heard.IsZero(), c.Early, c.Rest)
	k.num(c.Turn)
	k.num(c.UserTurn)
	k.num(len(c.Calls))
	for _, call := range c.Calls {
		k.text(call.Name)
		k.num(call.Yes)
	}
	k.flags(st.Reply.Text != "", st.Reply.Unsaid == st.Reply.Text)
	for _, t := range []time.Time{st.Floor.Voice, st.User.Began, st.Over.Began, st.Reply.Began, st.Conn.Unanswered.Began, st.Pending.TypedAt} {
		k.flags(t.IsZero(), t.Equal(lateThen))
	}
	if q := st.Dialogue.Confirmation; q != nil {
		k.flags(q.Asked, q.Early)
		k.text(q.Tail)
		k.text(q.Unheard)
	}
	k.text(st.User.Text)
	k.text(st.User.Partial)
	k.text(st.Conn.Unanswered.Text)
	k.flags(m.asked.said, m.asked.heard, m.asked.voice, m.asked.late, m.asked.yes, m.asked.typed)
}

// asked is what the monitor remembers of a question.
type asked struct {
	said  bool // it is being spoken
	heard bool // its value, or all of it, was heard
	voice bool // the user is speaking, or the words are awaited
	late  bool // that speech began after the question was heard
	yes   bool // the last words were a confirmation that began after it
	typed bool // a confirmation was typed after it
}

// checkAsked checks that an irreversible action is only run after a confirmation that
// began when the question had been heard. It reads effects and events, and not the
// machine's own conclusions.
func (s *stepped) checkAsked(q asked) (asked, error) {
	if s.out.Late || s.out.Deferred {
		return q, nil
	}
	if asks(s.before) {
		q = s.answered(q)
	}
	q, ran, err := s.acted(q)
	if err != nil {
		return q, err
	}
	if e, ok := s.event.(conv.ToolCalled); ok && e.Confirm && !ran && !s.open(e.ID) {
		q = asked{voice: q.voice} // the call is put back, and the question is asked again
	}
	if s.speechOver() && !s.after.Floor.Speaking {
		q.voice, q.late = false, false
	}
	if !asks(s.after) {
		return asked{}, nil
	}
	if !asks(s.before) && s.after.Floor.Speaking {
		q.voice, q.late = true, false
	}
	return q, nil
}

// acted updates q with what the machine says, and checks what it runs. ran reports whether the
// step runs a tool.
func (s *stepped) acted(q asked) (_ asked, ran bool, err error) {
	for _, e := range s.out.Effects {
		switch e := e.(type) {
		case conv.RunTool:
			ran = true
			if (e.Name == "book" && s.before.Dialogue.Confirmation != nil || s.needsYes(e.ID)) && !q.yes && !q.typed {
				return q, ran, errors.New("what cannot be undone runs without a yes to what was heard")
			}
			if e.Name == "book" && s.before.Dialogue.Confirmation != nil && s.endpoint == turn.PolicyAuto && s.after.Floor.Speaking && !q.typed {
				return q, ran, errors.New("what cannot be undone runs while the user goes on after a yes")
			}
		case conv.FlushPlayout:
			q.said = q.said && e.Part != 0 && e.Part < s.before.Reply.Part
		case conv.Speak:
			switch {
			case e.Code != "":
				q = asked{voice: q.voice} // the engine asks a question, which comes last
			case strings.Contains(e.Text, confirmedValue):
				q = asked{said: true, voice: q.voice}
			case len(s.after.Consent.Calls) > 0:
				q.said, q.heard = true, false
			}
		default:
			// The effect neither says nor runs anything.
		}
	}
	return q, ran, nil
}

// speechOver reports whether the step ends the user's turn, or loses the connection over which
// the speech would come.
func (s *stepped) speechOver() bool {
	over := s.after.Phase == conv.Reconnecting
	for _, e := range s.out.Turns {
		over = over || e.Role == conv.RoleUser && e.Type != conv.TurnStarted
	}
	return over
}

// answered updates q with what the user and the playout do while a question is open.
func (s *stepped) answered(q asked) asked {
	p := &s.before.Playout
	switch e := s.event.(type) {
	case conv.PlayoutProgress:
		q.heard = q.heard || q.said && e.Heard == time.Hour
	case conv.PlayoutFinished:
		if q.said && p.Playing && p.Part >= s.before.Reply.Part {
			q.said, q.heard = false, true
		}
	case conv.SpeechStarted:
		if !s.before.Floor.Speaking {
			q.voice, q.late = true, q.heard
		}
	case conv.STTFinal:
		early := s.endpoint == turn.PolicyAuto
		if f := &s.before.Floor; e.Text != "" && (!early || f.Tail == 0 || f.Speaking) { // else it corrects an earlier turn
			// A confirmation that is too early for another question does not cancel
			// this one.
			late := q.yes || q.voice && q.late || !q.voice && q.heard
			// "Yes, book a flight" and "yes, Boston" add nothing to the yes.
			goesOn := early && (e.Text == "book a flight" || e.Text == "boston")
			q.yes = affirms(e.Text) && late || goesOn && q.yes
		}
	case conv.UserText:
		q.typed = q.typed || affirms(e.Text) && q.heard
	default:
		// Nothing was said or heard.
	}
	return q
}

// affirms reports whether a text of the alphabet is an unconditional yes.
func affirms(text string) bool { return text == "yes" || text == "mhm" }

// needsYes reports whether a call needs a confirmation.
func (s *stepped) needsYes(id string) bool {
	for i := range s.after.Calls {
		if c := &s.after.Calls[i]; c.ID == id {
			return c.Confirm
		}
	}
	return false
}

// open reports whether a call waits or runs.
func (s *stepped) open(id string) bool {
	return slices.ContainsFunc(s.after.Calls, func(c conv.Call) bool { return c.ID == id })
}
