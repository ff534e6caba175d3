package dialog

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file lets a driver keep secrets out of its records.

// HasSecrets reports whether a slot of the agent is secret.
func (a *Agent) HasSecrets() bool { return len(a.def.Secrets) > 0 }

// TellsSecret reports whether the user's words may contain a secret: the secret was asked
// for, or the text names it, has the form of its value, or is understood as one. If partial
// is true, more words may follow, and the beginning of a value is enough. The state does
// not change.
func (a *Agent) TellsSecret(st *State, now time.Time, text string, partial bool) bool {
	if len(a.def.Secrets) == 0 {
		return false
	}
	t := a.turn(st, now)
	t.read(text)
	if len(t.rd.Toks) == 0 {
		return false
	}
	if t.mayTell(partial) {
		return true
	}
	then := st.Clone()
	a.Handle(&then, now, Message{Text: text})
	for _, m := range slices.Backward(then.Messages) {
		if m.Role == "user" {
			return m.Content == Hidden
		}
	}
	return false
}

// mayTell reports whether the message looks as if it contained a secret, before the message
// is understood.
func (t *hearing) mayTell(partial bool) bool {
	for _, s := range t.a.def.Secrets {
		if s.Name == t.st.WaitingForSlot || s.Mentions.Within(t.rd.Toks) {
			return true
		}
		for i := range t.rd.Toks {
			v, n := t.rd.Find(&s.Spec, t.rd.Toks, i, partial)
			if n > 0 && (partial || lengthFits(&s.Spec, v)) {
				return true
			}
		}
	}
	return t.a.holdsSecret(t.st, t.rd.Raw)
}

// lengthFits reports whether a value has a length that the slot allows.
func lengthFits(s *value.Spec, v any) bool {
	text, ok := v.(string)
	return !ok || len(text) >= s.Length[0] && (s.Length[1] == 0 || len(text) <= s.Length[1])
}

// Secrets is the set of secret values of a conversation. Values stay in it when their
// slot is emptied, because a tool may still return them. The zero value is empty.
type Secrets struct{ values []string }

// Learn adds the secret values of a state.
func (k *Secrets) Learn(a *Agent, st *State) {
	for _, s := range a.def.Secrets {
		k.add(st.Slots[s.Name])
		k.add(st.Checked[s.Name])
		k.add(st.GrantedFor[s.Name])
		k.add(st.ProposedSlots[s.Name])
		k.add(st.Either[s.Name])
		for i := range st.Later {
			k.add(st.Later[i].Slots[s.Name])
		}
		for i := range st.Stack {
			k.add(st.Stack[i].Saved[s.Name])
			k.add(st.Stack[i].For[s.Name])
		}
		if g := st.Suggested; g != nil && g.Slot == s.Name {
			k.add(g.Value)
		}
	}
	if p := st.Action; p != nil {
		for _, name := range a.secretInputs(p.Name, p.Inputs) {
			k.add(p.Inputs[name])
		}
	}
}

// LearnCall adds the secret values of a call of an action: its arguments that take them, and the
// outputs in its result that fill secret slots. Both are JSON texts.
func (k *Secrets) LearnCall(a *Agent, name, arguments, result string) {
	var args, outputs map[string]any
	if err := decodeStrictly([]byte(arguments), &args); err == nil {
		for _, in := range a.secretInputs(name, args) {
			k.add(args[in])
		}
	}
	if err := decodeStrictly([]byte(result), &outputs); err != nil {
		return
	}
	for _, f := range a.def.Flows {
		for _, s := range f.Steps {
			if s.Type != agent.StepAction || s.Action.Name != name {
				continue
			}
			then := flows{dialogue: dialogue{a: a, st: &State{Slots: make(map[string]any)}}, flow: f}
			then.mapOutputs(s, outputs)
			k.Learn(a, then.st)
		}
	}
}

func (k *Secrets) add(v any) {
	if _, answer := v.(bool); answer {
		return // true and false are in too many texts
	}
	text := plainText(value.RawText(v))
	if text == "" || v == Hidden || slices.Contains(k.values, text) {
		return
	}
	k.values = append(k.values, text)
}

// None reports whether the set is empty.
func (k *Secrets) None() bool { return len(k.values) == 0 }

// In reports whether a text contains one of the secrets, whatever spaces and punctuation are
// between its letters and digits. A secret of at most three characters must stand alone:
// otherwise it would be found in many texts.
func (k *Secrets) In(text string) bool {
	if len(k.values) == 0 || text == "" {
		return false
	}
	all := plainText(text)
	for _, v := range k.values {
		if len(v) > 3 && strings.Contains(all, v) {
			return true
		}
		if len(v) <= 3 && slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }),
			func(word string) bool { return plainText(word) == v }) {
			return true
		}
	}
	return false
}

// is reports whether a number is one of the secrets.
func (k *Secrets) is(v any) bool {
	return slices.Contains(k.values, plainText(value.RawText(value.Canonical(v))))
}

// Text returns the text if it contains no secret. Otherwise it returns [Hidden], because
// how much of the text is secret is unknown; of a JSON text it hides only the values that
// contain one.
func (k *Secrets) Text(s string) string {
	if !k.In(s) {
		return s
	}
	if strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") {
		d := json.NewDecoder(strings.NewReader(s))
		d.UseNumber()
		var v any
		if d.Decode(&v) == nil && !d.More() {
			if b, err := json.Marshal(k.Value(v)); err == nil && !k.In(string(b)) {
				return string(b)
			}
		}
	}
	return Hidden
}

// Value returns a copy of the value with secrets hidden.
func (k *Secrets) Value(v any) any {
	switch v := v.(type) {
	case string:
		return k.Text(v)
	case json.Number, int64, float64, int:
		if k.is(v) {
			return Hidden
		}
		return v
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = k.Value(v[i])
		}
		return out
	case map[string]any:
		for name := range v { // order: one is enough
			if k.In(name) {
				return Hidden
			}
		}
		return k.each(v)
	default:
		return v
	}
}

// each returns a copy of a map with secrets hidden in its values.
func (k *Secrets) each(m map[string]any) map[string]any {
	if m == nil {
		return nil
	}
	out := make(map[string]any, len(m))
	for name, v := range m { // order: each by itself
		out[name] = k.Value(v)
	}
	return out
}

// State hides secrets in a state, which must be a copy. Names of flows and slots stay.
func (k *Secrets) State(s *State) {
	if k.None() {
		return
	}
	for i := range s.Messages {
		s.Messages[i].Content = k.Text(s.Messages[i].Content)
	}
	for i := range s.Trace {
		d := &s.Trace[i].Data
		d.Value, d.Detail = k.Value(d.Value), k.Text(d.Detail)
	}
	s.LastResponse, s.Pending = k.Text(s.LastResponse), k.Text(s.Pending)
	s.Slots, s.Checked, s.GrantedFor, s.Metadata = k.each(s.Slots), k.each(s.Checked), k.each(s.GrantedFor), k.each(s.Metadata)
	s.ProposedSlots, s.Either, s.About, s.Week = k.each(s.ProposedSlots), k.each(s.Either), k.each(s.About), k.Text(s.Week)
	for i := range s.Later {
		s.Later[i].Slots = k.each(s.Later[i].Slots)
	}
	for i := range s.Stack {
		f := &s.Stack[i]
		f.Saved, f.For = k.each(f.Saved), k.each(f.For)
	}
	if c := s.Cache; c != nil {
		c.Text = k.Text(c.Text)
		for i := range c.Commands {
			c.Commands[i].Value, c.Commands[i].Text = k.Value(c.Commands[i].Value), k.Text(c.Commands[i].Text)
		}
	}
	if g := s.Suggested; g != nil {
		g.Value = k.Value(g.Value)
	}
	if c := s.Confirmation; c != nil {
		c.Tail, c.Unheard = k.Text(c.Tail), k.Text(c.Unheard)
	}
	if p := s.Action; p != nil {
		p.Inputs = k.each(p.Inputs)
	}
}

// Output returns a copy of an output with secrets hidden.
func (k *Secrets) Output(o Output) Output {
	o.Say = slices.Clone(o.Say)
	for i := range o.Say {
		o.Say[i].Text = k.Text(o.Say[i].Text)
	}
	if q := o.Confirm; q != nil {
		o.Confirm = &Question{k.Text(q.Text), k.Text(q.Tail)}
	}
	if a := clonePointer(o.Act); a != nil {
		a.Inputs = k.each(a.Inputs)
		o.Act = a
	}
	if u := clonePointer(o.Understand); u != nil {
		u.Text, u.Slots = k.Text(u.Text), k.each(u.Slots)
		o.Understand = u
	}
	return o
}

// plainText returns the letters and digits of a text in lower case.
func plainText(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

// Forget clears the secret slots of a masked state, so that the agent asks for them again.
func (a *Agent) Forget(st *State) {
	st.Slots, st.Checked, st.GrantedFor = a.without(st.Slots), a.without(st.Checked), a.without(st.GrantedFor)
	st.ProposedSlots, st.Either, st.Later = a.without(st.ProposedSlots), a.without(st.Either), slices.Clone(st.Later)
	for i := range st.Later {
		st.Later[i].Slots = a.without(st.Later[i].Slots)
	}
	st.Stack = slices.Clone(st.Stack)
	for i := range st.Stack {
		st.Stack[i].Saved, st.Stack[i].For = a.without(st.Stack[i].Saved), a.without(st.Stack[i].For)
	}
	if g := st.Suggested; g != nil && g.Value == Hidden {
		st.Suggested = nil
	}
}

func (a *Agent) without(m map[string]any) map[string]any {
	m = cloneValues(m)
	for _, s := range a.def.Secrets {
		delete(m, s.Name)
	}
	return m
}

// SlotsOf returns the slots that fill the given inputs of an action.
func (a *Agent) SlotsOf(action string, inputs []string) []string {
	act := a.def.ActionIndex[action]
	if act == nil || !act.Declared {
		return inputs
	}
	var out []string
	for _, in := range act.Inputs {
		if slices.Contains(inputs, in.Name) {
			out = append(out, in.From)
		}
	}
	return out
}
