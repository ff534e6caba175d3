package conv

import (
	"github.com/hocketvoice/hocket/dialog"
)

// This file: the fields of events, effects and the state that may contain a secret. Ids,
// names and codes do not.

// mask hides the secrets that are known so far.
type mask struct{ dialog.Secrets }

// hide hides the secrets in each text.
func (k *mask) hide(texts ...*string) {
	for _, p := range texts {
		*p = k.Text(*p)
	}
}

// event returns an event without secrets.
func (k *mask) event(ev Event) Event {
	switch e := ev.(type) {
	case UserStop:
		e.Reason = k.Text(e.Reason)
		return e
	case STTPartial:
		e.Text = k.Text(e.Text)
		return e
	case STTFinal:
		e.Text = k.Text(e.Text)
		return e
	case UserText:
		e.Text = k.Text(e.Text)
		return e
	case ReplyDelta:
		e.Text = k.Text(e.Text)
		return e
	case ReplyDone:
		e.Text = k.Text(e.Text)
		return e
	case ReplyFailed:
		e.Message = k.Text(e.Message)
		return e
	case ToolCalled:
		e.Arguments = k.Text(e.Arguments)
		return e
	case ToolDone:
		e.Output = k.Text(e.Output)
		return e
	case ToolFailed:
		k.hide(&e.Message, &e.Output)
		return e
	case TaskProgress:
		e.Text = k.Text(e.Text)
		return e
	case TaskDone:
		e.Output = k.Text(e.Output)
		return e
	case TaskFailed:
		k.hide(&e.Message, &e.Output)
		return e
	case TaskAdopted:
		e.Arguments = k.Text(e.Arguments)
		return e
	case Summarized:
		e.Text = k.Text(e.Text)
		return e
	case PlayoutProgress:
		e.Text = k.Text(e.Text)
		return e
	case PlayoutFinished:
		e.Text = k.Text(e.Text)
		return e
	case PlayoutFlushed:
		e.Text = k.Text(e.Text)
		return e
	case PlayoutFailed:
		e.Message = k.Text(e.Message)
		return e
	case Fault:
		e.Message = k.Text(e.Message)
		return e
	default:
		return ev
	}
}

// effect returns an effect without secrets.
func (k *mask) effect(e Effect) Effect {
	switch x := e.(type) {
	case RequestReply:
		x.Text, x.Context = k.Text(x.Text), nil
		return x
	case Speak:
		x.Text = k.Text(x.Text)
		return x
	case RunTool:
		x.Arguments = k.Text(x.Arguments)
		return x
	case StartTask:
		x.Arguments = k.Text(x.Arguments)
		return x
	case SaveContext:
		x.Reason = k.Text(x.Reason)
		return x
	case Release:
		x.Reason = k.Text(x.Reason)
		return x
	case Cue:
		x.Text = k.Text(x.Text)
		return x
	default:
		return e
	}
}

// conceal hides the secrets in a state, which must be a copy.
func (k *mask) conceal(s *State) {
	k.hide(s.userWords()...)
	r := &s.Reply
	k.hide(&r.Text, &r.Unsaid, &r.Advice, &s.Playout.Text, &s.ReadBack.Text, &s.Summary.Text, &s.Said, &s.Pending.Resume)
	for i := range s.Consent.Calls {
		k.hide(&s.Consent.Calls[i].Arguments)
	}
	for i := range s.Calls {
		k.hide(&s.Calls[i].Arguments)
	}
	for _, list := range [...][]string{s.Pending.Tell, s.Pending.Telling} {
		for i := range list {
			k.hide(&list[i])
		}
	}
	for i := range s.Pending.Follow {
		s.Pending.Follow[i] = k.Output(s.Pending.Follow[i])
	}
	for i := range s.History {
		it := &s.History[i]
		k.hide(&it.Text, &it.Full, &it.Arguments)
	}
	for i, fact := range s.Suspended.Facts {
		s.Suspended.Facts[i] = k.event(fact)
	}
	k.State(&s.Dialogue)
}

// sameEffect reports whether two effects are the same, but for the context of a request:
// that is of the history, which is held against the other by itself.
func sameEffect(a, b Effect) bool {
	switch x := a.(type) {
	case Expect:
		y, ok := b.(Expect)
		return ok && x.Expect.Equal(y.Expect)
	case RequestReply:
		y, ok := b.(RequestReply)
		if !ok {
			return false
		}
		x.Context, y.Context = nil, nil
		return x == y
	default:
		return a == b
	}
}
