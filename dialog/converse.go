package dialog

import (
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
	"github.com/hocketvoice/hocket/dialog/words"
)

// This file: what a message means by the state it meets, before any
// understanding is asked: the economy that seed 003 is about.

// message takes what the user said.
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
	case ValidatingSlot: // a state at rest only if it was restored so
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
		t.fail("ActionError", "no action runs")
	case Understanding:
		t.before = t.resting()
		t.understand()
	default:
		t.fail("StateError", "unknown state "+string(st.ConversationState))
	}
}

// weekSaid remembers a week that is named without a day.
func (t *turn) weekSaid() {
	if w := t.rd.WeekSaid(); w != "" {
		t.st.Week = w
		t.rd.Week = w
		if s := t.a.def.SlotIndex[t.awaited]; s != nil && s.Type == value.TypeDate {
			t.st.Misses = 0 // half an answer
		}
	}
}

// resting is the state to return to when an understanding comes to nothing.
func (t *turn) resting() ConversationState {
	_, open := t.st.Metadata["error"]
	switch {
	case open:
		return Error
	case t.flow == nil:
		return Idle
	case t.st.Confirmation != nil:
		return Confirming
	default:
		return WaitingForSlot
	}
}

// answerSlot takes a message while a slot is awaited: a simple value goes
// straight into the slot, without any understanding; everything else is
// understood first.
func (t *turn) answerSlot() {
	st := t.st
	s := t.a.def.SlotIndex[st.WaitingForSlot]
	if s == nil || t.flow == nil {
		t.fail("UnknownSlotError", "the slot that is awaited is not there")
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

// validating enters VALIDATING_SLOT with what was said for the slot.
func (t *turn) validating(s *agent.Slot) {
	st := t.st
	old := st.Slots[s.Name]
	t.told(s)
	st.Slots[s.Name] = t.rd.Raw // rule 3: "Temporary, will be normalized"
	t.enter(ValidatingSlot)
	st.Slots[s.Name] = old
}

// take puts a directly mapped value into the awaited slot.
func (t *turn) take(s *agent.Slot, v any, sure value.Certainty) {
	st := t.st
	switch sure {
	case value.Doubtful:
		if s.Secret { // it is not said again to ask about it
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

// suggest asks whether a value is what was meant.
func (t *turn) suggest(s *agent.Slot, value any) {
	t.phrase("did_you_mean", "value", t.voice().Speak(value, &s.Spec, ""))
	t.readBack = true
}

// filled moves on from the awaited slot, which has its value now.
func (t *turn) filled(s *agent.Slot) {
	st := t.st
	st.WaitingForSlot, st.Suggested = "", nil
	if a := st.Asking; a != nil && a.Slot == s.Name {
		if t.answered(); st.Asking != nil {
			return
		}
		if cur := t.step(); cur != nil && cur.AskFirst && cur.Slot == s { // that was its question
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

// reject is rule 4: the value is cleared and asked for again.
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

// invalid says that a value does not do.
func (t *turn) invalid(s *agent.Slot) {
	if r := t.rejected[s.Name]; r != nil {
		delete(t.rejected, s.Name)
		if t.sayMessage(r.Message, agent.WordingFixed) {
			return
		}
	}
	if s.Name == t.awaited && (t.askDay(s) || t.askAmount(s)) {
		return
	}
	if half := t.half; half != nil {
		t.half = nil
		if !s.Secret && s.Name == t.awaited {
			put(&t.st.Either, s.Name, half)
			t.phrase("which_year")
			t.asked = s
			return
		}
	}
	if o := t.twinned; o != nil {
		t.twinned = nil
		if !s.Secret && !o.Secret {
			t.phrase("same_value", "label", s.Label, "value", t.voice().Speak(t.st.Slots[o.Name], &o.Spec, ""))
			return
		}
	}
	if st := t.collectStep(s); st != nil && t.sayMessage(st.Invalid, st.Wording) || t.sayMessage(s.Invalid, agent.WordingFixed) {
		t.asked = s // the file's own words ask anew
		return
	}
	t.phrase("invalid", "label", s.Label)
}

// giveUp hands over to a person when nothing helped too often.
func (t *turn) giveUp() bool {
	if t.st.Misses < t.a.def.Settings.Retries || !t.a.def.Settings.Handoff {
		return false
	}
	if !t.builtin(agent.PatternHandoff, about{"reason": "misses", "possible": true}) {
		t.moved = true
		t.advance()
	}
	return true
}

// stay waits for the slot that was asked for, unless a built-in flow asks now.
func (t *turn) stay() {
	if !t.failed && !t.moved {
		t.enter(WaitingForSlot)
	}
}

func (t *turn) handoff() {
	t.st.Misses = 0
	t.st.HandedOff = true
	t.out.Handoff = true
	t.trace("handoff", TraceData{})
}

// How many values of a slot are said.
const (
	someOptions = 5
	maxOptions  = 10
)

// options says values that a slot may have.
func (t *turn) options(s *agent.Slot, most int) {
	var texts []string
	for _, v := range s.Values[:min(most, len(s.Values))] {
		texts = append(texts, v.Value)
	}
	t.phrase("options", "values", value.Enumerate(texts, t.a.def.Lang.Data.Render.Or))
}

// example says what could be said for a slot.
func (t *turn) example(s *agent.Slot) {
	if s.Closed() {
		t.options(s, someOptions)
		return
	}
	key := ""
	switch s.Type {
	case value.TypeDate:
		if s.Past {
			return // the examples are of days to come
		}
		key = "example_date"
	case value.TypeTime:
		key = "example_time"
	case value.TypeDigits:
		key = "example_digits"
	case value.TypePhone:
		key = "example_phone"
	case value.TypeEmail:
		key = "example_email"
	case value.TypeInteger, value.TypeNumber, value.TypeFloat:
		key = "example_number"
	case value.TypeMoney:
		t.phrase("example_money", "value", t.voice().Speak(int64(50), &s.Spec, ""))
		return
	case value.TypeBoolean:
		key = "example_yes_no"
	case value.TypeCode:
		key = "example_spelling"
	case value.TypeString, value.TypeName, value.TypeEnum, value.TypeCity, value.TypeAddress, value.TypeAny:
		t.phrase("options_free", "label", s.Label)
		return
	}
	t.phrase(key)
}

// answerSuggestion takes the answer to "did you mean Boston?". It reports
// whether the message was that.
func (t *turn) answerSuggestion(s *agent.Slot) bool {
	st := t.st
	sg := st.Suggested
	if sg == nil || sg.Slot != s.Name {
		return false
	}
	answer, rest := t.a.def.Lang.LeadingAnswer(t.rd.Toks)
	st.Suggested, t.suggested = nil, sg
	switch {
	case answer == value.Yes && (rest == len(t.rd.Toks) || t.heard().NothingFor(s, rest)):
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

// answerConfirmation takes a message while a yes or no is awaited.
func (t *turn) answerConfirmation() {
	if t.flow == nil || t.st.Confirmation == nil {
		t.fail("ConfirmationError", "nothing is to be confirmed")
		return
	}
	switch t.heard().Assent() {
	case words.Assents:
		t.st.Misses = 0
		if t.st.Changing { // asked what to change: what the yes is to, nobody knows
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
