package conv

import (
	"github.com/hocketvoice/hocket/dialog"
)

// This file hides secrets in the fields of the state that may contain one. The tables of
// events and effects do so for theirs. Ids, names and codes contain no secret.

// mask hides the secrets that are known so far.
type mask struct {
	dialog.Secrets
	x exchange // visits the texts of an event; a field, so that it is allocated once
}

// hide hides the secrets in each text.
func (k *mask) hide(texts ...*string) {
	for _, p := range texts {
		*p = k.Text(*p)
	}
}

// event returns an event with the secrets hidden.
func (k *mask) event(ev Event) Event {
	k.x.mode, k.x.hide = hiding, k
	return describe(ev).exchange(&k.x, ev)
}

// effect returns an effect with the secrets hidden.
func (k *mask) effect(e Effect) Effect {
	if hide := works[e.effect()].hide; hide != nil {
		return hide(k, e)
	}
	return e
}

// conceal hides the secrets in s, which must be a copy of the machine's state.
func (k *mask) conceal(s *State) {
	k.hide(s.userWords()...)
	r := &s.Reply
	k.hide(&r.Text, &r.Unsaid, &r.Advice, &s.Playout.Text, &s.ReadBack.Text, &s.Summary.Text, &s.Said, &s.Going.Text)
	for i := range s.Consent.Calls {
		k.hide(&s.Consent.Calls[i].Arguments)
	}
	s.Context = k.hideContext(s.Context)
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

// sameEffect reports whether two effects are equal. It ignores the context of a request, which
// is a part of the history: the caller compares the histories.
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
