package dialog

import "strings"

// This file: what a question to confirm is about, and the yes that came before it had
// been heard.

// asksToConfirm says where in what is said the question stands, and its last value.
func (t *turn) asksToConfirm() {
	c := t.st.Confirmation
	if c == nil {
		return
	}
	c.Asked, c.Tail = t.confirms > 0 && t.confirms <= len(t.out.Say) && t.st.ConversationState == Confirming, ""
	if !c.Asked {
		return
	}
	from := t.confirms
	if t.valued > 0 {
		from, c.Tail = min(from, t.valued), strings.TrimSpace(t.tail)
	}
	t.out.Confirm = &Question{Text: joinLines(t.out.Say[from-1:]), Tail: c.Tail}
}

// askEarly asks once more for a yes that came before the values had been heard: what
// is missing of the question is said again.
func (t *turn) askEarly() {
	c := t.st.Confirmation
	t.trace("confirmed_early", TraceData{Step: c.Step})
	t.st.Misses = 0
	switch {
	case c.Unheard == "":
		t.phrase("confirm_early")
	case strings.HasSuffix(c.Unheard, c.Tail) && c.Tail != "":
		t.confirms = len(t.out.Say) + 1
		t.sayValues(c.Unheard, len(c.Tail), true)
	default:
		t.confirms = len(t.out.Say) + 1
		t.sayText(c.Unheard, true)
	}
	t.readBack = true
	c.Early, c.Unheard = false, ""
	if !t.failed {
		t.enter(Confirming)
	}
}
