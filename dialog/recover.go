package dialog

import (
	"slices"
	"strings"
)

// This file: ways back, after errors and after what was not understood.

// answerError takes a message after an error: retry, cancel, help, or anything
// else that may set things right.
func (t *turn) answerError() {
	l := t.a.lang
	core := l.trim(t.rd.toks)
	if len(core) == 0 {
		core = t.rd.toks
	}
	if id, ok := l.commands.whole(core); ok && commandWords[id] == "cancel" {
		t.dropFlow()
		t.enter(Idle)
		t.phrase("cancelled")
		t.phrase("what_to_do")
		return
	}
	t.enter(Understanding)
	if _, ok := l.commandSets["retry"].whole(core); ok {
		t.retry()
		return
	}
	if _, ok := l.commandSets["retry"].whole(t.rd.toks); ok {
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
		p.ID = p.Key + "#" + itoa(int64(p.Attempt))
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
	case t.flow == nil:
		t.enter(Idle)
	case t.st.Confirmation != nil:
		t.enter(Confirming)
	default:
		t.enter(WaitingForSlot)
	}
}

// again repeats the open question.
func (t *turn) again() {
	switch {
	case t.failed:
	case t.before == Error:
		t.phrase("error_offer")
	case t.flow == nil:
		t.phrase("what_to_do")
	case t.st.Confirmation != nil:
		if s := t.step(); s != nil && t.st.ConversationState == Understanding {
			t.askConfirmation(s)
		}
	default:
		if s := t.a.slotIndex[t.st.WaitingForSlot]; s != nil {
			t.prompt(s, t.collectStep(s))
		}
	}
}

// notUnderstood is what happens when a message means nothing here: say so, then
// offer what could be said, and at last hand over to a person.
func (t *turn) notUnderstood() {
	st := t.st
	if t.a.settings.Model.Answers && len(t.rd.toks) > 0 && t.before != Error && st.Confirmation == nil {
		t.out.Ask = true
		t.trace("asked_model", TraceData{})
		t.back()
		return
	}
	st.Misses++
	t.trace("not_understood", TraceData{})
	if t.giveUp() {
		t.back()
		return
	}
	m := t.a.messages["not_understood"]
	if len(m) > 0 {
		t.phraseOf(m[min(st.Misses, len(m))-1])
	}
	switch {
	case t.before == Error:
		t.phrase("error_offer")
	case st.Confirmation != nil:
		t.phrase("example_yes_no")
	case t.flow == nil:
		t.offer()
	default:
		s := t.a.slotIndex[st.WaitingForSlot]
		if s == nil {
			break
		}
		if st.Misses > 1 {
			t.example(s)
		}
		t.prompt(s, t.collectStep(s))
	}
	t.back()
}

// offer says what the agent can do.
func (t *turn) offer() {
	flows := t.a.offers()
	if flows == "" || t.st.Misses == 1 {
		t.phrase("rephrase")
		return
	}
	t.phrase("options_flows", "flows", flows)
	t.phrase("what_to_do")
}

// offers lists what the flows do, as their descriptions say.
func (a *Agent) offers() string {
	var texts []string
	for _, f := range a.flows {
		if len(f.triggers) == 0 {
			continue
		}
		d := strings.TrimRight(f.description, ".")
		if d == "" || len(d) > 80 {
			d = f.label
		}
		if r := []rune(d); len(r) > 1 && !strings.ContainsAny(string(r[1]), "ABCDEFGHIJKLMNOPQRSTUVWXYZ") && a.lang.tag == "en" {
			d = strings.ToLower(string(r[0])) + string(r[1:])
		}
		if !slices.Contains(texts, d) {
			texts = append(texts, d)
		}
		if len(texts) == 6 {
			break
		}
	}
	return enumerate(texts, a.lang.data.Render.Or)
}
