package dialog

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// question asks for slots and says why a value is refused:
//
//	reason                                 what is said                     then
//	a validator, a limit                   the slot's message               asked again
//	a rule of the agent (rejected)         the rule's message               asked again
//	another slot has the value (twinned)   which slot has it                asked again
//	a day without its year (half)          "in which year?"                 the year is awaited
//	nobody had asked for it (dropped)      nothing                          asked when its turn comes
type question struct {
	speech

	asked    *agent.Slot                 // the slot for which a message already asks
	dropped  []*agent.Slot               // slots whose refused values nobody had asked for
	coming   map[string]any              // the values of the commands, by slot
	twinned  *agent.Slot                 // the slot that has the value that another slot refused
	rejected map[string]*agent.Rejection // the rules that rejected values, by slot
	half     any                         // a day that was refused because it has no year
}

// accept checks a normalized value against the slot's limits, its validators, the step's
// validators and the rules. It returns the value to store.
func (t *question) accept(s *agent.Slot, st *agent.Step, val any) (any, error) {
	if s.Type == value.TypeDate && !s.Closed() && value.Half(val) {
		t.half = val
		return nil, errors.New("the year is not said")
	}
	if err := s.Within(val); err != nil {
		return nil, err
	}
	if o := t.twin(s, val); o != nil {
		t.twinned = o
		return nil, fmt.Errorf("the %s has this value", o.Name)
	}
	lists := [2][]agent.NamedValidator{s.Validators, nil}
	if st != nil {
		lists[1] = st.Validators
	}
	for _, list := range lists {
		for _, v := range list {
			if v.Func == nil {
				continue
			}
			kept, err := t.validate(v, s, val)
			if t.failed {
				return nil, err
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", v.Name, err)
			}
			val = value.Canonical(kept)
		}
	}
	if val == nil {
		return nil, errors.New("a value is needed")
	}
	return val, t.checkRules(s, st, val)
}

// checkRules checks a value against the rules of its slot and of the step that asks for it.
func (t *question) checkRules(s *agent.Slot, st *agent.Step, val any) error {
	rules := s.Rejections
	if st != nil && len(st.Rejections) > 0 {
		rules = slices.Concat(rules, st.Rejections)
	}
	for i := range rules {
		bad, err := rules[i].If.Truth(func(name string) any {
			if name == s.Name {
				return val
			}
			if next, there := t.coming[name]; there {
				return value.Canonical(next)
			}
			return t.value(name)
		})
		if err != nil {
			t.fail("ExpressionError", err.Error())
			return err
		}
		if bad {
			put(&t.rejected, s.Name, &rules[i])
			return errors.New("a rule rejects it")
		}
	}
	return nil
}

// ruledOut returns the first slot that the flow has asked for, or is about to ask for, and
// whose value a rule rejects now. Another value may have changed, or an action may have set
// the slot.
func (t *question) ruledOut() *agent.Slot {
	for _, s := range t.flow.Steps {
		if s.Type != agent.StepCollect || len(s.Rejections)+len(s.Slot.Rejections) == 0 || s.ID != t.st.CurrentStep && !slices.Contains(t.st.Path, s.ID) {
			continue
		}
		if v := t.st.Slots[s.Slot.Name]; v != nil && t.checkRules(s.Slot, s, v) != nil && !t.failed {
			return s.Slot
		}
	}
	return nil
}

// twin returns the slot that already has the value and from which s must differ, or nil.
func (t *question) twin(s *agent.Slot, val any) *agent.Slot {
	for _, name := range s.Differs {
		o := t.a.def.SlotIndex[name]
		if o == nil || o == s || !value.Equal(t.st.Slots[name], val) {
			continue
		}
		if next, there := t.coming[name]; !there || value.Equal(next, val) {
			return o
		}
	}
	return nil
}

// validate calls a validator. A panic in it is an unexpected error (seed 003, rule 7).
func (t *question) validate(v agent.NamedValidator, s *agent.Slot, value any) (kept any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("validator %s failed", v.Name)
			t.fail("ValidatorError", fmt.Sprintf("validator %s: %v", v.Name, r))
		}
	}()
	return v.Func(value, agent.Check{
		Slot: s.Name, Language: t.a.def.Settings.Language, Now: t.now, Slots: t.st.Slots, Words: t.a.def.Lang,
	})
}

// prompt asks for a slot.
func (t *question) prompt(s *agent.Slot, st *agent.Step) {
	if slices.Contains(t.dropped, s) && t.asked != s { // the user has just given a value: say why it is refused
		t.invalid(s)
	}
	switch {
	case t.asked == s:
	case st != nil && st.Type == agent.StepCollect && st.Slot == s && t.sayMessage(st.Message, st.Wording):
	case t.sayMessage(s.Prompt, agent.WordingBySettings):
	case s.Type == value.TypeBoolean:
		t.phrase("prompt_yes_no", "label", agent.FirstUpper(s.Label))
	default:
		t.phrase("prompt", "label", s.Label)
	}
}

// invalid says why a value is refused.
func (t *question) invalid(s *agent.Slot) {
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
		t.asked = s // the message of the file asks again
		return
	}
	t.phrase("invalid", "label", s.Label)
}

// askOutOfTurn asks for the slot of State.Asking.
func (t *question) askOutOfTurn() {
	s := t.a.def.SlotIndex[t.st.Asking.Slot]
	if s == nil {
		t.st.Asking = nil
		t.fail("UnknownSlotError", "no slot to ask for")
		return
	}
	t.prompt(s, t.collectStep(s))
	t.awaitAsking(s)
}

// again repeats the open question.
func (t *question) again() {
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
		if s := t.a.def.SlotIndex[t.st.WaitingForSlot]; s != nil {
			t.prompt(s, t.collectStep(s))
		}
	}
}

// askDay handles a message that names no day: a week, or a day that does not exist. It says
// why, asks again, and reports whether the message was such.
func (t *question) askDay(s *agent.Slot) bool {
	if s == nil || s.Type != value.TypeDate || s.Closed() {
		return false
	}
	day := t.rd.NoSuchDay(&s.Spec)
	switch {
	case day != "":
		t.phrase("no_such_day", "value", day)
	case t.rd.WeekSaid() != "":
		t.phrase("which_week_day")
	default:
		return false
	}
	t.prompt(s, t.collectStep(s))
	return true
}

// askAmount handles a message that has no valid amount: it is below zero, in another
// currency, or ambiguous. It says why, asks again, and reports whether the message was
// such.
func (t *question) askAmount(s *agent.Slot) bool {
	if s == nil || s.Type != value.TypeMoney || s.Closed() {
		return false
	}
	why, text := t.rd.NoAmount(&s.Spec)
	switch why {
	case value.BelowZero:
		t.phrase("below_zero", "label", s.Label)
	case value.OtherCurrency:
		t.phrase("other_currency", "label", s.Label, "value", t.a.def.Lang.Data.Currencies[s.Currency].Many)
	case value.UnclearAmount:
		t.phrase("unclear_amount", "value", text)
	case value.SomeAmount:
		return false
	}
	t.prompt(s, t.collectStep(s))
	return true
}

// askOther asks for another value if the message only denies one, as in "not Boston". It
// reports whether it did.
func (t *question) askOther(s *agent.Slot) bool {
	if s == nil || s.Secret || s.AnyWords() || !t.rd.Denies() {
		return false
	}
	for i := range t.rd.Toks {
		if v, n := t.rd.Find(&s.Spec, t.rd.Toks, i, false); n > 0 && t.rd.Negated(i, i+n) {
			t.phrase("not_value", "value", t.voice().Speak(value.Canonical(v), &s.Spec, ""))
			t.prompt(s, t.collectStep(s))
			return true
		}
	}
	return false
}

// fitted returns a value in the form that the slot stores, or the reason why the slot does
// not accept it.
func (t *question) fitted(s *agent.Slot, val any) (any, string) {
	v, sure := t.heard().Normalise(s, val)
	if sure != value.Certain {
		return val, "no " + string(s.Type) + " of the slot"
	}
	kept, err := t.accept(s, t.collectStep(s), v)
	if err != nil {
		return val, err.Error()
	}
	return kept, ""
}

// volunteered reports whether a command gives a value that nobody asked for. If the slot
// has a value, or a yes or no is awaited, it reports false, since the user is told then
// what became of the value.
func (t *question) volunteered(c Command, awaited bool) bool {
	st := t.st
	return c.Type == SetSlot && !awaited && st.Confirmation == nil && st.Slots[c.Slot] == nil && (st.Asking == nil || st.Asking.Slot != c.Slot)
}

// takeUnderstood normalizes and validates a value. It reports false if the slot does not
// accept it.
func (t *question) takeUnderstood(s *agent.Slot, val any) (any, bool) {
	v, sure := t.heard().Normalise(s, val)
	why := "not a " + string(s.Type)
	if sure == value.Certain {
		kept, err := t.accept(s, t.collectStep(s), v)
		if t.failed {
			return nil, false
		}
		if err == nil {
			return kept, true
		}
		why = err.Error()
	}
	t.trace("slot_rejected", TraceData{Slot: s.Name, Detail: value.CutText(why, 200)})
	return nil, false
}
