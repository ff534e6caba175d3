package dialog

import (
	"slices"
	"strings"
	"time"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
	turntaking "github.com/hocketvoice/hocket/turn" // turn is an input of the dialogue here
)

// This file reads the user's words while they are being said, and tells whether the answer
// is complete. The end of the turn depends on it.

// Completeness reads the words that the user has said so far in the current turn. The state
// does not change. It takes some microseconds, so that it can be called for each partial
// transcript.
func (a *Agent) Completeness(st *State, now time.Time, words string) turntaking.Completeness {
	c := st.Clone() // a rule that fails would put it into the error state
	c.init()
	t := a.turn(&c, now)
	t.read(words)
	if len(t.rd.Toks) == 0 {
		return turntaking.Undecided
	}
	open := unfinished(a.def.Lang, t.rd.Toks)
	switch c.ConversationState {
	case Confirming:
		// A no is often followed by a correction.
		if a.def.Lang.YesOrNo(t.rd.Toks) == value.Yes && open == turntaking.Undecided {
			return turntaking.Complete
		}
	case WaitingForSlot:
		s := a.def.SlotIndex[c.WaitingForSlot]
		if s == nil || t.flow == nil || open == turntaking.Incomplete && !spelled(s) { // "a" is a letter of a code
			break
		}
		if found := t.answers(s); found != turntaking.Undecided {
			return found
		}
	case Idle, Understanding, ValidatingSlot, ExecutingAction, Completed, Error:
	}
	return open
}

// unfinished returns Incomplete for words that end in the middle of a sentence.
func unfinished(l *value.Language, toks []value.Token) turntaking.Completeness {
	if l.Unfinished.EndsAt(toks, len(toks)) > 0 {
		return turntaking.Incomplete
	}
	return turntaking.Undecided
}

// answers reads the words as an answer for the awaited slot.
func (t *turn) answers(s *agent.Slot) turntaking.Completeness {
	if answer := t.a.def.Lang.YesOrNo(t.rd.Toks); t.st.Suggested != nil && answer == value.Yes {
		return turntaking.Complete
	}
	if s.Closed() && t.begunName(s) {
		if _, sure, _ := t.heard().Simple(s); sure == value.Certain {
			return turntaking.Undecided // "New York", which may become "New York City"
		}
		return turntaking.Incomplete
	}
	v, sure, direct := t.heard().Simple(s)
	if !direct || sure != value.Certain || s.AnyWords() {
		return turntaking.Undecided
	}
	_, err := t.accept(s, t.collectStep(s), v)
	switch {
	case t.failed:
		return turntaking.Undecided
	case err != nil:
		return t.begun(s, v)
	case t.extends(s, v):
		return turntaking.Undecided
	}
	return turntaking.Complete
}

// begun returns Incomplete for a value that the slot refuses because characters of it are
// missing.
func (t *turn) begun(s *agent.Slot, v any) turntaking.Completeness {
	if checked(s) || spelled(s) && value.Length(v) < s.Length[0] {
		return turntaking.Incomplete
	}
	return turntaking.Undecided
}

// spelled reports whether values of the slot are said character by character.
func spelled(s *agent.Slot) bool {
	return s.Type == value.TypeDigits || s.Type == value.TypeCode || s.Type == value.TypePhone
}

// checked reports whether the slot's values have check digits that end them.
func checked(s *agent.Slot) bool {
	return slices.ContainsFunc(s.Validators, func(v agent.NamedValidator) bool { return v.Name == "iban" })
}

// extends reports whether the user can go on so that the words have another value than v for the
// slot: "ten" may become "ten thirty". A year after a day and a month does not count, because
// hardly anybody pauses before it.
func (t *turn) extends(s *agent.Slot, v any) bool {
	if s.Closed() || s.Type == value.TypeBoolean || checked(s) {
		return false
	}
	more := t.a.def.Lang.Data.Continuations[continued(s)]
	if len(more) == 0 || spelled(s) && s.Length[1] == 0 {
		return true // nothing is known about its end
	}
	raw := t.rd.Raw
	return slices.ContainsFunc(more, func(words string) bool {
		t.read(raw + " " + words)
		longer, sure := t.rd.Answer(&s.Spec)
		return sure == value.Certain && !value.Equal(longer, v) && s.Within(value.Canonical(longer)) == nil
	})
}

// continued returns the key of the words that may follow a value of the slot, in
// value.Language.
func continued(s *agent.Slot) string {
	switch s.Type {
	case value.TypeInteger:
		return "integer"
	case value.TypeDigits, value.TypePhone:
		return "digits"
	case value.TypeCode:
		return "code"
	case value.TypeDate:
		return "date"
	case value.TypeTime:
		return "time"
	default:
		return ""
	}
}

// begunName reports whether the words end with the first words of a name of several words.
func (t *turn) begunName(s *agent.Slot) bool {
	begins := t.a.begins[s]
	if len(begins) == 0 {
		return false
	}
	toks := t.rd.Toks
	var key string
	for i := len(toks) - 1; i >= max(0, len(toks)-maxNameWords); i-- {
		key = strings.TrimSuffix(toks[i].Text+" "+key, " ")
		if begins[key] {
			return true
		}
	}
	return false
}

// maxNameWords limits how many words of a name are compared.
const maxNameWords = 4

// nameBegins returns the first words of the names of several words that a slot has, folded.
func nameBegins(s *agent.Slot) map[string]bool {
	var out map[string]bool
	add := func(name string) {
		for i, c := range name {
			if c == ' ' && strings.Count(name[:i], " ") < maxNameWords {
				if out == nil {
					out = make(map[string]bool)
				}
				out[name[:i]] = true
			}
		}
	}
	for _, v := range s.Values {
		add(value.FoldText(v.Value))
		for _, o := range v.Synonyms {
			add(value.FoldText(o))
		}
	}
	return out
}
