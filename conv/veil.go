package conv

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/dialog"
)

// Veil steps a conversation and returns the part of each step that may be shown. If the agent
// has secret slots, that part contains no value of a secret and no words that may contain one
// (docs/flows.md, Secrets). Only the code that carries out the effects sees the secrets. A Veil
// is not safe for concurrent use.
//
// The shown part comes from a second conversation. It takes the events with the secrets hidden,
// and its state is that of the first conversation with the secrets hidden. If a step depends on
// a secret, the second conversation cannot reach that state by its own step; it is then set to
// the state ([Shown.After]). So a reader without the secrets can replay the second conversation
// bit for bit.
type Veil struct {
	c       *Conversation
	shown   *Conversation // nil while there was nothing to hide
	secrets mask
	words   []string // the user's words that may contain a secret and may still be in the state
	said    []string // all words of the user so far that may contain a secret
}

// Shown is the part of a step that may be shown.
type Shown struct {
	Event Event // the event with the secrets hidden
	// Conversation is the shown conversation after the step, for its Last and State. It is
	// valid until the next step.
	Conversation *Conversation
	// After is a snapshot of Conversation if the step depends on a secret, and else nil. A
	// replay passes it to [Conversation.Recall] in place of the step.
	After []byte
}

// NewVeil returns a veil for a conversation in any state. From then on only the veil may step
// the conversation. An error means that the state cannot be shown.
func NewVeil(c *Conversation) (*Veil, error) {
	v := &Veil{c: c}
	if !v.hides() {
		return v, nil
	}
	v.secrets.Learn(c.opts.Agent, &c.st.Dialogue)
	if c.st.Expect.Secret || !v.secrets.None() {
		for _, p := range c.st.userWords() {
			v.hush(*p)
		}
	}
	if v.secrets.None() && len(v.words) == 0 {
		return v, nil
	}
	_, err := v.show(Shown{})
	return v, err
}

// hides reports whether the agent has secret slots.
func (v *Veil) hides() bool { return v.c.opts.Agent != nil && v.c.opts.Agent.HasSecrets() }

// ForgetSecrets empties the secret slots of the dialogue, for a shown conversation that
// continues without the secrets. The agent asks for them again.
func (c *Conversation) ForgetSecrets() {
	if c.opts.Agent != nil && c.opts.Agent.HasSecrets() {
		c.opts.Agent.Forget(&c.st.Dialogue)
	}
}

// Shown returns the conversation that may be shown. It is valid until the next Step.
func (v *Veil) Shown() *Conversation {
	if v.shown != nil {
		return v.shown
	}
	return v.c
}

// Wake calls [Conversation.Wake] for the conversation and for the one that may be shown.
func (v *Veil) Wake(now time.Time) {
	v.c.Wake(now)
	if v.shown != nil {
		v.shown.Wake(now)
	}
}

// Step calls [Conversation.Step] and returns the part of the step that may be shown. The effects
// that the caller must carry out are those of [Conversation.Last] of the conversation itself.
func (v *Veil) Step(now time.Time, ev Event) (Shown, error) {
	if !v.hides() {
		v.c.Step(now, ev)
		return Shown{Event: ev, Conversation: v.c}, nil
	}
	quiet := v.hear(now, ev)
	v.learnResult(ev)
	v.c.Step(now, ev)
	if e, ok := ev.(UserText); ok && !quiet && v.waits(e.Text) {
		v.hush(e.Text) // it may be the answer to a question for a secret
		quiet = true
	}
	v.secrets.Learn(v.c.opts.Agent, &v.c.st.Dialogue)
	if v.secrets.None() && len(v.words) == 0 && v.shown == nil {
		return Shown{Event: ev, Conversation: v.c}, nil
	}
	return v.show(Shown{Event: v.event(ev, quiet)})
}

// hear reports whether the words in an event must be hidden, and notes them. It must be called
// before the conversation takes the event.
func (v *Veil) hear(now time.Time, ev Event) bool {
	st := &v.c.st
	var text, before string
	var partial bool
	switch e := ev.(type) {
	case STTPartial:
		text, partial, before = e.Text, true, st.User.Text
	case STTFinal:
		text, before = e.Text, st.User.Text
	case UserText:
		text = e.Text
	default:
		return false
	}
	if text == "" {
		return false
	}
	agent := v.c.opts.Agent
	if !st.Expect.Secret && !agent.TellsSecret(&st.Dialogue, now, text, partial) &&
		(before == "" || !agent.TellsSecret(&st.Dialogue, now, joinWords(before, text), partial)) {
		return false
	}
	v.hush(text)
	return true
}

// learnResult adds the secrets that the result of an action is: its step may empty their slots. It
// must be called before the conversation takes the event.
func (v *Veil) learnResult(ev Event) {
	var id, output string
	var long bool
	switch e := ev.(type) {
	case ToolDone:
		id, output = e.ID, e.Output
	case TaskDone:
		id, output, long = e.ID, e.Output, true
	default:
		return
	}
	if i := v.c.st.Calls.find(id, long); i >= 0 && v.c.st.Calls[i].Action() {
		call := &v.c.st.Calls[i]
		v.secrets.LearnCall(v.c.opts.Agent, call.Name, call.Arguments, output)
	}
}

// waits reports whether a typed line waits to be read.
func (v *Veil) waits(text string) bool {
	return slices.ContainsFunc(v.c.st.Pending.Texts, func(t string) bool { return squeeze(t) == squeeze(text) })
}

// hush notes words that must be hidden.
func (v *Veil) hush(text string) {
	if text = squeeze(text); text == "" {
		return
	}
	if !slices.Contains(v.words, text) {
		v.words = append(v.words, text)
	}
	if !slices.Contains(v.said, text) {
		v.said = append(v.said, text)
	}
}

// event returns an event with the secrets hidden. quiet says that the user's words in it must be
// hidden.
func (v *Veil) event(ev Event, quiet bool) Event {
	model := func(text string) string { // a delta may contain a part of a value
		if len(v.words) > 0 && text != "" {
			return dialog.Hidden
		}
		return text
	}
	switch e := ev.(type) {
	case STTPartial:
		e.Text = v.unless(quiet, e.Text)
		return e
	case STTFinal:
		e.Text = v.unless(quiet, e.Text)
		return e
	case UserText:
		e.Text = v.unless(quiet, e.Text)
		return e
	case ReplyDelta:
		e.Text = v.unless(false, model(e.Text))
		return e
	case ReplyDone:
		e.Text = v.unless(false, model(e.Text))
		return e
	default:
		return v.secrets.event(ev)
	}
}

// unless returns [dialog.Hidden] if hidden is set, and else the text with the secrets hidden.
func (v *Veil) unless(hidden bool, text string) string {
	if hidden {
		return dialog.Hidden
	}
	return v.secrets.Text(text)
}

// show brings the shown conversation to the state that it must have after a step, and returns s
// with Conversation and After set.
func (v *Veil) show(s Shown) (Shown, error) {
	out := v.output()
	if v.shown != nil && s.Event != nil {
		v.shown.Step(v.c.st.Now, s.Event)
		// The states are compared only after a step that changes something to store. Most steps
		// do not: they are partial transcripts and reports of the playout.
		if same := v.shown.out.equal(out); same && !out.Keep && len(out.Effects) == 0 {
			s.Conversation = v.shown
			return s, nil
		} else if same {
			now, err := v.shown.st.snapshot()
			if err != nil {
				return s, err
			}
			want, err := v.snapshot()
			if err != nil {
				return s, err
			}
			if bytes.Equal(now, want) {
				s.Conversation = v.shown
				v.forget()
				return s, nil
			}
		}
	}
	b, err := v.snapshot()
	if err != nil {
		return s, err
	}
	c, err := Restore(v.c.opts, b)
	if err != nil {
		return s, fmt.Errorf("hide secrets: %w", err)
	}
	c.out, v.shown = out, c
	s.Conversation, s.After = c, b
	v.forget()
	return s, nil
}

// snapshot returns a snapshot of the state with the secrets hidden.
func (v *Veil) snapshot() ([]byte, error) {
	st := v.state()
	return st.snapshot()
}

// forget removes the words that are no longer in the state.
func (v *Veil) forget() {
	st := &v.c.st
	if st.Reply.Turn != 0 {
		return // a model may still repeat the words
	}
	words := st.userWords()
	v.words = slices.DeleteFunc(v.words, func(text string) bool {
		return !slices.ContainsFunc(words, func(p *string) bool { return within(*p, text) }) &&
			!slices.ContainsFunc(st.Suspended.Facts, func(ev Event) bool { return within(wordsOf(ev), text) })
	})
}

// state returns the state with the secrets hidden.
func (v *Veil) state() State {
	st := v.c.st.clone()
	st.Dialogue = v.c.opts.Agent.Masked(st.Dialogue)
	for i := range st.Calls {
		st.Calls[i].Arguments = st.Calls[i].shown()
	}
	for _, p := range st.userWords() {
		if v.heard(*p, v.words) {
			*p = dialog.Hidden
		}
	}
	for i := range st.History {
		if it := &st.History[i]; it.Role == RoleUser && v.heard(it.Text, v.said) {
			it.Text = dialog.Hidden
		}
	}
	v.quiet(&st.Dialogue)
	for i, fact := range st.Suspended.Facts {
		st.Suspended.Facts[i] = v.event(fact, v.heard(wordsOf(fact), v.said))
	}
	r := &st.Reply
	if len(v.words) > 0 && (r.Request != 0 || r.Before != 0) {
		for _, p := range []*string{&r.Text, &r.Unsaid, &r.Advice} {
			if *p != "" {
				*p = dialog.Hidden
			}
		}
	}
	v.secrets.conceal(&st)
	v.fit(&st)
	return st
}

// fit limits the offsets into texts that are shorter than those of the conversation, because they
// are hidden.
func (v *Veil) fit(st *State) {
	r := &st.Reply
	if r.Text != v.c.st.Reply.Text {
		r.Sealed = min(r.Sealed, len(r.Text))
		if len(r.Unsaid) > len(r.Text) {
			r.Unsaid = r.Text
		}
	}
	if b := &st.ReadBack; b.Text != v.c.st.ReadBack.Text {
		n := len(b.Text)
		b.End, b.Done, b.From = min(b.End, n), min(b.Done, n), min(b.From, n)
	}
}

// quiet hides the user's words in the records of the dialogue. The dialogue itself hides only
// words that it took as the value of a secret.
func (v *Veil) quiet(d *dialog.State) {
	for i := range d.Messages {
		if m := &d.Messages[i]; m.Role == "user" && v.heard(m.Content, v.said) {
			m.Content = dialog.Hidden
		}
	}
	for i := range d.Trace {
		t := &d.Trace[i].Data
		if v.heard(t.Detail, v.said) {
			t.Detail = dialog.Hidden
		}
		if text, ok := t.Value.(string); ok && v.heard(text, v.said) {
			t.Value = dialog.Hidden
		}
	}
	if d.Cache != nil && v.heard(d.Cache.Text, v.said) {
		d.Cache = nil
	}
}

// heard reports whether a text contains any of the words.
func (*Veil) heard(text string, words []string) bool {
	return text != "" && slices.ContainsFunc(words, func(w string) bool { return within(text, w) })
}

// within reports whether a text contains words, whole and in their order.
func within(text, words string) bool { return strings.Contains(" "+squeeze(text)+" ", " "+words+" ") }

// wordsOf returns the user's words in an event.
func wordsOf(ev Event) string {
	switch e := ev.(type) {
	case STTPartial:
		return squeeze(e.Text)
	case STTFinal:
		return squeeze(e.Text)
	case UserText:
		return squeeze(e.Text)
	default:
		return ""
	}
}

// userWords returns the fields of the state, apart from the history, that contain the user's
// words.
func (s *State) userWords() []*string {
	list := []*string{
		&s.User.Text, &s.User.Partial, &s.Over.Text, &s.Over.Partial, &s.Reply.Asked, &s.Conn.Unanswered.Text, &s.Dialogue.Pending,
	}
	for i := range s.Pending.Texts {
		list = append(list, &s.Pending.Texts[i])
	}
	return slices.DeleteFunc(list, func(p *string) bool { return *p == "" })
}

// output returns the output of the last step with the secrets hidden.
func (v *Veil) output() Output {
	out := v.c.out
	out.Effects = make([]Effect, len(v.c.out.Effects))
	for i, e := range v.c.out.Effects {
		switch x := e.(type) {
		case RunTool:
			x.Arguments = v.arguments(x.ID, x.Arguments)
			e = x
		case StartTask:
			x.Arguments = v.arguments(x.ID, x.Arguments)
			e = x
		case RequestReply:
			if v.heard(x.Text, v.words) {
				x.Text = dialog.Hidden
			}
			x.Context = nil
			e = x
		case Speak:
			if r := &v.c.st.Reply; len(v.words) > 0 && x.Code == "" && (r.Request != 0 || r.Before != 0) && r.Turn == x.Turn {
				x.Text = dialog.Hidden // a model's answer to hidden words may repeat them
			}
			e = x
		default:
		}
		out.Effects[i] = v.secrets.effect(e)
	}
	out.Transitions, out.Turns = slices.Clone(out.Transitions), slices.Clone(out.Turns)
	return out
}

// arguments returns the arguments of a call with its secrets hidden.
func (v *Veil) arguments(id, arguments string) string {
	for i := range v.c.st.Calls {
		if call := &v.c.st.Calls[i]; call.ID == id && call.Arguments == arguments {
			return call.shown()
		}
	}
	return arguments
}

// equal reports whether two outputs are equal. It ignores Keep.
func (out *Output) equal(other Output) bool {
	if out.Late != other.Late || out.Deferred != other.Deferred || len(out.Effects) != len(other.Effects) ||
		!slices.Equal(out.Transitions, other.Transitions) || !slices.Equal(out.Turns, other.Turns) {
		return false
	}
	for i := range out.Effects {
		if !sameEffect(out.Effects[i], other.Effects[i]) {
			return false
		}
	}
	return true
}
