package dialog

import (
	"slices"
	"strconv"
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file handles errors and messages that were not understood.

// answerError handles a message in the error state: retry, cancel, help, or anything else
// that may resolve the error.
func (t *turn) answerError() {
	l := t.a.def.Lang
	core := l.Trim(t.rd.Toks)
	if len(core) == 0 {
		core = t.rd.Toks
	}
	if id, ok := l.Commands.Whole(core); ok && value.CommandWords[id] == "cancel" {
		t.answer(agent.PatternCancel, builtinContext{"failed": true})
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

// retry continues where the error stopped the flow.
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

// back returns to the state before a message that changed nothing.
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

// notUnderstood responds to a message that means nothing here. It says so; after repeated
// misses it offers what the user could say, and then hands over to a person.
func (t *turn) notUnderstood() {
	st := t.st
	if t.a.def.Settings.Model.Answers && len(t.rd.Toks) > 0 && t.before != Error && st.Confirmation == nil {
		t.askModel()
		return
	}
	st.Misses++
	t.missed = true
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
	reason := "not_understood"
	if t.heard().AsksOpenly() {
		reason = "not_known"
	}
	t.cannotHandle(reason)
}

// cannotHandle says that the agent cannot act on a message, and asks again.
func (t *turn) cannotHandle(reason string) {
	about := builtinContext{"reason": reason, "at": t.at(), "misses": int64(t.st.Misses)}
	if flows := t.offers(); flows != "" {
		about["flows"] = flows
	}
	t.answer(agent.PatternCannotHandle, about)
}

// notCaught handles a message in which the recognizer has too little confidence. Nothing in
// it is acted on, and no model is asked, since it would find a meaning in any text. If the
// message is a value for the awaited slot, notCaught asks whether it is right ("Did you
// mean Boston?"). Otherwise it repeats the question and counts a miss.
func (t *turn) notCaught(m Message) {
	st := t.st
	t.missed = true
	t.trace("low_confidence", TraceData{Detail: strconv.FormatFloat(m.Confidence, 'f', 2, 64)})
	if t.doubt() {
		return
	}
	t.before = t.resting()
	if st.ConversationState == Completed {
		t.enter(Idle)
	}
	if st.ConversationState != Understanding { // a restored state may be in Understanding
		t.enter(Understanding)
	}
	st.Misses++
	if t.giveUp() {
		t.back()
		return
	}
	t.cannotHandle("not_caught")
}

// doubt asks whether the awaited slot's value is right. It reports whether the message was
// just such a value. It does not ask about free text, secrets, a yes or no, or a second
// value before the first is answered.
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

// offers lists the descriptions of the flows that may start.
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

// offer returns what the flow does, worded for the middle of a sentence.
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
