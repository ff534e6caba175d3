package dialog

import "slices"

// This file decides what is left to a model that answers in addition to the flows.

// askModel gives the turn to the model.
func (t *turn) askModel() {
	t.out.Ask = true
	t.trace("asked_model", TraceData{})
	t.back()
}

// forModel reports whether commands concern what a model has said. While no flow is active,
// a yes, a no or a "cancel it" cannot concern the engine. An agent without flows has
// nothing to explain, list or restart either.
func (t *flows) forModel(cmds []Command) bool {
	if !t.a.def.Settings.Model.Answers || t.flow != nil || t.before == Error {
		return false
	}
	return !slices.ContainsFunc(cmds, func(c Command) bool {
		switch c.Type {
		case Confirm, Deny, Cancel:
			return false
		case Clarify, ListOptions, Help, Skip, Chitchat, Restart:
			return len(t.a.def.Flows) > 0
		default:
			return true
		}
	})
}
