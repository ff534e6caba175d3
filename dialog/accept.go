package dialog

import (
	"errors"
	"fmt"
)

// This file: whether a value may go into a slot.

// accept checks a normalised value: the slot's limits, its validators, then the
// step's. It returns the value to keep.
func (t *turn) accept(s *slot, st *step, value any) (any, error) {
	if err := s.within(value); err != nil {
		return nil, err
	}
	lists := [2][]namedValidator{s.validators, nil}
	if st != nil {
		lists[1] = st.validators
	}
	for _, list := range lists {
		for _, v := range list {
			if v.fn == nil {
				continue
			}
			kept, err := t.validate(v, s, value)
			if t.failed {
				return nil, err
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", v.name, err)
			}
			value = canon(kept)
		}
	}
	if value == nil {
		return nil, errors.New("a value is needed")
	}
	return value, nil
}

// within checks a value against the limits of the slot.
func (s *slot) within(value any) error {
	if s.numeric() {
		f, ok := toNumber(value)
		if !ok {
			return fmt.Errorf("%v is no number", value)
		}
		if s.low != nil && f < *s.low {
			return fmt.Errorf("%v is below %v", value, *s.low)
		}
		if s.high != nil && f > *s.high {
			return fmt.Errorf("%v is above %v", value, *s.high)
		}
		return nil
	}
	text, _ := value.(string)
	if s.typ == TypeTime {
		m, ok := parseClock(text)
		if !ok {
			return fmt.Errorf("%v is no time", value)
		}
		if s.low != nil && float64(m) < *s.low || s.high != nil && float64(m) > *s.high {
			return fmt.Errorf("%s is outside the hours", text)
		}
	}
	if low, high := s.length[0], s.length[1]; high > 0 {
		n := length(value)
		if s.typ == TypePhone && n > 0 && text[0] == '+' {
			n--
		}
		if n < low || n > high {
			return fmt.Errorf("%d characters: want %d to %d", n, low, high)
		}
	}
	return nil
}

// validate calls a validator. One that panics is an unexpected error (rule 7).
func (t *turn) validate(v namedValidator, s *slot, value any) (kept any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("validator %s failed", v.name)
			t.fail("ValidatorError", fmt.Sprintf("validator %s: %v", v.name, r))
		}
	}()
	return v.fn(value, Check{
		Slot: s.name, Language: t.a.settings.Language, Now: t.now, Slots: t.st.Slots, lang: t.a.lang,
	})
}

// normalise reads a value that a model or a caller gave for a slot: in the form
// in which it is kept, or as people say it.
func (t *turn) normalise(s *slot, value any) (any, certainty) {
	text, isText := value.(string)
	switch s.typ {
	case TypeBoolean:
		if b, ok := value.(bool); ok {
			return b, certain
		}
		switch text {
		case "true", "True":
			return true, certain
		case "false", "False":
			return false, certain
		}
	case TypeInteger, TypeNumber, TypeFloat, TypeMoney:
		if f, ok := toNumber(value); ok {
			if s.typ == TypeInteger && f != float64(int64(f)) {
				return nil, unread
			}
			return canonNumber(f), certain
		}
	case TypeDate:
		if _, ok := parseCivil(text); ok {
			return text, certain
		}
	case TypeTime:
		if _, ok := parseClock(text); ok {
			return text, certain
		}
	case TypeString, TypeName, TypeAddress, TypeCity:
		if !s.closed() {
			if !isText {
				text = rawText(value)
			}
			if text == "" {
				return nil, unread
			}
			return text, certain
		}
	case TypeAny:
		return canon(value), certain
	case TypeDigits, TypeCode, TypeEmail, TypePhone, TypeEnum:
	}
	if !isText {
		text = rawText(value)
	}
	if text == "" {
		return nil, unread
	}
	var buf [24]token
	rd := reader{l: t.a.lang, raw: text, toks: tokenize(text, buf[:0]), now: t.now}
	v, sure := rd.answer(s)
	if sure == unread && s.closed() {
		v, sure = rd.misheard(s)
	}
	return v, sure
}
