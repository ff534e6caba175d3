package dialog

import (
	"maps"
	"slices"

	"github.com/hocketvoice/hocket/dialog/agent"
	"github.com/hocketvoice/hocket/dialog/value"
)

// This file hides secrets. The value of a secret slot is in [State.Slots] and in the inputs
// of the action that takes it, and nowhere else: not in the messages, the trace or the cache,
// and not in anything that is said or sent to a model.

// Hidden replaces a secret value in what is shown.
const Hidden = value.Hidden

// hide replaces a message that contains a secret in the history. It replaces all of it,
// because how much of it is secret is unknown.
func (t *hearing) hide() {
	st := t.st
	t.a.forgetSecrets(st)
	if s := t.a.def.SlotIndex[t.awaited]; s != nil && s.Secret && t.secretWords() {
		t.secret = true
	}
	if !t.secret && !t.repeatsSecret() {
		return
	}
	st.Cache = nil
	for i := len(st.Trace) - 1; i >= 0 && st.Trace[i].Timestamp == t.ts; i-- {
		t.hideIn(&st.Trace[i].Data) // before the secret was known to be one
	}
	last := true
	for i := len(st.Messages) - 1; i >= 0; i-- {
		m := &st.Messages[i]
		if m.Role == "user" && (last || t.a.holdsSecret(st, m.Content)) { // earlier messages may contain it too
			m.Content = value.Hidden
		}
		last = last && m.Role != "user"
	}
}

// forgetSecrets removes from the state which secrets were checked that it does not have any
// more, and the cache if it contains a secret.
func (a *Agent) forgetSecrets(st *State) {
	for name := range st.Checked { // order: each by itself
		if s := a.def.SlotIndex[name]; s != nil && s.Secret && st.Slots[name] == nil {
			delete(st.Checked, name)
		}
	}
	if st.Cache == nil || len(a.def.Secrets) == 0 {
		return
	}
	if slices.ContainsFunc(st.Cache.Commands, func(c Command) bool {
		text, ok := c.Value.(string)
		return ok && a.holdsSecret(st, text)
	}) {
		st.Cache = nil
	}
}

// holdsSecret reports whether a text contains the value of a secret.
func (a *Agent) holdsSecret(st *State, text string) bool {
	for _, s := range a.def.Secrets {
		if value, _ := st.Slots[s.Name].(string); len(value) > 2 && holds(text, value) {
			return true
		}
	}
	return false
}

// repeatsSecret reports whether the message contains a secret that was not asked for: a
// known one, or a possible one behind its name.
func (t *hearing) repeatsSecret() bool {
	for _, s := range t.a.def.Secrets {
		named := s.Mentions.Within(t.rd.Toks)
		for i := range t.rd.Toks {
			v, n := t.rd.Find(&s.Spec, t.rd.Toks, i, false)
			if n > 0 && (named || value.Equal(v, t.st.Slots[s.Name])) {
				return true
			}
		}
	}
	return t.a.holdsSecret(t.st, t.rd.Raw)
}

// secretWords reports whether the answer to the question for a secret may contain it.
// Only a command that may be given at any time does not.
func (t *hearing) secretWords() bool {
	return len(t.rd.Toks) > 0 && t.a.words.Command(t.rd.Toks) == ""
}

// updated runs the built-in flow that tells the user about a corrected slot.
func (t *turn) updated(s *agent.Slot) {
	about := builtinContext{"slot": s.Name, "label": s.Label, "secret": s.Secret}
	if !s.Secret {
		about["value"] = t.voice().Speak(t.st.Slots[s.Name], &s.Spec, "")
		t.readBack = true
	}
	t.deferring = true
	t.builtin(agent.PatternCorrection, about)
	t.deferring = false
}

// secretInputs returns the names of the inputs that contain secrets.
func (a *Agent) secretInputs(action string, inputs map[string]any) []string {
	act := a.def.ActionIndex[action]
	if act == nil {
		return nil
	}
	var out []string
	for _, in := range act.Inputs {
		if s := a.def.SlotIndex[in.From]; s != nil && s.Secret {
			out = append(out, in.Name)
		}
	}
	if !act.Declared {
		for _, name := range slices.Sorted(maps.Keys(inputs)) {
			if s := a.def.SlotIndex[name]; s != nil && s.Secret {
				out = append(out, name)
			}
		}
	}
	return out
}

// Masked returns a copy of a state with the secrets hidden, for display. A conversation can
// continue from it only after [Agent.Forget] has cleared the hidden values.
func (a *Agent) Masked(st State) State {
	out := st.Clone()
	a.maskSlots(out.Slots)
	a.maskSlots(out.GrantedFor)
	a.maskSlots(out.Checked)
	a.maskSlots(out.ProposedSlots)
	a.maskSlots(out.Either)
	for i := range out.Later {
		a.maskSlots(out.Later[i].Slots)
	}
	for i := range out.Stack {
		a.maskSlots(out.Stack[i].Saved)
		a.maskSlots(out.Stack[i].For)
	}
	if out.Action != nil {
		for _, name := range a.secretInputs(out.Action.Name, out.Action.Inputs) {
			if _, there := out.Action.Inputs[name]; there {
				out.Action.Inputs[name] = value.Hidden
			}
		}
	}
	if sg := out.Suggested; sg != nil && a.def.SlotIndex[sg.Slot] != nil && a.def.SlotIndex[sg.Slot].Secret {
		sg.Value = value.Hidden
	}
	return out
}

// maskSlots hides the secrets in a map of slots, in place, and returns the map.
func (a *Agent) maskSlots(m map[string]any) map[string]any {
	for k, v := range m {
		if s := a.def.SlotIndex[k]; s != nil && s.Secret && v != nil {
			m[k] = value.Hidden
		}
	}
	return m
}
