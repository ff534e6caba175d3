package dialog

import (
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
	"github.com/hocketvoice/hocket/dialog/words"
)

// This file handles a message by the conversation state. A simple answer to a question is
// taken without a call of the understanding, as seed 003 wants it.

// message handles a message of the user.
func (t *turn) message(m Message) {
	st := t.st
	text := value.CutText(strings.ToValidUTF8(strings.TrimSpace(m.Text), "\uFFFD"), value.MaxUtterance)
	st.TurnCount++
	st.Pending = ""
	if c := st.Confirmation; c != nil {
		c.Early, c.Unheard = m.Early, m.Unheard
	}
	t.remember("user", text)
	t.trace("user_message", TraceData{})
	t.was, st.Either = st.Either, nil
	t.read(text)
	t.weekSaid()
	if t.unsure(m) && st.ConversationState != ExecutingAction {
		t.notCaught(m)
		return
	}
	switch st.ConversationState {
	case Completed:
		t.enter(Idle)
		t.enter(Understanding)
		t.understand()
	case Idle:
		t.enter(Understanding)
		t.understand()
	case WaitingForSlot:
		t.answerSlot()
	case ValidatingSlot: // only in a state that was restored so
		t.enter(WaitingForSlot)
		t.answerSlot()
	case Confirming:
		t.answerConfirmation()
	case Error:
		t.answerError()
	case ExecutingAction:
		if st.Action != nil && !st.Action.Failed && (t.step() != nil || st.Action.Check != "") {
			t.phrase("busy")
			return
		}
		t.fail("ActionError", "no action is running")
	case Understanding:
		t.before = t.resting()
		t.understand()
	default:
		t.fail("StateError", "unknown state "+string(st.ConversationState))
	}
}

// answerSlot handles a message while a slot is awaited. A simple value fills the slot
// without a call of the understanding; any other message is understood first.
func (t *turn) answerSlot() {
	st := t.st
	s := t.a.def.SlotIndex[st.WaitingForSlot]
	if s == nil || t.flow == nil {
		t.fail("UnknownSlotError", "the awaited slot does not exist")
		return
	}
	if t.answerSuggestion(s) {
		return
	}
	value, sure, direct := t.heard().Simple(s)
	if !direct {
		t.enter(Understanding)
		t.understand()
		return
	}
	t.validating(s)
	t.take(s, value, sure)
}

// take puts a value that answerSlot has read into the awaited slot.
func (t *turn) take(s *agent.Slot, v any, sure value.Certainty) {
	st := t.st
	switch sure {
	case value.Doubtful:
		if s.Secret { // asking about a doubtful value would say it
			t.reject(s, "doubtful")
			return
		}
		t.refused = true
		st.Suggested = &Suggestion{Slot: s.Name, Value: v}
		t.trace("slot_doubtful", TraceData{Slot: s.Name, Value: value.Canonical(v)})
		t.suggest(s, v)
		t.enter(WaitingForSlot)
		return
	case value.Unread:
		t.missed = true
		t.reject(s, "not a "+string(s.Type))
		return
	case value.Certain:
	}
	kept, err := t.accept(s, t.collectStep(s), v)
	if t.failed {
		return
	}
	if err != nil {
		t.reject(s, err.Error())
		return
	}
	t.set(s.Name, kept)
	st.Misses = 0
	t.trace("slot_set", TraceData{Slot: s.Name, Value: st.Slots[s.Name]})
	t.filled(s)
	t.advance()
}

// filled moves on from the awaited slot once it has a value.
func (t *turn) filled(s *agent.Slot) {
	st := t.st
	st.WaitingForSlot, st.Suggested = "", nil
	if a := st.Asking; a != nil && a.Slot == s.Name {
		if t.answered(); st.Asking != nil {
			return
		}
		if cur := t.step(); cur != nil && cur.AskFirst && cur.Slot == s { // the question was this step's
			t.next(cur, cur.Next)
		}
		if a.Correction {
			t.updated(s)
			t.rewind([]string{s.Name}, a.Reopen)
			t.askDeferred()
		}
		return
	}
	if cur := t.step(); cur != nil && cur.Type == agent.StepCollect && cur.Slot == s {
		t.next(cur, cur.Next)
	}
}

// reject clears the value and asks for it again (seed 003, rule 4).
func (t *turn) reject(s *agent.Slot, why string) {
	st := t.st
	t.refused = true
	t.trace("slot_rejected", TraceData{Slot: s.Name, Detail: value.CutText(why, 200)})
	if st.Slots[s.Name] == nil {
		st.Slots[s.Name] = nil // rule 4: null, not absent
	}
	st.Misses++
	if !t.giveUp() {
		_, byRule := t.rejected[s.Name]
		t.invalid(s)
		if st.Misses > 1 {
			t.example(s)
		}
		if byRule {
			t.prompt(s, t.collectStep(s))
		}
	}
	t.stay()
}

// giveUp hands over to a person after too many misses in a row, if the agent allows it. It
// reports whether it did.
func (t *turn) giveUp() bool {
	if t.st.Misses < t.a.def.Settings.Retries || !t.a.def.Settings.Handoff {
		return false
	}
	if !t.builtin(agent.PatternHandoff, builtinContext{"reason": "misses", "possible": true}) {
		t.moved = true
		t.advance()
	}
	return true
}

// stay keeps waiting for the slot, unless a built-in flow asks now.
func (t *turn) stay() {
	if !t.failed && !t.moved {
		t.enter(WaitingForSlot)
	}
}

// The number of a slot's values that are listed at most.
const (
	someOptions = 5
	maxOptions  = 10
)

// answerSuggestion handles the answer to a question like "did you mean Boston?". It reports
// whether the message was only such an answer. After "no, Austin" it reports false and
// leaves "Austin" as the message.
func (t *turn) answerSuggestion(s *agent.Slot) bool {
	st := t.st
	sg := st.Suggested
	if sg == nil || sg.Slot != s.Name {
		return false
	}
	answer, rest := t.a.def.Lang.LeadingAnswer(t.rd.Toks)
	st.Suggested, t.suggested = nil, sg
	switch {
	case answer == value.Yes && t.heard().Accepts(s, sg, rest):
		t.validating(s)
		t.take(s, sg.Value, value.Certain)
		return true
	case answer == value.No && rest == len(t.rd.Toks):
		t.validating(s)
		t.refused = true
		t.trace("slot_rejected", TraceData{Slot: s.Name, Detail: "not what was meant"})
		st.Misses++
		if !t.giveUp() {
			t.prompt(s, t.collectStep(s))
			if st.Misses > 1 && !t.failed {
				t.example(s)
			}
		}
		t.stay()
		return true
	case answer == value.No: // "no, Austin"
		t.rd.Toks = t.rd.Toks[rest:]
		t.rd.Raw = t.rd.Raw[t.rd.Toks[0].Start:]
		t.read(t.rd.Raw)
	}
	return false
}

// answerConfirmation handles a message while a yes or no is awaited.
func (t *turn) answerConfirmation() {
	if t.flow == nil || t.st.Confirmation == nil {
		t.fail("ConfirmationError", "no confirmation is pending")
		return
	}
	switch t.heard().Assent() {
	case words.Assents:
		t.st.Misses = 0
		if len(t.was) > 1 { // the user was asked which of two slots a value belongs to
			t.enter(Understanding)
			t.understand()
			return
		}
		if t.st.Changing { // the user was asked what to change: a yes does not answer that
			t.enter(Understanding)
			t.again()
			t.back()
			return
		}
		t.confirmed()
	case words.Refuses:
		t.st.Misses = 0
		t.denied()
	case words.NoAssent, words.GivesUp:
		t.enter(Understanding)
		t.understand()
	}
}

// understand finds out what the message means and carries it out. It counts and traces each
// call of the understanding.
func (t *turn) understand() {
	st := t.st
	if t.failed {
		return
	}
	if len(t.rd.Toks) == 0 { // nothing to understand
		t.notUnderstood()
		return
	}
	context := st.CurrentFlow + "/" + st.CurrentStep + "/" + st.WaitingForSlot
	if c := st.Cache; c != nil && st.LastNLUCall != 0 && t.ts-st.LastNLUCall >= 0 && t.ts-st.LastNLUCall < 1 &&
		c.Text == t.rd.Raw && c.Context == context {
		t.trace("nlu_cached", TraceData{})
		t.apply(slices.Clone(c.Commands))
		return
	}
	st.NLUCalls++
	st.LastNLUCall = t.ts
	t.trace("nlu", TraceData{})
	if t.a.def.Settings.Model.Understanding && !t.heard().Plain() && !t.mayTell(false) {
		st.Pending = t.rd.Raw
		st.Cache, st.Suggested = nil, t.suggested
		t.out.Understand = &UnderstandRequest{
			Text: t.rd.Raw, Slot: st.WaitingForSlot, Confirming: st.Confirmation != nil, Slots: t.a.maskSlots(cloneValues(st.Slots)),
		}
		if t.flow != nil {
			t.out.Understand.Flow = t.flow.Name
		}
		return
	}
	t.understandLocally(context)
}

// understandLocally understands the message by its words and carries it out.
func (t *turn) understandLocally(context string) {
	said := t.rd.Raw
	t.leaveFor()
	m := t.meaning(t.a.words)
	if len(m.Commands) == 0 && t.askChoice() {
		return
	}
	t.st.Cache = &NLUCache{Text: said, Context: context}
	if slices.ContainsFunc(m.Commands, func(c Command) bool { s := t.a.def.SlotIndex[c.Slot]; return s != nil && s.Secret }) {
		t.st.Cache = nil
	} else if len(m.Commands) > 0 {
		t.st.Cache.Commands = slices.Clone(m.Commands)
	}
	t.apply(t.traced(m.Commands))
}

// understood handles the model's answer. If the model failed, the words are understood
// locally.
func (t *turn) understood(in Understood) {
	st := t.st
	if st.ConversationState != Understanding || st.Pending == "" {
		t.trace("understanding_late", TraceData{})
		return
	}
	t.before = t.resting()
	text := st.Pending
	st.Pending = ""
	t.read(text)
	t.suggested, st.Suggested = st.Suggested, nil
	m := t.meaning(in)
	if m.Failed {
		t.trace("nlu_failed", TraceData{})
		t.understandLocally(st.CurrentFlow + "/" + st.CurrentStep + "/" + st.WaitingForSlot)
		return
	}
	cmds := m.Commands
	for _, d := range m.Dropped { // checked again, so that the reasons are traced and the user is told
		cmds = append(cmds, d.Command)
	}
	cmds = t.heard().Meant(cmds[:min(len(cmds), maxCommands)])
	if cmds = t.guarded(cmds); len(cmds) == 0 && t.offerOnly() {
		return
	}
	t.apply(cmds)
}
