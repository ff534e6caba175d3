package words

import (
	"slices"
	"strings"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/command"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file checks whether the words support a yes, and what they say of a corrected value.

// SaysYes reports whether the message begins with a yes.
func (t *Reading) SaysYes() bool {
	answer, _ := t.a.def.Lang.LeadingAnswer(t.rd.Toks)
	return answer == value.Yes
}

// Elsewhere reports whether the words tell the value of a correction of something else, or want to
// know about it: "the rent is 800" is no account number.
func (t *Reading) Elsewhere(c *command.Command) bool {
	s := t.a.def.SlotIndex[c.Slot]
	if s == nil || c.Value == nil || t.flow == nil {
		return false
	}
	spans := t.spans(t.flow)
	i := slices.IndexFunc(spans, func(x found) bool {
		return x.slot == s && value.Equal(value.Canonical(x.value), value.Canonical(c.Value))
	})
	if i < 0 {
		return false
	}
	x := spans[i]
	return t.rd.Within(x.start) == value.Wanting || t.tellsPast(x) || !x.cue && t.tellsOfOther(x)
}

// fromSuggestion reports whether a command is a yes to a suggested value.
func (t *Reading) fromSuggestion(c *command.Command) bool {
	return t.st.Suggested != nil && t.st.Suggested.Slot == c.Slot && value.Equal(t.st.Suggested.Value, c.Value) && t.Affirms()
}

// Accepts reports whether a message that begins with a yes takes a suggested value. Other words
// begin at token rest. What the agent has found is taken with praise, and in a sentence that gives no
// other value and asks nothing. What was read in the user's words needs a plain yes.
func (t *Reading) Accepts(s *agent.Slot, sg *command.Suggestion, rest int) bool {
	toks := t.rd.Toks
	if !sg.Offered {
		return t.a.def.Lang.SaysYes(toks) && (rest == len(toks) || t.besides(toks[rest:]))
	}
	if rest == len(toks) {
		return true
	}
	asks := strings.Contains(t.rd.Raw[toks[rest].Start:], "?") || t.rd.Within(len(toks)-1) != value.Told
	return t.NothingFor(s, rest) && !asks
}

// Affirms reports whether the message may be a yes to a suggested value: it contains no
// "no", is not a question, and gives no other value for the slot.
func (t *Reading) Affirms() bool {
	s := t.a.def.SlotIndex[t.st.Suggested.Slot]
	return s != nil && !t.answerWords(t.rd.Toks).no && !t.asks(t.rd.Toks) && !strings.Contains(t.rd.Raw, "?") && t.NothingFor(s, 0)
}

// namesWordOf reports whether the message contains a word of the slot's name.
func (t *message) namesWordOf(s *agent.Slot) bool {
	for i := range t.rd.Toks {
		if w, _ := t.rd.Lang.Meaning(t.rd.Toks, i); s.Keys[w] || s.Words[w] {
			return true
		}
	}
	return s.Mentions.Within(t.rd.Toks)
}

// mayOffer records a flow that may be offered, with the values that were given for it.
func (t *Reading) mayOffer(f *agent.Flow, values []found) {
	if slices.Contains(t.offered, f) {
		return
	}
	t.offered = append(t.offered, f)
	for _, v := range values {
		if !v.slot.Secret {
			if t.given == nil {
				t.given = make(map[string]any)
			}
			t.given[v.slot.Name] = value.Canonical(v.value)
		}
	}
}

// Normalise converts a value that a model or a caller gave for a slot to the form in which
// it is stored. The value may also be worded as people say it.
func (t *Reading) Normalise(s *agent.Slot, val any) (any, value.Certainty) {
	text, isText := val.(string)
	switch s.Type {
	case value.TypeBoolean:
		if b, ok := val.(bool); ok {
			return b, value.Certain
		}
		switch text {
		case "true", "True":
			return true, value.Certain
		case "false", "False":
			return false, value.Certain
		}
	case value.TypeInteger, value.TypeNumber, value.TypeFloat, value.TypeMoney:
		if f, ok := value.ToNumber(val); ok {
			if s.Type == value.TypeInteger && f != float64(int64(f)) {
				return nil, value.Unread
			}
			return value.Number(f), value.Certain
		}
	case value.TypeDate:
		if _, ok := value.ParseDate(text); ok {
			return text, value.Certain
		}
	case value.TypeTime:
		if _, ok := value.ParseTime(text); ok {
			return text, value.Certain
		}
	case value.TypeString, value.TypeName, value.TypeAddress, value.TypeCity:
		if !s.Closed() {
			if !isText {
				text = value.RawText(val)
			}
			if text == "" {
				return nil, value.Unread
			}
			return text, value.Certain
		}
	case value.TypeAny:
		return value.Canonical(val), value.Certain
	case value.TypeDigits, value.TypeCode, value.TypeEmail, value.TypePhone, value.TypeEnum:
	}
	if !isText {
		text = value.RawText(val)
	}
	if text == "" {
		return nil, value.Unread
	}
	var buf [24]value.Token
	rd := value.Reader{Lang: t.a.def.Lang, Raw: text, Toks: value.Tokenize(text, buf[:0]), Now: t.st.Now}
	v, sure := rd.Answer(&s.Spec)
	if sure == value.Unread && s.Closed() {
		v, sure = rd.Misheard(&s.Spec)
	}
	return v, sure
}

// NothingFor reports whether the words after a yes, from token rest on, give no other value
// for the slot: "yes, that is the one I meant".
func (t *Reading) NothingFor(s *agent.Slot, rest int) bool {
	sub := t.rd
	sub.Toks = sub.Toks[rest:]
	return !t.a.def.Lang.Wrong(sub.Toks) && len(t.a.extract(sub, []*agent.Slot{s}, s)) == 0
}

// counts reports whether a number is followed by what it counts, or has a currency.
func (t *message) counts(s *agent.Slot, x found) bool {
	if s.Type == value.TypeMoney {
		_, currency, _ := t.rd.Lang.Amount(t.rd.Toks, x.start)
		return currency != ""
	}
	return t.a.unit(t.rd, s, x.end)
}
