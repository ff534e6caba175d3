package dialog

import (
	"errors"
	"fmt"
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file: whether a value may go into a slot.

// accept checks a normalised value: the slot's limits, its validators, then the
// step's. It returns the value to keep.
func (t *turn) accept(s *agent.Slot, st *agent.Step, val any) (any, error) {
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

// checkRules holds a value against the rules of its slot and of the step that asks for it.
func (t *turn) checkRules(s *agent.Slot, st *agent.Step, val any) error {
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

// ruledOut is the first slot that the flow has asked for, or is about to, whose value a rule
// turns down now: another value may have changed, or an action has set it.
func (t *turn) ruledOut() *agent.Slot {
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

// twin is the slot that has the value already, of those from which this one differs; nil
// if none has.
func (t *turn) twin(s *agent.Slot, val any) *agent.Slot {
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

// validate calls a validator. One that panics is an unexpected error (rule 7).
func (t *turn) validate(v agent.NamedValidator, s *agent.Slot, value any) (kept any, err error) {
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
