package dialog

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file: ways back, after errors and after what was not understood.

// answerError takes a message after an error: retry, cancel, help, or anything
// else that may set things right.
func (t *turn) answerError() {
	l := t.a.def.Lang
	core := l.Trim(t.rd.Toks)
	if len(core) == 0 {
		core = t.rd.Toks
	}
	if id, ok := l.Commands.Whole(core); ok && value.CommandWords[id] == "cancel" {
		t.answer(agent.PatternCancel, about{"failed": true})
		return
	}
	t.enter(Understanding)
	if _, ok := l.CommandSets["retry"].Whole(core); ok {
		t.retry()
		return
	}
	if _, ok := l.CommandSets["retry"].Whole(t.rd.Toks); ok {
		t.retry()
		return
	}
	t.understand()
}

// retry goes on where the error stopped the flow.
func (t *turn) retry() {
	st := t.st
	st.Misses = 0
	if t.flow == nil {
		t.enter(Idle)
		t.phrase("what_to_do")
		return
	}
	if p := st.Action; p != nil && p.Failed {
		p.Failed = false
		p.Attempt++
		p.ID = p.Key + "#" + strconv.Itoa(p.Attempt)
		t.startAction()
		return
	}
	if st.Confirmation != nil {
		if s := t.step(); s != nil {
			t.askConfirmation(s)
			return
		}
	}
	t.advance()
}

// back returns to where the dialogue was before a message that changed nothing.
func (t *turn) back() {
	if t.failed || t.st.ConversationState != Understanding {
		return
	}
	switch {
	case t.before == Error:
		t.enter(Error)
	case t.unasked():
		t.advance()
	case t.flow == nil:
		t.enter(Idle)
	case t.st.Confirmation != nil:
		t.enter(Confirming)
	default:
		t.enter(WaitingForSlot)
	}
}

// notUnderstood is what happens when a message means nothing here: say so, then
// offer what could be said, and at last hand over to a person.
func (t *turn) notUnderstood() {
	st := t.st
	if t.a.def.Settings.Model.Answers && len(t.rd.Toks) > 0 && t.before != Error && st.Confirmation == nil {
		t.askModel()
		return
	}
	st.Misses++
	t.trace("not_understood", TraceData{})
	if t.giveUp() {
		t.back()
		return
	}
	if st.Confirmation != nil && t.before != Error && t.heard().Hedged() {
		t.phrase("confirm_as_it_is")
		t.again()
		t.back()
		return
	}
	if s := t.a.def.SlotIndex[st.WaitingForSlot]; t.flow != nil && t.before == WaitingForSlot && (t.askDay(s) || t.askAmount(s) || t.askOther(s)) {
		t.back()
		return
	}
	t.cannotHandle("not_understood")
}

// cannotHandle says that nothing can be done with a message, and asks again.
func (t *turn) cannotHandle(reason string) {
	t.answer(agent.PatternCannotHandle, about{"reason": reason, "at": t.at(), "misses": int64(t.st.Misses)})
}

// notCaught is what happens with words that the recognizer doubts: nothing in
// them is acted upon, be it a value, a command, a yes or no, or a wish. The
// value of the awaited slot is asked about ("Did you mean Boston?"); else the
// question is asked again, and it counts as not understood. No model is asked
// either: it would make sense of anything.
func (t *turn) notCaught(m Message) {
	st := t.st
	t.trace("low_confidence", TraceData{Detail: strconv.FormatFloat(m.Confidence, 'f', 2, 64)})
	if t.doubt() {
		return
	}
	t.before = t.resting()
	if st.ConversationState == Completed {
		t.enter(Idle)
	}
	if st.ConversationState != Understanding { // it is, at rest, if it was restored so
		t.enter(Understanding)
	}
	st.Misses++
	if t.giveUp() {
		t.back()
		return
	}
	t.cannotHandle("not_caught")
}

// doubt asks whether the awaited slot's value is what was meant. It reports
// whether the message was nothing but such a value. Free text is no value to ask
// about, and neither is a yes or no; nor is another, before the last is answered.
func (t *turn) doubt() bool {
	st := t.st
	if st.ConversationState != WaitingForSlot || t.flow == nil || st.Suggested != nil {
		return false
	}
	s := t.a.def.SlotIndex[st.WaitingForSlot]
	if s == nil || s.Free() || s.Secret || s.Type == value.TypeBoolean {
		return false
	}
	v, sure, direct := t.heard().Simple(s)
	if !direct || sure == value.Unread {
		return false
	}
	t.validating(s)
	t.take(s, v, value.Doubtful)
	return true
}

// offers lists what the flows do that may start, as their descriptions say.
func (t *flows) offers() string {
	a := t.a
	var texts []string
	for _, f := range a.def.Flows {
		if !a.words.Startable(f) || !t.mayStart(f) {
			continue
		}
		d := offer(f, a.def.Lang)
		if !slices.Contains(texts, d) {
			texts = append(texts, d)
		}
		if len(texts) == 6 {
			break
		}
	}
	return value.Enumerate(texts, a.def.Lang.Data.Render.Or)
}

// offer is what the flow does, as it is said in the middle of a sentence.
func offer(f *agent.Flow, l *value.Language) string {
	d := strings.TrimRight(f.Description, ".")
	if d == "" || len(d) > 80 {
		d = f.Label
	}
	if r := []rune(d); len(r) > 1 && !strings.ContainsAny(string(r[1]), "ABCDEFGHIJKLMNOPQRSTUVWXYZ") && l.Tag == "en" {
		d = strings.ToLower(string(r[0])) + string(r[1:])
	}
	return d
}
