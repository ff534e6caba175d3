package dialog

// This file: values that nobody is to see. A secret slot's value is in
// [State.Slots] and in the inputs of the action that takes it, and nowhere else:
// not in the messages, the trace, the cache, nor in anything that is said or asked.

// hidden stands for a secret value where one would be shown.
const hidden = "•••"

// told notes that the user's message has the value of a slot in it, right or
// wrong.
func (t *turn) told(s *slot) {
	if s != nil && s.secret {
		t.secret = true
	}
}

// hide takes a message with a secret in it back from the history. How much of it
// is the secret nobody can be sure of: all of it goes.
func (t *turn) hide() {
	st := t.st
	if s := t.a.slotIndex[t.awaited]; s != nil && s.secret && t.secretWords() {
		t.secret = true
	}
	if !t.secret {
		return
	}
	for i := len(st.Messages) - 1; i >= 0; i-- {
		if st.Messages[i].Role == "user" {
			st.Messages[i].Content = hidden
			break
		}
	}
	st.Cache = nil
}

// secretWords reports whether a message that answers the question for a secret may
// have it in it: anything but a command that may be given at any time.
func (t *turn) secretWords() bool {
	return len(t.rd.toks) > 0 && t.a.command(t.rd.toks) == ""
}

// updated says that a slot has a new value.
func (t *turn) updated(s *slot) {
	if s.secret {
		t.phrase("updated_secret", "label", s.label)
		return
	}
	t.phrase("updated", "label", s.label, "value", t.voice().speak(t.st.Slots[s.name], s, ""))
	t.readBack = true
}

// secretInputs are the names of the inputs that carry secrets.
func (a *Agent) secretInputs(action string, inputs map[string]any) []string {
	act := a.actionIndex[action]
	if act == nil {
		return nil
	}
	var out []string
	for _, in := range act.Inputs {
		if s := a.slotIndex[in.From]; s != nil && s.secret {
			out = append(out, in.Name)
		}
	}
	if !act.Declared {
		for _, name := range sortedKeys(inputs) {
			if s := a.slotIndex[name]; s != nil && s.secret {
				out = append(out, name)
			}
		}
	}
	return out
}

// Masked is a copy of a state to show, with the secrets hidden. It is no state to
// go on from.
func (a *Agent) Masked(st State) State {
	out := st.Clone()
	a.maskSlots(out.Slots)
	a.maskSlots(out.GrantedFor)
	for i := range out.Stack {
		a.maskSlots(out.Stack[i].Saved)
		a.maskSlots(out.Stack[i].For)
	}
	if out.Action != nil {
		for _, name := range a.secretInputs(out.Action.Name, out.Action.Inputs) {
			if _, there := out.Action.Inputs[name]; there {
				out.Action.Inputs[name] = hidden
			}
		}
	}
	if sg := out.Suggested; sg != nil && a.slotIndex[sg.Slot] != nil && a.slotIndex[sg.Slot].secret {
		sg.Value = hidden
	}
	return out
}

// maskSlots hides the secrets among slots, and returns them.
func (a *Agent) maskSlots(m map[string]any) map[string]any {
	for k, v := range m {
		if s := a.slotIndex[k]; s != nil && s.secret && v != nil {
			m[k] = hidden
		}
	}
	return m
}

// checkSecrets reports messages that would give a secret away, and set steps that
// would put one where it is none.
func (c *compiler) checkSecrets() {
	for _, r := range c.refs {
		if s := c.a.slotIndex[r.name]; s != nil && s.secret && r.shows {
			c.fail(r.at, "%s: the slot %q is secret and is not said", r.what, r.name)
		}
	}
}
